#include "builder/build/timing/progress.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/bug.h"
#include "base/json.h"
#include "base/os.h"
#include "base/print.h"
#include "base/utf8.h"

#define REDRAW_NS 50000000
#define SECOND_NS 1000000000
enum { MOST_SHOWN = 16 };

struct lane {
	const char *kind, *name; /* name NULL: idle */
	int64_t since, expected_ns;
};
struct progress {
	FILE *out;
	enum progress_mode mode;
	uint32_t workers, total;
	bool drawn;
	int64_t last;
	pthread_mutex_t lock; /* guards what follows */
	uint32_t done;
	int64_t waiting_ns;               /* expected time of tasks that have not started */
	int64_t took_ns, was_expected_ns; /* of finished tasks */
	struct lane lanes[];
};

struct progress *progress_new(FILE *out, enum progress_mode mode, uint32_t workers)
{
	struct progress *p = alloc_zeroed(sizeof *p + workers * sizeof *p->lanes);
	p->out = out;
	p->mode = mode;
	p->workers = workers;
	pthread_mutex_init(&p->lock, NULL);
	return p;
}

void progress_free(struct progress *p)
{
	if (!p)
		return;
	progress_clear(p);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

void progress_total(struct progress *p, uint32_t total, int64_t expected_ns)
{
	p->total = total;
	p->waiting_ns = expected_ns;
}

static void progress_put_line(struct progress *p, struct buf *line)
{
	buf_putc(line, '\n');
	print_text(p->out, line);
	fflush(p->out); /* the reader of a pipe sees the line at once */
	buf_free(line);
}

/* With the lock held. `ok`: how the task ended; NULL: it starts. */
static void print_event(struct progress *p, uint32_t worker, const char *type, const bool *ok)
{
	const struct lane *l = &p->lanes[worker];
	struct buf line = {0};
	struct json_writer w = {.out = &line};
	json_open(&w, '{');
	json_member_str(&w, "type", type);
	json_member_str(&w, "kind", l->kind);
	json_member_str(&w, "name", l->name);
	json_member_int(&w, "worker", worker);
	if (ok) {
		json_member_bool(&w, "ok", *ok);
		json_member_num(&w, "wall_ms", (double)(os_now_ns() - l->since) / 1e6);
	}
	json_member_int(&w, "done", p->done);
	json_member_int(&w, "total", p->total);
	json_close(&w, '}');
	progress_put_line(p, &line);
}

void progress_phase(struct progress *p, const char *phase)
{
	struct buf line = {0};
	struct json_writer w = {.out = &line};
	if (!p || p->mode != PROGRESS_JSON)
		return;
	json_open(&w, '{');
	json_member_str(&w, "type", "phase-started");
	json_member_str(&w, "name", phase);
	json_close(&w, '}');
	progress_put_line(p, &line);
}

void progress_start(struct progress *p, uint32_t worker, const char *kind, const char *name, int64_t expected_ns)
{
	pthread_mutex_lock(&p->lock);
	p->lanes[worker] = (struct lane){kind, name, os_now_ns(), expected_ns};
	p->waiting_ns -= expected_ns;
	if (p->mode == PROGRESS_JSON)
		print_event(p, worker, "task-started", NULL);
	pthread_mutex_unlock(&p->lock);
}

void progress_done(struct progress *p, uint32_t worker, bool ok)
{
	pthread_mutex_lock(&p->lock);
	struct lane *l = &p->lanes[worker];
	p->done++;
	p->took_ns += os_now_ns() - l->since;
	if (p->mode == PROGRESS_JSON)
		print_event(p, worker, "task-ended", &ok);
	p->was_expected_ns += l->expected_ns;
	if (p->mode == PROGRESS_LINES && l->name)
		print(p->out, "[%u/%u] %s\n", p->done, p->total, l->name), fflush(p->out); /* the reader of a pipe sees the line at once */
	l->name = NULL;
	pthread_mutex_unlock(&p->lock);
}

/* Scales the times of earlier builds by what this build took for the tasks that are finished. */
static int64_t time_left(const struct progress *p, const struct progress_task *running, uint32_t n)
{
	int64_t left = p->waiting_ns > 0 ? p->waiting_ns : 0, longest = 0;
	double slower = p->was_expected_ns > 0 ? (double)p->took_ns / (double)p->was_expected_ns : 1;
	slower = slower < 0.2 ? 0.2 : slower > 5 ? 5 : slower;
	for (uint32_t i = 0; i < n; i++) {
		int64_t rest = running[i].expected_ns - (int64_t)((double)running[i].ran_ns / slower);
		rest = rest > 0 ? rest : 0;
		left += rest;
		longest = rest > longest ? rest : longest;
	}
	left /= p->workers;
	return (int64_t)((double)(left > longest ? left : longest) * slower);
}

/* ---- the line ---- */

static uint32_t progress_columns_of(const char *s, size_t n)
{
	uint32_t columns = 0, cp;
	for (size_t i = 0; i < n;) {
		i += utf8_decode(s + i, n - i, &cp);
		columns += utf8_width(cp);
	}
	return columns;
}

/* Appends the text, cut to `room` columns. Returns the columns used. */
static uint32_t put_cut(struct buf *out, const char *s, uint32_t room)
{
	size_t n = strlen(s), at = 0;
	uint32_t used = 0, cp;
	bool whole = progress_columns_of(s, n) <= room;
	while (at < n) {
		size_t step = utf8_decode(s + at, n - at, &cp);
		uint32_t width = cp < ' ' ? 0 : utf8_width(cp);
		if (used + width + !whole > room)
			break;
		if (cp >= ' ')
			buf_put(out, s + at, step);
		used += width;
		at += step;
	}
	if (!whole && used < room)
		buf_puts(out, "…"), used++;
	return used;
}

static void put_time_left(struct buf *out, int64_t ns)
{
	int64_t s = (ns + SECOND_NS / 2) / SECOND_NS;
	if (s < 1)
		buf_puts(out, " <1 s left");
	else if (s < 100)
		buf_printf(out, " %d s left", (int)s);
	else
		buf_printf(out, " %d min left", (int)((s + 30) / 60));
}

void progress_line(struct buf *out, uint32_t done, uint32_t total, int64_t left_ns, const struct progress_task *running, uint32_t n,
		   uint32_t columns)
{
	enum { NAME_LEAST = 8 };
	buf_printf(out, "[%u/%u]", done, total);
	put_time_left(out, left_ns);
	uint32_t used = progress_columns_of(out->at, out->len);
	for (uint32_t i = 0; i < n; i++) {
		char took[32];
		uint32_t took_columns = (uint32_t)snprintf(took, sizeof took, " %.1f s", (double)running[i].ran_ns / SECOND_NS);
		if (used + 2 + NAME_LEAST + took_columns > columns)
			break;
		buf_puts(out, i ? ", " : ": ");
		used += 2;
		used += put_cut(out, running[i].name, columns - used - took_columns) + took_columns;
		buf_puts(out, took);
	}
}

/* The longest-running first. */
static uint32_t list_running(const struct progress *p, int64_t now, struct progress_task *out)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < p->workers; i++) {
		const struct lane *l = &p->lanes[i];
		struct progress_task u = {l->name, now - l->since, l->expected_ns};
		uint32_t at = n;
		if (!l->name)
			continue;
		while (at > 0 && out[at - 1].ran_ns < u.ran_ns)
			at--;
		if (at == MOST_SHOWN)
			continue;
		n += n < MOST_SHOWN;
		memmove(out + at + 1, out + at, (n - 1 - at) * sizeof *out);
		out[at] = u;
	}
	return n;
}

void progress_draw(struct progress *p)
{
	struct progress_task running[MOST_SHOWN];
	struct buf line = {0};
	int64_t now = os_now_ns();
	if (p->mode != PROGRESS_TERMINAL || now - p->last < REDRAW_NS)
		return;
	p->last = now;
	pthread_mutex_lock(&p->lock);
	uint32_t n = list_running(p, now, running);
	progress_line(&line, p->done, p->total, time_left(p, running, n), running, n, os_tty_columns(fileno(p->out)) - 1);
	pthread_mutex_unlock(&p->lock);
	print(p->out, "\r%s\033[K", line.at);
	fflush(p->out);
	buf_free(&line);
	p->drawn = true;
}

void progress_clear(struct progress *p)
{
	if (p->drawn) {
		print(p->out, "\r\033[K");
		fflush(p->out);
	}
	p->drawn = false;
}
