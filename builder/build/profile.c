/* Makes the profile of a build from its times, for --profile-out. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "backend/passes/pass.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/os.h"
#include "builder/build/build_id.h"
#include "builder/build/build_steps.h"
#include "builder/build/session.h"
#include "builder/build/timing.h"
#include "builder/manifest/options.h"
#include "builder/profile/profile.h"
#include "scheduler/pool.h"

struct maker {
	const struct build *b;
	struct profile *p;
	uint32_t phases[PHASE_COUNT]; /* items */
	struct map known;             /* of stages, units and tasks */
	double busy;
};

static void add_to(struct profile *p, uint32_t item, enum profile_metric m, double value)
{
	double before = p->items.at[item].values.of[m] ? p->items.at[item].values.of[m][0] : 0;
	profile_set(p, &p->items.at[item].values, m, 0, before + value);
}

static void add_phases(struct maker *s)
{
	const struct timing *t = s->b->context.timing;
	for (uint32_t i = 0; i < PHASE_COUNT; i++) {
		s->phases[i] = profile_add_item(s->p, ITEM_PHASE, PROFILE_NONE, phase_text((enum phase)i), NULL);
		add_to(s->p, s->phases[i], METRIC_WALL, (double)timing_wall(t, (enum phase)i));
		add_to(s->p, s->phases[i], METRIC_CPU, (double)timing_cpu(t, (enum phase)i));
	}
}

static void add_pass(void *ctx, const char *name, const struct pass_figures *f)
{
	struct maker *s = ctx;
	uint32_t item = profile_add_item(s->p, ITEM_PASS, s->phases[PHASE_OPT], name, NULL);
	add_to(s->p, item, METRIC_WALL, (double)f->wall_ns);
	add_to(s->p, item, METRIC_CPU, (double)f->cpu_ns);
	add_to(s->p, item, METRIC_CALLS, (double)f->runs);
	add_to(s->p, item, METRIC_NET, (double)f->bytes);
}

/* Spans of the main thread are stages of a phase; those of workers are units and other tasks. */
static enum profile_item_kind kind_of(const struct timing_event *e)
{
	if (e->lane == 0)
		return ITEM_STAGE;
	return e->phase == PHASE_OPT || e->phase == PHASE_CODEGEN ? ITEM_UNIT : ITEM_TASK;
}

static const char *name_of(struct arena *a, const struct timing_event *e, enum profile_item_kind kind)
{
	static const char verb[] = "compile ";
	if (kind == ITEM_UNIT && strncmp(e->name, verb, strlen(verb)) == 0)
		return e->name + strlen(verb);
	return kind == ITEM_TASK ? arena_printf(a, "%s %s", phase_text(e->phase), e->name) : e->name;
}

static uint32_t item_of(struct maker *s, const struct timing_event *e)
{
	enum profile_item_kind kind = kind_of(e);
	const char *name = name_of(s->p->arena, e, kind);
	uint32_t parent = kind == ITEM_STAGE ? s->phases[e->phase] : PROFILE_NONE;
	hash128 key = hash_combine(map_key_u64((uint64_t)parent << 8 | kind), map_key_str(name));
	uint64_t at;
	if (!map_get(&s->known, key, &at)) {
		at = profile_add_item(s->p, kind, parent, name, NULL);
		map_put(&s->known, key, at);
	}
	return (uint32_t)at;
}

static void add_event(void *ctx, const struct timing_event *e)
{
	struct maker *s = ctx;
	uint32_t item = item_of(s, e);
	struct profile_span when = {.item = item, .lane = e->lane, .start_ns = e->start - s->b->result.started, .ns = e->length};
	if (when.start_ns < 0)
		return; /* of an earlier build of this process */
	add_to(s->p, item, METRIC_WALL, (double)e->length);
	add_to(s->p, item, METRIC_CPU, (double)e->cpu);
	add_to(s->p, item, METRIC_CALLS, 1);
	s->busy += (double)e->length;
	vec_push(&s->p->spans, when);
}

/* Says of each compiled unit where it is and why it was compiled. */
static void describe_units(struct maker *s)
{
	const struct compile_set *set = &s->b->compiles;
	for (uint32_t i = 0; i < set->list.len; i++) {
		const struct compile *f = set->list.at[i];
		hash128 key =
			hash_combine(map_key_u64((uint64_t)PROFILE_NONE << 8 | ITEM_UNIT), map_key_str(f->label + strlen("compile ")));
		uint64_t at;
		if (f->why && map_get(&s->known, key, &at))
			s->p->items.at[at].note = arena_strdup(s->p->arena, f->why);
	}
}

static void add_settings(struct maker *s, uint32_t jobs)
{
	const struct options *o = s->b->context.request.options;
	const struct project *project = &s->b->project;
	struct arena *a = s->p->arena;
	const char *models = "";
	for (uint32_t i = 0; i < project->n_models; i++)
		models = arena_printf(a, "%s%s%s", models, i ? " " : "", project->models[i].spec->name);
	if (*models)
		profile_add_setting(s->p, "models", models);
	profile_add_setting(s->p, "jobs", arena_printf(a, "%u", jobs));
	if (project->n_models) {
		const struct model_spec *m = project->models[0].spec;
		profile_add_setting(s->p, "opt", m->plan.size ? "s" : arena_printf(a, "%u", m->plan.opt));
		profile_add_setting(s->p, "cpu", m->cpu);
	}
	if (o->profile)
		profile_add_setting(s->p, "profile", o->profile);
}

static void add_facts(struct maker *s, int64_t wall_ns, uint32_t jobs)
{
	const struct build_result *r = &s->b->result;
	double asked = r->hits + r->misses;
	profile_add_fact(s->p, "units", r->units);
	profile_add_fact(s->p, "units.compiled", r->compiled);
	profile_add_fact(s->p, "units.reused", r->reused);
	profile_add_fact(s->p, "cache.hits", r->hits);
	profile_add_fact(s->p, "cache.misses", r->misses);
	if (asked > 0)
		profile_add_fact(s->p, "cache.hit_rate", r->hits / asked);
	if (wall_ns > 0)
		profile_add_fact(s->p, "efficiency", s->busy / ((double)wall_ns * jobs));
}

bool build_profile_write(struct build *b, int64_t wall_ns)
{
	struct build_context *c = &b->context;
	uint32_t jobs = c->session->pool ? pool_jobs(c->session->pool) : 1;
	struct maker s = {.b = b, .p = profile_new(PROFILE_BUILD, 1)};
	char id[33];
	hash_hex(build_id(), id);
	s.p->build = arena_strdup(s.p->arena, id);
	add_phases(&s);
	timing_each_pass(c->timing, add_pass, &s);
	timing_each_event(c->timing, add_event, &s);
	describe_units(&s);
	add_settings(&s, jobs);
	add_facts(&s, wall_ns, jobs);
	profile_set(s.p, &s.p->total, METRIC_WALL, 0, (double)wall_ns);
	profile_set(s.p, &s.p->total, METRIC_CPU, 0, (double)os_cpu_ns());
	profile_set(s.p, &s.p->total, METRIC_PEAK, 0, (double)os_peak_rss_kb() * 1024);
	bool ok = profile_write(s.p, c->request.options->profile_out);
	int e = errno;
	profile_free(s.p);
	map_free(&s.known);
	errno = e;
	return ok;
}
