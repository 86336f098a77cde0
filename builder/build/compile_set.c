#include "builder/build/compile_set.h"
#include <stdio.h>
#include "backend/link/backend.h"
#include "base/arena.h"
#include "base/json.h"
#include "base/measure.h"
#include "base/print.h"
#include "builder/build/link/link.h"
#include "builder/build/model/model.h"
#include "builder/build/model/project.h"
#include "builder/build/plan/compile.h"
#include "builder/build/plan/plan_cache.h"
#include "builder/build/plan/unit_records.h"
#include "builder/build/reuse/repository.h"
#include "builder/build/session/build_result.h"
#include "builder/build/session/context.h"
#include "builder/build/session/fragments.h"
#include "builder/build/session/session.h"
#include "builder/build/timing/timing.h"
#include "builder/manifest/build_spec.h"
#include "builder/cache/cache.h"
#include "builder/manifest/options.h"
#include "builder/store/fragment_log.h"
#include "frontend/hir/hir.h"

/* Looks for what the unit compiles to: in memory, in the project, then in the user's cache. */
static void find_object(struct build_context *c, struct compile *f)
{
	struct variant *v = f->job->variant;
	if (c->session->fragments && !v->is_lazy) {
		f->object = fragments_find(c->session->fragments, f->key, &f->len);
		lookups_count(&c->lookups[LOOKUPS_MEMORY], f->object);
	}
	if (!f->object && variant_log(c->stores.project, v)) {
		f->object = fragment_log_find(v->log, f->key, &f->len);
		lookups_count(&c->lookups[LOOKUPS_PROJECT], f->object);
	}
	if (!f->object)
		f->object = cache_get(c->stores.cache, f->is_object ? CACHE_FRAGMENT : CACHE_LOOPS, f->key, &f->len);
}

static struct compile *add_compile(struct build_context *c, struct compile_set *set, struct unit_job *j, struct build_result *r)
{
	bool lazy = j->variant->is_lazy;
	struct compile *f = ARENA_NEW(c->arena, struct compile);
	*f = (struct compile){.key = j->key,
			      .job = j,
			      .is_object = variant_makes_objects(j->variant),
			      .label = arena_printf(c->arena, "compile %s", variant_label(c->arena, j->variant, j->unit->name))};
	find_object(c, f);
	if (f->object)
		r->hits++;
	else
		r->misses++;
	if (lazy && !cache_has(c->stores.cache, CACHE_FRAGMENT, j->key))
		r->later++;
	else if (lazy || f->object)
		r->reused++;
	else
		f->why = unit_explain(c, j);
	map_put(&set->by_key, j->key, set->list.len);
	vec_push(&set->list, f);
	return f;
}

static struct compile *compile_set_find_or_add(struct build_context *c, struct compile_set *set, struct unit_job *j, struct build_result *r)
{
	uint64_t at;
	if (!map_get(&set->by_key, j->key, &at))
		return add_compile(c, set, j, r);
	r->reused++;
	return set->list.at[at];
}

/* Drops the plan's code unless it is to be compiled. Its record is shared when the fragment is. */
static void settle(const struct stores *stores, struct unit_job *j)
{
	if (j->compile && j->compile->job == j && !j->compile->object)
		return;
	if (j->is_planned && j->compile)
		plan_cache_share(stores, j);
	plan_cache_drop_code(j);
}

static void find_of_variant(struct build_context *c, struct variant *v, struct compile_set *set, struct build_result *r)
{
	for (uint32_t k = 0; k < v->model->program->n_units; k++) {
		struct unit_job *j = &v->units.jobs[k];
		if (!j->plan)
			continue;
		if (v->model->link.is_current || !variant_is_linked(v))
			r->reused++;
		else
			j->compile = compile_set_find_or_add(c, set, j, r);
		settle(&c->stores, j);
	}
}

bool compile_set_find(struct build_context *c, struct project *p, const struct repository *repo, struct compile_set *set,
		      struct build_result *r)
{
	phase_begin(PHASE_CACHE, NULL);
	measure_begin("find units");
	for (uint32_t i = 0; i < p->n_models; i++) {
		if (p->models[i].failed)
			continue;
		link_digest(c, &p->models[i], repo);
		for (uint32_t k = 0; k < p->models[i].n_variants; k++)
			find_of_variant(c, &p->models[i].variants[k], set, r);
	}
	measure_end();
	measure_end();
	return true;
}

/* One JSON object a line. */
static void compile_set_print_json(const struct build_request *request, const char *type, const char *name, const char *why)
{
	struct buf line = {0};
	struct json_writer w = {.out = &line};
	json_open(&w, '{');
	json_member_str(&w, "type", type);
	json_member_str(&w, "name", name);
	if (why)
		json_member_str(&w, "reason", why);
	json_close(&w, '}');
	print(request->out, "%s\n", line.at);
	buf_free(&line);
}

static void compile_set_explain_unit(struct arena *arena, const struct build_request *request, const struct compile *f)
{
	const char *name = variant_label(arena, f->job->variant, f->job->unit->name);
	if (request->options->json > 0)
		compile_set_print_json(request, "compile", name, f->why.text);
	else
		print(request->out, "%s %s: %s\n", request->options->dry_run ? "would compile" : "compile", name, f->why.text);
}

static void explain_link(const struct build_request *request, const struct model_job *m)
{
	const char *library = model_output(m), *name = library ? library : m->spec->name;
	if (request->options->json > 0)
		compile_set_print_json(request, "link", name, NULL);
	else
		print(request->out, "would link %s\n", name);
}

enum step compile_set_explain(struct arena *arena, const struct build_request *request, const struct project *p,
			      const struct compile_set *set)
{
	const struct options *o = request->options;
	if (!p->spec.explain && !o->dry_run)
		return STEP_NEXT;
	for (uint32_t i = 0; i < set->list.len; i++)
		if (set->list.at[i]->why.text)
			compile_set_explain_unit(arena, request, set->list.at[i]);
	for (uint32_t i = 0; o->dry_run && i < p->n_models; i++)
		if (!p->models[i].failed && !p->models[i].link.is_current)
			explain_link(request, &p->models[i]);
	return o->dry_run ? STEP_DONE : STEP_NEXT;
}

static void keep_in_memory(struct fragments *fragments, const struct project *p, const struct compile_set *set)
{
	for (uint32_t i = 0; i < set->list.len; i++) {
		const struct compile *f = set->list.at[i];
		if (f->object && !f->job->variant->is_lazy)
			fragments_use(fragments, f->key, f->job->unit->name, f->object, f->len, f->is_object);
	}
	for (uint32_t i = 0; i < p->n_models; i++)
		for (uint32_t k = 0; k < p->models[i].n_variants; k++)
			link_retain_runtime(fragments, &p->models[i].variants[k]);
}

/* If no fragment was looked for in the log, none is new. */
static void keep_in_project(struct buf *warnings, struct variant *v, bool published)
{
	for (uint32_t i = 0; v->log && i < v->model->program->n_units; i++) {
		const struct compile *f = v->units.jobs[i].compile;
		if (f && f->object)
			fragment_log_keep(v->log, f->key, f->object, f->len);
	}
	fragment_log_write(v->log, published, warnings);
}

/* A build that failed has not asked for every fragment that the next one may need: then no fragment is dropped. */
void compile_set_retain(struct build_context *c, struct project *p, const struct compile_set *set, bool published)
{
	struct fragments *fragments = c->session->fragments;
	if (fragments)
		keep_in_memory(fragments, p, set);
	if (fragments && published)
		fragments_drop_unused(fragments);
	for (uint32_t i = 0; i < p->n_models && !c->request.options->dry_run; i++)
		for (uint32_t k = 0; k < p->models[i].n_variants; k++)
			keep_in_project(&c->stores.warnings, &p->models[i].variants[k], published);
}

void compile_set_free(struct compile_set *set)
{
	for (uint32_t i = 0; i < set->list.len; i++) {
		buf_free(&set->list.at[i]->error);
		buf_free(&set->list.at[i]->uncached);
	}
	vec_free(&set->list);
	map_free(&set->by_key);
}
