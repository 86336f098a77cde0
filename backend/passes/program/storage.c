#include "backend/passes/program/storage.h"
#include <string.h>
#include "backend/ir/ir.h"
#include "backend/ir/rewrite.h"
#include "base/arena.h"
#include "backend/passes/program/shared_tables.h"
#include "base/hash.h"
#include "frontend/hir/hir.h"

#define UNKNOWN DT_COUNT /* no caller is known yet */

struct analysis {
	const struct hir_program *p;
	struct map index; /* hir_unit.identity → index of the unit */
	dtype **types;    /* for each unit and input */
	dtype *params;
};

static dtype *types_of(const struct analysis *a, const struct hir_unit *u)
{
	uint64_t i = 0;
	map_get(&a->index, u->identity, &i);
	return a->types[i];
}

/* An argument that callers store in different types is as it is declared. */
static void pass_argument(const struct analysis *a, const struct hir_unit *u, uint32_t input, dtype stored)
{
	dtype *t = &types_of(a, u)[input];
	*t = *t == UNKNOWN || *t == stored ? stored : u->inputs[input].type.elem;
}

static dtype stored_type(const struct hir_unit *u, const dtype *types, const struct hir_arg *arg)
{
	const struct hir_node *n = &u->nodes[arg->u.tensor];
	return n->kind == HIR_INPUT && n->build_time ? types[n->index] : n->type.elem;
}

/* The arguments of a branch or loop follow its first; those of the second branch are last. */
static void visit_call(const struct analysis *a, const struct hir_unit *u, const struct hir_node *n)
{
	uint32_t first = n->kind != HIR_CALL, n_inputs = n->callee->n_inputs;
	for (uint32_t k = first; k < n->n_args; k++) {
		bool is_other = k - first >= n_inputs;
		const struct hir_unit *callee = is_other ? n->other : n->callee;
		pass_argument(a, callee, is_other ? k - first - n_inputs : k - first,
			      stored_type(u, types_of(a, u), &u->args[n->args + k]));
	}
}

static void begin(const struct analysis *a)
{
	for (uint32_t i = 0; i < a->p->n_units; i++)
		for (uint32_t k = 0; k < a->p->units[i]->n_inputs; k++)
			a->types[i][k] = UNKNOWN;
	for (uint32_t i = 0; i < a->p->n_entries; i++)
		for (uint32_t k = 0; k < a->p->entries[i].unit->n_inputs; k++) {
			const struct hir_entry *e = &a->p->entries[i];
			pass_argument(a, e->unit, k, e->params[k] == HIR_NONE ? e->unit->inputs[k].type.elem : a->params[e->params[k]]);
		}
}

/* A parameter that an entry cannot take as it is stored is widened before. True: there was one. */
static bool widen_params(const struct analysis *a)
{
	bool changed = false;
	for (uint32_t i = 0; i < a->p->n_entries; i++)
		for (uint32_t k = 0; k < a->p->entries[i].unit->n_inputs; k++) {
			const struct hir_entry *e = &a->p->entries[i];
			dtype declared = e->unit->inputs[k].type.elem;
			if (e->params[k] == HIR_NONE || a->params[e->params[k]] == types_of(a, e->unit)[k])
				continue;
			changed |= a->params[e->params[k]] != declared;
			a->params[e->params[k]] = declared;
		}
	return changed;
}

/* Units are listed callees first. */
static void visit_units(const struct analysis *a)
{
	for (uint32_t i = a->p->n_units; i-- > 0;) {
		const struct hir_unit *u = a->p->units[i];
		for (hir_ref r = 0; r < u->n_nodes; r++)
			if (hir_calls(u->nodes[r].kind))
				visit_call(a, u, &u->nodes[r]);
	}
}

static bool any_shared(const struct hir_unit *u, const bool *shared)
{
	for (uint32_t k = 0; k < u->n_inputs; k++)
		if (shared[k])
			return true;
	return false;
}

static bool is_narrow(const struct hir_unit *u, const dtype *types, uint32_t k)
{
	return types[k] != UNKNOWN && types[k] != u->inputs[k].type.elem;
}

static bool any_narrow(const struct hir_unit *u, const dtype *types)
{
	for (uint32_t k = 0; k < u->n_inputs; k++)
		if (is_narrow(u, types, k))
			return true;
	return false;
}

void storage_decide(struct storage *s, struct arena *arena, const struct hir_program *p, dtype *types)
{
	struct analysis a = {.p = p, .types = ARENA_ARRAY(arena, dtype *, p->n_units + 1), .params = types};
	for (uint32_t i = 0; i < p->n_units; i++) {
		map_put(&a.index, p->units[i]->identity, i);
		a.types[i] = ARENA_ARRAY(arena, dtype, p->units[i]->n_inputs + 1);
	}
	do {
		begin(&a);
		visit_units(&a);
	} while (widen_params(&a));
	bool **shared = shared_tables_find(arena, p);
	for (uint32_t i = 0; i < p->n_units; i++) {
		if (any_narrow(p->units[i], a.types[i]))
			map_put(&s->units, p->units[i]->identity, (uint64_t)(uintptr_t)a.types[i]);
		if (any_shared(p->units[i], shared[i]))
			map_put(&s->shared, p->units[i]->identity, (uint64_t)(uintptr_t)shared[i]);
	}
	map_free(&a.index);
}

void storage_free(struct storage *s)
{
	map_free(&s->units);
	map_free(&s->shared);
}

static const dtype *find(const struct storage *s, const struct hir_unit *u)
{
	uint64_t at;
	return s && map_get(&s->units, u->identity, &at) ? (const dtype *)(uintptr_t)at : NULL;
}

static const bool *find_shared_inputs(const struct storage *s, const struct hir_unit *u)
{
	uint64_t at;
	return s && map_get(&s->shared, u->identity, &at) ? (const bool *)(uintptr_t)at : NULL;
}

dtype storage_of(const struct storage *s, const struct hir_unit *u, uint32_t input)
{
	const dtype *types = find(s, u);
	return types && types[input] != UNKNOWN ? types[input] : u->inputs[input].type.elem;
}

uint64_t storage_code(const struct storage *s, const struct hir_unit *u)
{
	const dtype *types = find(s, u);
	const bool *shared = find_shared_inputs(s, u);
	struct hasher *h;
	if (!types && !shared)
		return 0;
	h = hasher_new();
	for (uint32_t k = 0; k < u->n_inputs; k++)
		hasher_add_u64(h, (uint64_t)storage_of(s, u, k) << 1 | (shared && shared[k]));
	return hasher_finish(h).lo;
}

const bool *storage_shared(const struct storage *s, struct arena *a, const struct hir_unit *u)
{
	const bool *shared = find_shared_inputs(s, u);
	bool *of_weights = ARENA_ARRAY(a, bool, u->n_inputs + 1);
	for (uint32_t k = 0, n = 0; shared && k < u->n_inputs; k++)
		if (u->inputs[k].build_time)
			of_weights[n++] = shared[k];
	return shared ? of_weights : NULL;
}

void storage_narrow(const struct storage *s, const struct hir_unit *u, struct ir_fn *f)
{
	struct rewrite w;
	uint32_t number = 0, *input_of = ARENA_ARRAY(f->unit, uint32_t, u->n_inputs + 1);
	if (!find(s, u))
		return;
	for (uint32_t k = 0; k < u->n_inputs; k++)
		if (u->inputs[k].build_time)
			input_of[number++] = k;
	rewrite_begin(&w, f);
	for (ir_ref r = 0; r < w.old.n_insts; r++) {
		ir_ref v = rewrite_copy(&w, r);
		struct hir_type wide = ir_at(f, v)->type;
		if (ir_at(f, v)->op != OP_WEIGHT)
			continue;
		number = ir_number(ir_at(f, v))->number;
		dtype stored = storage_of(s, u, input_of[number]);
		if (stored == wide.elem)
			continue;
		ir_at(f, v)->type.elem = f->weights[number].elem = stored;
		w.map[r] = ir_emit(f, OP_CAST, &wide, &v, 1, ir_at(f, v)->origin);
	}
	rewrite_end(&w);
}
