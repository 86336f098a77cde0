#include <stdio.h>
#include <string.h>
#include "backend/loops.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/os.h"
#include "builder/build_state.h"
#include "builder/cache.h"
#include "builder/fragments.h"
#include "builder/key.h"
#include "builder/manifest.h"
#include "builder/options.h"
#include "builder/progress.h"
#include "builder/session.h"
#include "builder/timing.h"
#include "frontend/core.h"

static const char *definition_name(struct arena *a, const struct core_unit *u)
{
	/* the symbol is the definition's name, an underscore and 16 hex digits */
	size_t n = strlen(u->symbol);
	return arena_strndup(a, u->symbol, n > 17 ? n - 17 : n);
}

/* Gathers what a plan looked at, each unit once in each way. */
struct parts {
	struct unit_job *job;
	struct map seen;
	VEC(struct unit_part) list;
};

static void add_part(struct parts *p, enum part_kind kind, const struct core_unit *u)
{
	if (!u || !map_put(&p->seen, hash_combine(u->identity, (hash128){kind, 0}), 1))
		return;
	struct unit_part part = {.kind = kind, .name = "", .identity = u->identity, .facts = plan_callee_facts(&p->job->options, u)};
	if (kind == PART_TAKEN_IN) {
		part.name = u->name;
		part.code = build_unit_code(build_find_unit(p->job->model, u->identity));
	}
	if (kind == PART_EVALUATED)
		part.code = core_unit_hash_all(u);
	vec_push(&p->list, part);
}

static void add_callees(struct parts *p, const struct core_unit *u)
{
	for (uint32_t i = 0; i < u->n_nodes; i++) {
		add_part(p, PART_CALLED, u->nodes[i].callee);
		add_part(p, PART_CALLED, u->nodes[i].other);
	}
}

static void list_parts(struct unit_job *j, struct unit_record *r)
{
	struct parts p = {.job = j};
	const struct plan *plan = j->plan;
	add_callees(&p, j->unit);
	for (uint32_t i = 0; i < plan->n_inlined; i++) {
		add_part(&p, PART_TAKEN_IN, plan->inlined[i]);
		add_callees(&p, plan->inlined[i]);
	}
	for (ir_ref i = 0; i < plan->slice->n_insts; i++) {
		add_part(&p, PART_EVALUATED, ir_at(plan->slice, i)->callee);
		add_part(&p, PART_EVALUATED, ir_at(plan->slice, i)->other);
	}
	r->n_parts = p.list.len;
	r->parts = ARENA_ARRAY(j->model->build->session, struct unit_part, p.list.len + 1);
	if (p.list.len)
		memcpy(r->parts, p.list.at, p.list.len * sizeof *p.list.at);
	vec_free(&p.list);
	map_free(&p.seen);
}

static bool is_recalled(const struct unit_job *j) { return j->then && j->plan->slots == j->then->plan.slots; }

static struct unit_record *record_of(struct unit_job *j)
{
	struct build *b = j->model->build;
	struct arena *a = b->session;
	const struct plan *p = j->plan;
	struct unit_record *r = ARENA_NEW(a, struct unit_record);
	if (is_recalled(j))
		*r = *j->then;
	r->name = j->unit->name;
	r->file = j->unit->file;
	r->definition = definition_name(a, j->unit);
	r->identity = j->unit->identity;
	r->tokens = j->unit->definition;
	r->code = build_unit_code(j);
	r->key = j->key;
	r->compiler = b->compiler;
	r->target = j->model->platform.id;
	r->cpu = j->model->platform.name;
	r->opt = j->options.size ? MANIFEST_OPT_SIZE : j->options.opt;
	if (is_recalled(j))
		return r;
	list_parts(j, r);
	r->plan = *p;
	r->callees = ARENA_ARRAY(a, hash128, p->n_slots + 1);
	for (uint32_t i = 0; i < p->n_slots; i++)
		if (p->slots[i].kind == SLOT_TABLE)
			r->callees[i] = p->slots[i].callee->identity;
	return r;
}

/* The record of the last build, if it says the same. */
static const struct unit_record *keep_record(struct unit_job *j, int64_t compile_ns)
{
	const struct unit_record *then = j->then;
	const struct core_unit *u = j->unit;
	if (is_recalled(j) && then->compile_ns == compile_ns && hash_eq(then->key, j->key) && hash_eq(then->tokens, u->definition) &&
	    hash_eq(then->target, j->model->platform.id) && strcmp(then->name, u->name) == 0 && strcmp(then->file, u->file) == 0)
		return then;
	struct unit_record *r = record_of(j);
	r->compile_ns = compile_ns;
	return r;
}

static uint32_t line_of(const struct build *b, span at)
{
	return at.source == SPAN_NO_SOURCE ? 0 : source_position(b->sources, at.source, at.start).line;
}

static const char *why_compiled(struct build *b, struct unit_job *j)
{
	const struct unit_record *now = record_of(j);
	const struct unit_record *kin = history_of_definition(j->model->history, now->file, now->definition);
	return history_explain(b->session, j->then, kin, now, line_of(b, j->unit->at));
}

static struct compile *fragment_for(struct build *b, struct unit_job *j)
{
	uint64_t at;
	if (map_get(&b->compile_index, j->key, &at)) {
		b->reused++;
		return b->compiles.at[at];
	}
	struct compile *c = ARENA_NEW(b->session, struct compile);
	const struct unit_record *then = j->then;
	*c = (struct compile){.key = j->key, .job = j};
	c->took_ns = then ? then->compile_ns : 0;
	c->label = arena_printf(b->session, "compile %s", j->unit->name);
	bool lazy = b->options->lazy;
	if (!lazy)
		c->object = fragments_find(b->lasting->fragments, j->key, &c->len);
	if (!c->object)
		c->object = cache_get(b->cache, lazy ? CACHE_LOOPS : CACHE_FRAGMENT, j->key, &c->len);
	if (c->object)
		b->hits++;
	else
		b->misses++;
	if (lazy && !cache_has(b->cache, CACHE_LATER, j->key) && !cache_has(b->cache, CACHE_FRAGMENT, j->key))
		b->later++;
	else if (lazy || c->object)
		b->reused++;
	else
		c->why = why_compiled(b, j);
	map_put(&b->compile_index, j->key, b->compiles.len);
	vec_push(&b->compiles, c);
	return c;
}

bool build_find_fragments(struct build *b)
{
	for (uint32_t i = 0; i < b->n_models; i++) {
		struct model_job *m = &b->models[i];
		if (m->failed)
			continue;
		build_link_digest(m);
		for (uint32_t k = 0; k < m->program->n_units; k++) {
			struct unit_job *j = &m->units[k];
			if (!j->plan)
				continue;
			if (m->current || !m->library)
				b->reused++;
			else
				j->fragment = fragment_for(b, j);
		}
	}
	return true;
}

void build_explain(struct build *b)
{
	const char *verb = b->options->dry_run ? "would compile" : "compile";
	bool lazy = b->options->lazy;
	for (uint32_t i = 0; i < b->compiles.len && !lazy; i++) {
		const struct compile *c = b->compiles.at[i];
		if (!c->object)
			fprintf(b->out, "%s %s: %s\n", verb, c->job->unit->name, c->why);
	}
	for (uint32_t i = 0; b->options->dry_run && i < b->n_models; i++)
		if (!b->models[i].failed && !b->models[i].current)
			fprintf(b->out, "would link %s\n", b->models[i].library ? b->models[i].library : b->models[i].spec->name);
}

void build_save_history(struct build *b)
{
	for (uint32_t i = 0; i < b->n_models; i++) {
		struct model_job *m = &b->models[i];
		uint32_t n = 0;
		if (m->failed || m->current || !m->units)
			continue;
		const struct unit_record **now = ARENA_ARRAY(b->session, const struct unit_record *, m->program->n_units + 1);
		for (uint32_t k = 0; k < m->program->n_units; k++) {
			struct unit_job *j = &m->units[k];
			if (j->plan && j->fragment && j->fragment->object)
				now[n++] = keep_record(j, j->fragment->took_ns);
		}
		history_save(b->project, m->spec->name, m->history, now, n);
	}
}
