/* A plan from a record has no code. The code is made when something is to be compiled from it. */
#include "builder/build/plan/plan_cache.h"
#include <string.h>
#include "backend/link/backend.h"
#include "backend/passes/passes.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/bug.h"
#include "base/diag.h"
#include "base/vec.h"
#include "builder/build/model/model.h"
#include "builder/build/session/context.h"
#include "builder/cache/cache.h"
#include "builder/manifest/manifest.h"
#include "builder/store/history.h"
#include "builder/store/serializer.h"
#include "frontend/hir/hir.h"

uint8_t unit_opt(const struct unit_job *j) { return j->options.size ? MANIFEST_OPT_SIZE : j->options.opt; }

static hash128 unit_code_hash(struct unit_job *j)
{
	if (hash_is_zero(j->code_hash))
		j->code_hash = hir_unit_hash(j->unit);
	return j->code_hash;
}

/* ---- find ---- */

static uint64_t decided_of(const struct unit_job *j, const struct hir_unit *u) { return ir_program_code(j->options.program, u); }

static bool part_holds(struct unit_job *j, const struct unit_part *part)
{
	struct unit_job *u = variant_find_unit(j->variant, part->identity);
	if (!u || inline_callee_facts(j->options.opt, j->options.size, u->unit) != part->facts || decided_of(j, u->unit) != part->decided)
		return false;
	switch (part->kind) {
	case PART_INLINED: return hash_eq(unit_code_hash(u), part->code);
	case PART_EVALUATED: return hash_eq(hir_unit_hash_all(u->unit), part->code);
	default: return true;
	}
}

/* True if nothing has changed that the recorded plan was made from. */
static bool still_holds(hash128 compiler, struct unit_job *j, const struct plan_record *record)
{
	if (!hash_eq(record->identity, j->unit->identity) || !hash_eq(record->compiler, compiler) ||
	    !hash_eq(record->target, j->variant->target_id) || record->opt != unit_opt(j) || record->decided != decided_of(j, j->unit) ||
	    !hash_eq(record->code, unit_code_hash(j)))
		return false;
	for (uint32_t i = 0; i < record->n_parts; i++)
		if (!part_holds(j, &record->parts[i]))
			return false;
	for (uint32_t i = 0; i < record->plan.n_slots; i++)
		if (record->plan.slots[i].kind == SLOT_TABLE && !variant_find_unit(j->variant, record->callees[i]))
			return false;
	return true;
}

static hash128 cache_key(hash128 compiler, struct unit_job *j)
{
	hash128 unit = hash_combine(j->unit->identity, (hash128){decided_of(j, j->unit), 0});
	return plan_record_key(compiler, j->variant->target_id, unit_opt(j), unit, unit_code_hash(j));
}

/* The record that a build of any project left of a unit with this code. */
static const struct plan_record *find_in_cache(struct arena *arena, const struct stores *stores, struct unit_job *j)
{
	size_t n = 0;
	const void *bytes = cache_get(stores->cache, CACHE_PLAN, cache_key(stores->compiler, j), &n);
	struct serializer s = serializer_from(arena, bytes, n);
	struct plan_record *r = ARENA_NEW(arena, struct plan_record);
	plan_record_serialize(&s, r);
	return serializer_is_done(&s) && still_holds(stores->compiler, j, r) ? r : NULL;
}

/* Finds the units of the record's origins. The record is valid only if each has as many nodes as were read. */
static bool find_origin_units(struct arena *arena, struct unit_job *j, const struct plan_record *record)
{
	struct origins *o = record->plan.origins.table;
	o->units = ARENA_ARRAY(arena, const struct hir_unit *, o->n_units + 1);
	for (uint32_t i = 0; i < o->n_units; i++) {
		const struct unit_job *u = variant_find_unit(j->variant, record->origin_units[i]);
		if (!u)
			return false;
		o->units[i] = u->unit;
	}
	for (uint32_t i = 0; i < o->n; i++)
		if (o->list[i].node >= o->units[o->list[i].unit]->n_nodes)
			return false;
	return true;
}

/* The record that the last build of this project left of the unit. */
static const struct plan_record *find_in_project(struct build_context *c, struct unit_job *j)
{
	j->old_record = history_find(j->variant->model->history, j->unit->identity, j->variant->backend->name);
	const struct plan_record *r =
		j->old_record && still_holds(c->stores.compiler, j, &j->old_record->made) ? &j->old_record->made : NULL;
	if (c->stores.project)
		lookups_count(&c->lookups[LOOKUPS_PROJECT], r);
	return r;
}

bool plan_cache_find(struct build_context *c, struct unit_job *j)
{
	j->plan_record = find_in_project(c, j);
	j->plan_record = j->plan_record ? j->plan_record : find_in_cache(c->arena, &c->stores, j);
	if (!j->plan_record || !find_origin_units(c->arena, j, j->plan_record))
		return false;
	j->plan = ARENA_NEW(c->arena, struct plan);
	*j->plan = j->plan_record->plan;
	j->plan->unit = j->unit;
	j->plan->options = j->options;
	for (uint32_t i = 0; i < j->plan->n_slots; i++)
		if (j->plan->slots[i].kind == SLOT_TABLE)
			j->plan->slots[i].callee = variant_find_unit(j->variant, j->plan_record->callees[i])->unit;
	return true;
}

/* ---- record ---- */

/* The units that a plan depends on, once for each kind of dependence. */
struct parts {
	struct unit_job *job;
	struct map seen;
	VEC(struct unit_part) list;
};

static void add_part(struct parts *p, enum part_kind kind, const struct hir_unit *u)
{
	if (!u || !map_put(&p->seen, hash_combine(u->identity, (hash128){kind, 0}), 1))
		return;
	struct unit_part part = {.kind = kind,
				 .name = "",
				 .identity = u->identity,
				 .facts = inline_callee_facts(p->job->options.opt, p->job->options.size, u),
				 .decided = decided_of(p->job, u)};
	if (kind == PART_INLINED) {
		part.name = u->name;
		part.code = unit_code_hash(variant_find_unit(p->job->variant, u->identity));
	}
	if (kind == PART_EVALUATED)
		part.code = hir_unit_hash_all(u);
	vec_push(&p->list, part);
}

static void plan_cache_add_callees(struct parts *p, const struct hir_unit *u)
{
	for (uint32_t i = 0; i < u->n_nodes; i++) {
		add_part(p, PART_CALLED, u->nodes[i].callee);
		add_part(p, PART_CALLED, u->nodes[i].other);
	}
}

static void list_parts(struct arena *arena, struct unit_job *j, const struct plan *plan, struct plan_record *record)
{
	struct parts p = {.job = j};
	plan_cache_add_callees(&p, j->unit);
	for (uint32_t i = 0; i < plan->n_inlined; i++) {
		add_part(&p, PART_INLINED, plan->inlined[i]);
		plan_cache_add_callees(&p, plan->inlined[i]);
	}
	for (ir_ref i = 0; i < plan->build_fn->n_insts; i++) {
		const struct ir_inst *in = ir_at(plan->build_fn, i);
		if (!ir_calls(in->op))
			continue;
		add_part(&p, PART_EVALUATED, ir_call(in)->callee);
		add_part(&p, PART_EVALUATED, ir_call(in)->other);
	}
	record->n_parts = p.list.len;
	record->parts = ARENA_ARRAY(arena, struct unit_part, p.list.len + 1);
	if (p.list.len)
		memcpy(record->parts, p.list.at, p.list.len * sizeof *p.list.at);
	vec_free(&p.list);
	map_free(&p.seen);
}

static void *plan_cache_copy(struct arena *a, const void *from, size_t size, size_t align)
{
	void *to = arena_alloc(a, size, align);
	return size ? memcpy(to, from, size) : to;
}
#define COPY(a, from, n) plan_cache_copy((a), (from), (size_t)(n) * sizeof *(from), _Alignof(max_align_t))

/* All of a plan but its code. */
static struct plan facts_of(struct arena *a, const struct plan *p)
{
	struct plan f = {.unit = p->unit,
			 .options = p->options,
			 .n_slots = p->n_slots,
			 .interface = p->interface,
			 .build_fn_hash = p->build_fn_hash,
			 .run_fn_hash = p->run_fn_hash};
	f.origins = (struct plan_origins){origins_freeze(a, p->origins.table), COPY(a, p->origins.statements, p->origins.n), p->origins.n};
	for (uint32_t k = 0; k < f.origins.n; k++)
		f.origins.statements[k].name = arena_strdup(a, f.origins.statements[k].name);
	f.slots = COPY(a, p->slots, p->n_slots);
	f.interface.piece_of = COPY(a, p->interface.piece_of, p->interface.n_weights);
	f.interface.outputs = COPY(a, p->interface.outputs, p->interface.n_outputs);
	f.interface.pieces = COPY(a, p->interface.pieces, p->interface.n_pieces);
	return f;
}

/* The functions of a plan. run_fn is last: plan_cache_code tests it without the lock. */
static void take_code(struct plan *p, const struct plan *made)
{
	p->dims = made->dims;
	p->build_fn = made->build_fn;
	p->loops = made->loops;
	p->also = made->also;
	__atomic_store_n(&p->run_fn, made->run_fn, __ATOMIC_RELEASE);
}

void plan_cache_record(struct arena *a, hash128 compiler, struct unit_job *j)
{
	const struct plan *made = j->plan;
	struct plan_record *r = ARENA_NEW(a, struct plan_record);
	*r = (struct plan_record){.identity = j->unit->identity,
				  .code = unit_code_hash(j),
				  .compiler = compiler,
				  .target = j->variant->target_id,
				  .opt = unit_opt(j),
				  .decided = decided_of(j, j->unit)};
	list_parts(a, j, made, r);
	r->plan = facts_of(a, made);
	const struct origins *o = r->plan.origins.table;
	r->origin_units = ARENA_ARRAY(a, hash128, o->n_units + 1);
	for (uint32_t i = 0; i < o->n_units; i++)
		r->origin_units[i] = o->units[i]->identity;
	r->callees = ARENA_ARRAY(a, hash128, r->plan.n_slots + 1);
	for (uint32_t i = 0; i < r->plan.n_slots; i++)
		if (r->plan.slots[i].kind == SLOT_TABLE)
			r->callees[i] = r->plan.slots[i].callee->identity;
	j->plan_record = r;
	j->is_planned = true;
	j->plan = ARENA_NEW(a, struct plan);
	*j->plan = r->plan;
	take_code(j->plan, made);
}

void plan_cache_share(const struct stores *stores, struct unit_job *j)
{
	struct buf bytes = {0};
	if (!cache_uses(stores->cache, CACHE_PLAN))
		return;
	struct serializer s = serializer_to(&bytes);
	plan_record_serialize(&s, (struct plan_record *)j->plan_record);
	cache_add(stores->cache, CACHE_PLAN, cache_key(stores->compiler, j), bytes.at, bytes.len, 0);
	buf_free(&bytes);
}

/* ---- code ---- */

/* The code must have the hashes that the record has; otherwise records lack something that plans depend on. */
static void make_code(struct unit_job *j)
{
	struct arena *a = arena_new(0);
	struct diags *diags = diags_new(0);
	const struct plan *made = plan_unit(a, j->unit, &j->options, diags, NULL);
	BUG_ON(!made || !hash_eq(made->run_fn_hash, j->plan->run_fn_hash) || !hash_eq(made->build_fn_hash, j->plan->build_fn_hash));
	j->arena = a;
	take_code(j->plan, made);
	diags_free(diags);
}

const struct plan *plan_cache_code(struct unit_job *j)
{
	pthread_mutex_t *lock = &j->variant->units.plan_lock;
	if (__atomic_load_n(&j->plan->run_fn, __ATOMIC_ACQUIRE))
		return j->plan;
	pthread_mutex_lock(lock);
	if (!j->plan->run_fn)
		make_code(j);
	pthread_mutex_unlock(lock);
	return j->plan;
}

void plan_cache_drop_code(struct unit_job *j)
{
	if (!j->plan || j->plan->interface.n_pieces)
		return;
	take_code(j->plan, &(struct plan){0});
	arena_free(j->arena);
	j->arena = NULL;
}
