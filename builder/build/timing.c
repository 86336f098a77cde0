#include "builder/build/timing.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "backend/plan/figures.h"
#include "base/buf.h"
#include "base/bug.h"
#include "base/json.h"
#include "base/os.h"
#include "base/vec.h"

struct timing {
	pthread_mutex_t lock; /* guards everything below */
	int64_t wall[PHASE_COUNT], cpu[PHASE_COUNT];
	bool has_events, watches_passes;
	struct plan_figures passes;
	VEC(struct timing_event) events; /* own their names */
};

static const char *const texts[] = {
#define PHASE(id, text) text,
#include "builder/build/phases.def"
#undef PHASE
};

struct timing *timing_new(bool events)
{
	struct timing *t = alloc_zeroed(sizeof *t);
	pthread_mutex_init(&t->lock, NULL);
	t->has_events = events;
	return t;
}

void timing_free(struct timing *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < t->events.len; i++)
		free((char *)(uintptr_t)t->events.at[i].name);
	vec_free(&t->events);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

struct tick timing_tick(void) { return (struct tick){os_now_ns(), os_thread_cpu_ns()}; }

static void add_event(struct timing *t, enum phase p, uint32_t lane, const char *name, struct tick since, struct tick now)
{
	struct timing_event e = {strdup(name), p, lane, since.wall, now.wall - since.wall, now.cpu - since.cpu};
	vec_push(&t->events, e);
}

void timing_event(struct timing *t, enum phase p, uint32_t lane, const char *name, struct tick since)
{
	pthread_mutex_lock(&t->lock);
	if (t->has_events)
		add_event(t, p, lane, name, since, timing_tick());
	pthread_mutex_unlock(&t->lock);
}

int64_t timing_add(struct timing *t, enum phase p, uint32_t lane, const char *name, struct tick since)
{
	struct tick now = timing_tick();
	int64_t wall = now.wall - since.wall;
	pthread_mutex_lock(&t->lock);
	t->wall[p] += wall;
	t->cpu[p] += now.cpu - since.cpu;
	if (t->has_events)
		add_event(t, p, lane, name, since, now);
	pthread_mutex_unlock(&t->lock);
	return wall;
}

void timing_add_ns(struct timing *t, enum phase p, int64_t wall, int64_t cpu)
{
	pthread_mutex_lock(&t->lock);
	t->wall[p] += wall;
	t->cpu[p] += cpu;
	pthread_mutex_unlock(&t->lock);
}

void timing_watch_passes(struct timing *t) { t->watches_passes = true; }
bool timing_watches_passes(const struct timing *t) { return t->watches_passes; }

static void add_figures(struct pass_figures *to, const struct pass_figures *f, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		to[i].runs += f[i].runs;
		to[i].changes += f[i].changes;
		to[i].wall_ns += f[i].wall_ns;
		to[i].cpu_ns += f[i].cpu_ns;
		to[i].bytes += f[i].bytes;
	}
}

void timing_add_passes(struct timing *t, const struct plan_figures *f)
{
	pthread_mutex_lock(&t->lock);
	add_figures(t->passes.ir, f->ir, PASS_COUNT);
	add_figures(t->passes.loops, f->loops, LOOP_PASS_COUNT);
	pthread_mutex_unlock(&t->lock);
}

void timing_each_pass(const struct timing *t, timing_pass_fn *fn, void *ctx)
{
	for (uint32_t i = 0; i < PASS_COUNT; i++)
		if (t->passes.ir[i].runs)
			fn(ctx, pass_name((enum pass_number)i), &t->passes.ir[i]);
	for (uint32_t i = 0; i < LOOP_PASS_COUNT; i++)
		if (t->passes.loops[i].runs)
			fn(ctx, loop_pass_name((enum loop_pass_number)i), &t->passes.loops[i]);
}

int64_t timing_wall(const struct timing *t, enum phase p) { return t->wall[p]; }
int64_t timing_cpu(const struct timing *t, enum phase p) { return t->cpu[p]; }

void timing_each_event(const struct timing *t, timing_event_fn *fn, void *ctx)
{
	for (uint32_t i = 0; i < t->events.len; i++)
		fn(ctx, &t->events.at[i]);
}

const char *phase_text(enum phase p) { return texts[p]; }

static void print_pass(void *out, const char *name, const struct pass_figures *f)
{
	fprintf(out, "  %-10s %10.2f %10llu changes %10.1f KiB\n", name, (double)f->wall_ns / 1e6, (unsigned long long)f->changes,
		(double)f->bytes / 1024);
}

void timing_print(const struct timing *t, FILE *out, int64_t total_wall)
{
	fprintf(out, "%-12s %10s %10s\n", "phase", "wall ms", "CPU ms");
	for (uint32_t i = 0; i < PHASE_COUNT; i++) {
		fprintf(out, "%-12s %10.2f %10.2f\n", texts[i], (double)t->wall[i] / 1e6, (double)t->cpu[i] / 1e6);
		if (i == PHASE_OPT)
			timing_each_pass(t, print_pass, out);
	}
	fprintf(out, "%-12s %10.2f %10.2f   (phases add up the workers)\n", "whole build", (double)total_wall / 1e6,
		(double)os_cpu_ns() / 1e6);
	fprintf(out, "%-12s %10.1f MiB\n", "peak memory", (double)os_peak_rss_kb() / 1024);
}

static void lane_name(struct json_writer *w, uint32_t lane)
{
	char name[32];
	snprintf(name, sizeof name, lane ? "worker %u" : "main", lane);
	json_open(w, '{');
	json_member_str(w, "name", "thread_name");
	json_member_str(w, "ph", "M");
	json_member_int(w, "pid", 1);
	json_member_int(w, "tid", lane);
	json_member_open(w, "args", '{');
	json_member_str(w, "name", name);
	json_close(w, '}');
	json_close(w, '}');
}

bool timing_write(const struct timing *t, const char *path)
{
	struct buf b = {0};
	struct json_writer w = {.out = &b};
	uint32_t lanes = 0;
	json_open(&w, '{');
	json_member_open(&w, "traceEvents", '[');
	for (uint32_t i = 0; i < t->events.len; i++) {
		const struct timing_event *e = &t->events.at[i];
		lanes = e->lane >= lanes ? e->lane + 1 : lanes;
		json_open(&w, '{');
		json_member_str(&w, "name", e->name);
		json_member_str(&w, "cat", texts[e->phase]);
		json_member_str(&w, "ph", "X");
		json_member_int(&w, "pid", 1);
		json_member_int(&w, "tid", e->lane);
		json_member_num(&w, "ts", (double)e->start / 1e3);
		json_member_num(&w, "dur", (double)e->length / 1e3);
		json_close(&w, '}');
	}
	for (uint32_t i = 0; i < lanes; i++)
		lane_name(&w, i);
	json_close(&w, ']');
	json_close(&w, '}');
	buf_putc(&b, '\n');
	bool ok = os_write_atomic(path, b.at, b.len, 0666, false);
	buf_free(&b);
	return ok;
}
