/* Makes the profile of a build from the spans of its threads: the one source of what --timing, --trace and --profile-out say. */
#include "builder/build/report/build_profile.h"
#include <stdlib.h>
#include <string.h>
#include "backend/plan/figures.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/measure.h"
#include "base/os.h"
#include "builder/build/model/model.h"
#include "builder/build/model/project.h"
#include "builder/build/session/build_id.h"
#include "builder/build/session/build_result.h"
#include "builder/build/session/context.h"
#include "builder/build/session/session.h"
#include "builder/build/timing/timing.h"
#include "builder/manifest/build_spec.h"
#include "builder/manifest/options.h"
#include "builder/profile/profile.h"
#include "scheduler/pool.h"

#define OTHER "other"

struct maker {
	const struct build_context *c;
	const struct project *project;
	const struct build_result *result;
	const struct timing *t;
	struct profile *p;
	struct measure_log *all; /* the spans of all lanes */
	uint32_t *items;         /* of the nodes of `all` */
	VEC(uint32_t *) nodes;   /* for each lane: its nodes in `all` */
	struct map known;        /* of units and tasks */
	double busy, main_busy, rest;
};

static double build_profile_ns_of(const struct measure_cost *cost) { return (double)cost->wall_ns; }

static void add_to(struct profile *p, uint32_t item, enum profile_metric m, double value)
{
	double before = p->items.at[item].values.of[m] ? p->items.at[item].values.of[m][0] : 0;
	profile_set(p, &p->items.at[item].values, m, 0, before + value);
}

static void build_profile_add_cost(struct profile *p, uint32_t item, const struct measure_cost *cost)
{
	const double *peak = p->items.at[item].values.of[METRIC_PEAK];
	add_to(p, item, METRIC_WALL, build_profile_ns_of(cost));
	add_to(p, item, METRIC_CPU, (double)cost->cpu_ns);
	add_to(p, item, METRIC_CALLS, (double)cost->calls);
	if (!peak || (double)cost->peak_bytes > peak[0])
		profile_set(p, &p->items.at[item].values, METRIC_PEAK, 0, (double)cost->peak_bytes);
	add_to(p, item, METRIC_NET, (double)cost->net_bytes);
	add_to(p, item, METRIC_ALLOCATIONS, (double)cost->allocations);
	add_to(p, item, METRIC_READ, (double)cost->read_bytes);
	add_to(p, item, METRIC_WRITTEN, (double)cost->written_bytes);
	add_to(p, item, METRIC_FILES_READ, (double)cost->files_read);
	add_to(p, item, METRIC_FILES_WRITTEN, (double)cost->files_written);
}

/* ---- the tree of phases, stages and passes ---- */

static bool is_phase(const char *name)
{
	for (uint32_t i = 0; i < PHASE_COUNT; i++)
		if (strcmp(name, phase_text((enum phase)i)) == 0)
			return true;
	return false;
}

/* Adds the nodes of a lane to those of all lanes. What is outside of the phases becomes a part of "other". */
static void merge_lane(struct maker *s, const struct measure_log *lane, bool is_main)
{
	uint32_t n = lane ? lane->nodes.len : 0, *at = ARENA_ARRAY(s->p->arena, uint32_t, n + 1);
	for (uint32_t i = 0; i < n; i++) {
		const struct measure_node *node = &lane->nodes.at[i];
		bool is_root = node->parent == MEASURE_NONE;
		uint32_t parent = !is_root               ? at[node->parent]
				  : is_phase(node->name) ? MEASURE_NONE
							 : measure_node(s->all, MEASURE_NONE, OTHER);
		at[i] = measure_node(s->all, parent, node->name);
		measure_add(&s->all->nodes.at[at[i]].cost, &node->cost);
		if (!is_root)
			continue;
		s->busy += build_profile_ns_of(&node->cost);
		s->main_busy += is_main ? build_profile_ns_of(&node->cost) : 0;
		if (parent != MEASURE_NONE)
			measure_add(&s->all->nodes.at[parent].cost, &node->cost);
	}
	vec_push(&s->nodes, at);
}

/* The rest of the main thread's time, when it neither measured anything nor waited. With one job it runs the tasks itself. */
static void add_rest(struct maker *s, int64_t wall_ns, uint32_t jobs)
{
	double rest = jobs == 1 ? (double)wall_ns - s->busy : (double)(wall_ns - timing_waited(s->t)) - s->main_busy;
	struct measure_cost c = {.wall_ns = rest > 0 ? (int64_t)rest : 0};
	uint32_t other = measure_node(s->all, MEASURE_NONE, OTHER); /* may move the nodes */
	measure_add(&s->all->nodes.at[other].cost, &c);
	s->rest = (double)c.wall_ns;
	s->busy += s->rest;
}

static void build_profile_add_node(struct maker *s, uint32_t i, uint32_t parent)
{
	const struct measure_node *n = &s->all->nodes.at[i];
	enum profile_item_kind kind = parent == PROFILE_NONE                      ? ITEM_PHASE
				      : listed_pass_find(n->name) < LISTED_PASSES ? ITEM_PASS
										  : ITEM_STAGE;
	int64_t rest = n->cost.wall_ns;
	if (!n->cost.calls && !n->cost.wall_ns)
		return; /* a phase that this build did not need */
	uint32_t item = s->items[i] = profile_add_item(s->p, kind, parent, n->name, NULL);
	build_profile_add_cost(s->p, item, &n->cost);
	for (uint32_t k = n->first_child; k != MEASURE_NONE; k = s->all->nodes.at[k].next) {
		build_profile_add_node(s, k, item);
		rest -= s->all->nodes.at[k].cost.wall_ns;
	}
	if (n->first_child != MEASURE_NONE && rest > 0 && kind == ITEM_PHASE)
		add_to(s->p, profile_add_item(s->p, ITEM_STAGE, item, OTHER, NULL), METRIC_WALL, (double)rest);
}

static void add_tree(struct maker *s, int64_t wall_ns, uint32_t jobs)
{
	for (uint32_t i = 0; i < PHASE_COUNT; i++)
		measure_node(s->all, MEASURE_NONE, phase_text((enum phase)i));
	for (uint32_t i = 0; i < timing_lanes(s->t); i++)
		merge_lane(s, timing_lane(s->t, i), i == 0);
	add_rest(s, wall_ns, jobs);
	s->items = ARENA_ARRAY(s->p->arena, uint32_t, s->all->nodes.len + 1);
	for (uint32_t i = s->all->first_root; i != MEASURE_NONE; i = s->all->nodes.at[i].next)
		build_profile_add_node(s, i, PROFILE_NONE);
}

static void note_changes(void *ctx, const char *name, const struct pass_figures *figures)
{
	struct maker *s = ctx;
	for (uint32_t i = 0; i < s->p->items.len; i++)
		if (s->p->items.at[i].kind == ITEM_PASS && strcmp(s->p->items.at[i].name, name) == 0)
			s->p->items.at[i].note = arena_printf(s->p->arena, "%llu changes", (unsigned long long)figures->changes);
}

/* ---- units and other tasks, and the timeline ---- */

static hash128 item_key(enum profile_item_kind kind, uint32_t parent, const char *name)
{
	return hash_combine(map_key_u64((uint64_t)parent << 8 | kind), map_key_str(name));
}

static uint32_t known_item(struct maker *s, enum profile_item_kind kind, uint32_t parent, const char *name)
{
	hash128 key = item_key(kind, parent, name);
	uint64_t at;
	if (!map_get(&s->known, key, &at)) {
		at = profile_add_item(s->p, kind, parent, name, NULL);
		map_put(&s->known, key, at);
	}
	return (uint32_t)at;
}

/* The item of a span. A unit has an item for each phase of it. */
static uint32_t build_profile_item_of(struct maker *s, const struct measure_event *event, uint32_t node)
{
	const char *phase = s->all->nodes.at[node].name;
	if (!event->subject)
		return s->items[node];
	if (strcmp(phase, phase_text(PHASE_OPT)) != 0 && strcmp(phase, phase_text(PHASE_CODEGEN)) != 0) {
		uint32_t task = known_item(s, ITEM_TASK, PROFILE_NONE, arena_printf(s->p->arena, "%s %s", phase, event->subject));
		build_profile_add_cost(s->p, task, &event->cost);
		return task;
	}
	uint32_t unit = known_item(s, ITEM_UNIT, PROFILE_NONE, event->subject), part = known_item(s, ITEM_TASK, unit, phase);
	build_profile_add_cost(s->p, unit, &event->cost);
	build_profile_add_cost(s->p, part, &event->cost);
	return part;
}

static void add_event(struct maker *s, uint32_t lane, const struct measure_event *event)
{
	struct profile_span when = {.item = build_profile_item_of(s, event, s->nodes.at[lane][event->node]),
				    .lane = lane,
				    .start_ns = event->start_ns - s->result->started,
				    .ns = event->ns,
				    .is_critical = lane == 0 || timing_is_critical(s->t, lane, event->start_ns)};
	if (when.start_ns >= 0)
		vec_push(&s->p->spans, when);
}

static void add_timeline(struct maker *s)
{
	for (uint32_t i = 0; i < timing_lanes(s->t); i++) {
		const struct measure_log *lane = timing_lane(s->t, i);
		for (uint32_t k = 0; lane && k < lane->events.len; k++)
			add_event(s, i, &lane->events.at[k]);
	}
}

static void add_settings(struct maker *s, uint32_t jobs)
{
	const struct options *o = s->c->request.options;
	const struct project *project = s->project;
	struct arena *a = s->p->arena;
	const char *models = "";
	for (uint32_t i = 0; i < project->n_models && project->models[i].spec; i++)
		models = arena_printf(a, "%s%s%s", models, i ? " " : "", project->models[i].spec->name);
	if (*models)
		profile_add_setting(s->p, "models", models);
	profile_add_setting(s->p, "jobs", arena_printf(a, "%u", jobs));
	if (project->n_models && project->models[0].spec) {
		const struct model_spec *m = project->models[0].spec;
		profile_add_setting(s->p, "opt", m->plan.size ? "s" : arena_printf(a, "%u", m->plan.opt));
		profile_add_setting(s->p, "cpu", m->cpu);
	}
	if (o->profile)
		profile_add_setting(s->p, "profile", o->profile);
}

/* ---- counters ---- */

static void add_memory(struct maker *s)
{
	const struct timing_memory *list;
	uint32_t n = timing_memory(s->t, &list);
	struct profile_counter resident = {.name = "memory", .unit = UNIT_BYTES},
			       dirty = {.name = "private dirty memory", .unit = UNIT_BYTES};
	for (uint32_t i = 0; i < n; i++) {
		int64_t at = list[i].at_ns - s->result->started;
		vec_push(&resident.points, ((struct profile_point){at, (double)list[i].resident}));
		if (list[i].private_dirty)
			vec_push(&dirty.points, ((struct profile_point){at, (double)list[i].private_dirty}));
	}
	vec_push(&s->p->counters, resident);
	vec_push(&s->p->counters, dirty);
}

static int build_profile_by_time(const void *a, const void *b)
{
	const struct profile_point *x = a, *y = b;
	return x->at_ns != y->at_ns ? (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns) : (x->value > y->value) - (x->value < y->value);
}

/* Counts the outermost spans of workers, in order of time. */
static void add_running(struct maker *s)
{
	struct profile_counter c = {.name = "running tasks", .unit = UNIT_COUNT};
	double running = 0;
	for (uint32_t i = 1; i < timing_lanes(s->t); i++) {
		const struct measure_log *lane = timing_lane(s->t, i);
		for (uint32_t k = 0; lane && k < lane->events.len; k++) {
			const struct measure_event *e = &lane->events.at[k];
			int64_t start = e->start_ns - s->result->started;
			if (lane->nodes.at[e->node].parent != MEASURE_NONE)
				continue;
			vec_push(&c.points, ((struct profile_point){start, 1}));
			vec_push(&c.points, ((struct profile_point){start + e->ns, -1}));
		}
	}
	if (c.points.len)
		qsort(c.points.at, c.points.len, sizeof *c.points.at, build_profile_by_time);
	for (uint32_t i = 0; i < c.points.len; i++)
		c.points.at[i].value = running += c.points.at[i].value;
	vec_push(&s->p->counters, c);
}

static void add_lookups(struct profile *p, const char *level, const struct lookups *lookups)
{
	if (!lookups_all(lookups))
		return;
	profile_add_fact(p, arena_printf(p->arena, "cache.%s.lookups", level), lookups_all(lookups));
	profile_add_fact(p, arena_printf(p->arena, "cache.%s.hits", level), lookups->hits);
	profile_add_fact(p, arena_printf(p->arena, "cache.%s.hit_rate", level), lookups_rate(lookups));
}

static void add_facts(struct maker *s, int64_t wall_ns, uint32_t jobs)
{
	const struct build_result *r = s->result;
	double asked = r->hits + r->misses, main_alone = (double)(wall_ns - timing_waited(s->t));
	profile_add_fact(s->p, "units", r->units);
	profile_add_fact(s->p, "units.compiled", r->compiled);
	profile_add_fact(s->p, "units.reused", r->reused);
	profile_add_fact(s->p, "cache.hits", r->hits);
	profile_add_fact(s->p, "cache.misses", r->misses);
	if (asked > 0)
		profile_add_fact(s->p, "cache.hit_rate", r->hits / asked);
	for (uint32_t k = 0; k < LOOKUP_LEVELS; k++)
		add_lookups(s->p, lookup_level_name((enum lookup_level)k), &s->c->lookups[k]);
	static const char *const waits[] = {"wait.inputs_ns", "wait.memory_ns", "wait.load_ns", "wait.token_ns"};
	for (int k = 0; k < IDLE_REASONS && jobs > 1; k++)
		profile_add_fact(s->p, waits[k], (double)timing_idle(s->t)->ns[k]);
	profile_add_fact(s->p, "main_thread_ns", main_alone);
	if (timing_waited(s->t) > 0 && jobs > 1)
		profile_add_fact(s->p, "workers.busy_share", (s->busy - s->main_busy - s->rest) / ((double)timing_waited(s->t) * jobs));
	profile_add_fact(s->p, "critical_path_ns", main_alone + (double)timing_chains(s->t));
	if (wall_ns > 0)
		profile_add_fact(s->p, "efficiency", s->busy / ((double)wall_ns * jobs));
}

struct profile *build_profile(const struct build_context *c, const struct project *p, const struct build_result *r, int64_t wall_ns)
{
	uint32_t jobs = c->session->pool ? pool_jobs(c->session->pool) : 1;
	struct maker s = {.c = c, .project = p, .result = r, .t = c->timing, .p = profile_new(PROFILE_BUILD, 1), .all = measure_log_new()};
	char id[33];
	timing_note_memory(c->timing);
	hash_hex(build_id(), id);
	s.p->build = arena_strdup(s.p->arena, id);
	add_tree(&s, wall_ns, jobs);
	timing_each_pass(c->timing, note_changes, &s);
	add_timeline(&s);
	profile_describe_units(s.p, c, p);
	add_memory(&s);
	add_running(&s);
	add_settings(&s, jobs);
	add_facts(&s, wall_ns, jobs);
	profile_set(s.p, &s.p->total, METRIC_WALL, 0, (double)wall_ns);
	profile_set(s.p, &s.p->total, METRIC_CPU, 0, (double)(os_cpu_ns() - c->session->earlier_cpu_ns));
	profile_set(s.p, &s.p->total, METRIC_PEAK, 0, (double)os_peak_rss_kb() * 1024);
	if (timing_private_dirty(c->timing))
		profile_set(s.p, &s.p->total, METRIC_DIRTY, 0, (double)timing_private_dirty(c->timing));
	measure_log_free(s.all);
	vec_free(&s.nodes);
	map_free(&s.known);
	return s.p;
}
