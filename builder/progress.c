#include "builder/progress.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/bug.h"
#include "base/os.h"

#define REDRAW_NS 50000000

struct lane {
	const char *name; /* NULL: idle */
	int64_t since;
};
struct progress {
	FILE *out;
	enum progress_mode mode;
	uint32_t workers, total;
	bool drawn;
	int64_t last;
	pthread_mutex_t lock; /* guards what follows */
	uint32_t done;
	struct lane lanes[];
};

struct progress *progress_new(FILE *out, enum progress_mode mode, uint32_t workers)
{
	struct progress *p = calloc(1, sizeof *p + workers * sizeof *p->lanes);
	if (!p)
		bug_no_memory();
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

void progress_total(struct progress *p, uint32_t total) { p->total = total; }

void progress_start(struct progress *p, uint32_t worker, const char *name)
{
	pthread_mutex_lock(&p->lock);
	p->lanes[worker] = (struct lane){name, os_now_ns()};
	pthread_mutex_unlock(&p->lock);
}

void progress_done(struct progress *p, uint32_t worker)
{
	pthread_mutex_lock(&p->lock);
	struct lane *l = &p->lanes[worker];
	p->done++;
	if (p->mode == PROGRESS_LINES && l->name)
		fprintf(p->out, "[%u/%u] %s\n", p->done, p->total, l->name), fflush(p->out); /* a pipe's reader sees it now */
	l->name = NULL;
	pthread_mutex_unlock(&p->lock);
}

/* Cuts to n bytes, not inside a UTF-8 sequence. */
static int cut(const char *s, int n)
{
	int len = (int)strlen(s);
	if (len <= n)
		return len;
	while (n > 0 && ((unsigned char)s[n] & 0xc0) == 0x80)
		n--;
	return n;
}

void progress_draw(struct progress *p)
{
	int64_t now = os_now_ns();
	if (p->mode != PROGRESS_TERMINAL || now - p->last < REDRAW_NS)
		return;
	p->last = now;
	pthread_mutex_lock(&p->lock);
	uint32_t running = 0;
	const struct lane *longest = NULL;
	for (uint32_t i = 0; i < p->workers; i++) {
		if (!p->lanes[i].name)
			continue;
		running++;
		if (!longest || p->lanes[i].since < longest->since)
			longest = &p->lanes[i];
	}
	fprintf(p->out, "\r\033[K[%u/%u/%u]", p->done, running, p->total);
	if (longest) {
		int room = (int)os_tty_columns(fileno(p->out)) - 32;
		fprintf(p->out, " %.*s %.1f s", cut(longest->name, room > 8 ? room : 8), longest->name, (double)(now - longest->since) / 1e9);
	}
	pthread_mutex_unlock(&p->lock);
	fflush(p->out);
	p->drawn = true;
}

void progress_clear(struct progress *p)
{
	if (p->drawn) {
		fputs("\r\033[K", p->out);
		fflush(p->out);
	}
	p->drawn = false;
}
