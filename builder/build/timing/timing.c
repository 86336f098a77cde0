#include "builder/build/timing/timing.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "backend/plan/figures.h"
#include "base/bug.h"
#include "base/os.h"
#include "base/measure.h"
#include "builder/build/timing/chain.h"
#include "scheduler/pool.h"

#define MEMORY_EVERY_NS 1000000
#define DIRTY_EVERY 50 /* times as long as measuring private dirty memory takes: the kernel visits each page */

struct timing {
	pthread_mutex_t lock; /* guards everything below */
	VEC(struct measure_log *) lanes;
	VEC(struct timing_memory) memory;
	int64_t next_dirty_ns;  /* before, private dirty memory is not measured */
	uint64_t private_dirty; /* the most so far */
	int64_t waited, chains;
	VEC(struct chain_task) critical;
	struct pool_idle idle;
	bool watches_passes;
	struct plan_figures passes;
};

static const char *const texts[] = {
#define PHASE(id, text) text,
#include "builder/build/timing/phases.def"
#undef PHASE
};

struct timing *timing_new(void)
{
	struct timing *t = alloc_zeroed(sizeof *t);
	pthread_mutex_init(&t->lock, NULL);
	return t;
}

void timing_free(struct timing *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < t->lanes.len; i++) {
		if (measure_log_of_thread && measure_log_of_thread == t->lanes.at[i])
			measure_attach(NULL);
		measure_log_free(t->lanes.at[i]);
	}
	vec_free(&t->lanes);
	vec_free(&t->memory);
	vec_free(&t->critical);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

struct measure_log *timing_enter(struct timing *t, uint32_t lane)
{
	if (!t)
		return NULL;
	pthread_mutex_lock(&t->lock);
	while (t->lanes.len <= lane)
		vec_push(&t->lanes, NULL);
	if (!t->lanes.at[lane])
		t->lanes.at[lane] = measure_log_new();
	struct measure_log *log = t->lanes.at[lane];
	pthread_mutex_unlock(&t->lock);
	return measure_attach(log);
}

void timing_leave(struct timing *t, struct measure_log *before)
{
	if (t)
		measure_attach(before);
}

void phase_begin(enum phase p, const char *subject) { measure_begin_of(texts[p], subject); }
const char *phase_text(enum phase p) { return texts[p]; }

int64_t timing_wall(const struct timing *t, enum phase p)
{
	int64_t sum = 0;
	for (uint32_t i = 0; t && i < t->lanes.len; i++)
		for (uint32_t k = 0; t->lanes.at[i] && k < t->lanes.at[i]->nodes.len; k++) {
			const struct measure_node *n = &t->lanes.at[i]->nodes.at[k];
			if (n->parent == MEASURE_NONE && strcmp(n->name, texts[p]) == 0)
				sum += n->cost.wall_ns;
		}
	return sum;
}

uint32_t timing_lanes(const struct timing *t) { return t->lanes.len; }
const struct measure_log *timing_lane(const struct timing *t, uint32_t lane) { return t->lanes.at[lane]; }

void timing_add_wait(struct timing *t, int64_t ns)
{
	if (t)
		t->waited += ns;
}
int64_t timing_waited(const struct timing *t) { return t->waited; }

void timing_add_idle(struct timing *t, struct pool *pool, const struct pool_idle *before)
{
	struct pool_idle now = pool_idle(pool);
	for (int r = 0; t && r < IDLE_REASONS; r++)
		t->idle.ns[r] += now.ns[r] - before->ns[r];
}
const struct pool_idle *timing_idle(const struct timing *t) { return &t->idle; }

void timing_add_chain(struct timing *t, const struct chain *chain, int64_t ns)
{
	t->chains += ns;
	for (uint32_t i = 0; i < chain->tasks.len; i++)
		if (chain->tasks.at[i].is_critical)
			vec_push(&t->critical, chain->tasks.at[i]);
}

bool timing_is_critical(const struct timing *t, uint32_t lane, int64_t at_ns)
{
	for (uint32_t i = 0; i < t->critical.len; i++) {
		const struct chain_task *c = &t->critical.at[i];
		if (c->lane == lane && at_ns >= c->began_ns && at_ns < c->began_ns + c->ns)
			return true;
	}
	return false;
}
int64_t timing_chains(const struct timing *t) { return t->chains; }

/* 0: the last one was too short a time ago. */
static uint64_t measure_private_dirty(struct timing *t, int64_t now)
{
	if (now < t->next_dirty_ns)
		return 0;
	uint64_t bytes = os_private_dirty_bytes(0);
	int64_t end = os_now_ns();
	t->next_dirty_ns = end + DIRTY_EVERY * (end - now);
	t->private_dirty = bytes > t->private_dirty ? bytes : t->private_dirty;
	return bytes;
}

void timing_note_memory(struct timing *t)
{
	if (!t)
		return;
	pthread_mutex_lock(&t->lock);
	int64_t now = os_now_ns();
	if (!t->memory.len || now - t->memory.at[t->memory.len - 1].at_ns >= MEMORY_EVERY_NS) {
		struct timing_memory m = {now, os_rss_bytes(), 0};
		m.private_dirty = measure_private_dirty(t, now);
		vec_push(&t->memory, m);
	}
	pthread_mutex_unlock(&t->lock);
}

uint64_t timing_private_dirty(const struct timing *t) { return t->private_dirty; }

uint32_t timing_memory(const struct timing *t, const struct timing_memory **list)
{
	*list = t->memory.at;
	return t->memory.len;
}

void timing_watch_passes(struct timing *t)
{
	if (t)
		t->watches_passes = true;
}
bool timing_watches_passes(const struct timing *t) { return t && t->watches_passes; }

void timing_add_passes(struct timing *t, const struct plan_figures *figures)
{
	if (!t)
		return;
	pthread_mutex_lock(&t->lock);
	for (uint32_t i = 0; i < LISTED_PASSES; i++) {
		t->passes.of[i].runs += figures->of[i].runs;
		t->passes.of[i].changes += figures->of[i].changes;
		t->passes.of[i].wall_ns += figures->of[i].wall_ns;
		t->passes.of[i].bytes += figures->of[i].bytes;
	}
	pthread_mutex_unlock(&t->lock);
}

void timing_each_pass(const struct timing *t, timing_pass_fn *fn, void *ctx)
{
	for (uint32_t i = 0; i < LISTED_PASSES; i++)
		if (t->passes.of[i].runs)
			fn(ctx, listed_pass_name(i), &t->passes.of[i]);
}
