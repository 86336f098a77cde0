/* How units read tables is found callees first, which tables are shared callers first. */
#include "backend/passes/program/shared_tables.h"
#include "base/arena.h"
#include "base/map.h"
#include "frontend/hir/hir.h"

enum { ROWS = 1, COLUMNS = 2 }; /* how a table is read */

struct analysis {
	const struct hir_program *p;
	struct map index; /* hir_unit.identity → index of the unit */
	uint8_t **uses;   /* for each unit and input: ROWS, COLUMNS */
	bool **shared;    /* the same */
};

static uint64_t unit_index(const struct analysis *a, const struct hir_unit *u)
{
	uint64_t i = 0;
	map_get(&a->index, u->identity, &i);
	return i;
}

/* Returns the build-time input that a node has the elements of; HIR_NONE: none. Toggles *transposed. */
static uint32_t table_of(const struct hir_unit *u, hir_ref r, bool *transposed)
{
	const struct hir_node *n = &u->nodes[r];
	for (; n->kind == HIR_BUILTIN && n->type.rank == 2 && (n->builtin == BI_CAST || n->builtin == BI_TRANSPOSE); n = &u->nodes[r]) {
		*transposed ^= n->builtin == BI_TRANSPOSE;
		r = u->args[n->args].u.tensor;
	}
	return n->kind == HIR_INPUT && n->build_time && n->type.rank == 2 ? n->index : HIR_NONE;
}

static void use_table(const struct hir_unit *u, uint8_t *uses, hir_ref table, uint8_t of_rows, uint8_t of_columns)
{
	bool transposed = false;
	uint32_t input = table_of(u, table, &transposed);
	if (input != HIR_NONE)
		uses[input] |= transposed ? of_columns : of_rows;
}

static void find_uses(const struct analysis *a, const struct hir_unit *u, uint8_t *uses)
{
	for (hir_ref r = 0; r < u->n_nodes; r++) {
		const struct hir_node *n = &u->nodes[r];
		const struct hir_arg *args = u->args + n->args;
		if (n->kind == HIR_BUILTIN && n->builtin == BI_EMBEDDING)
			use_table(u, uses, args[1].u.tensor, ROWS, 0);
		if (n->kind == HIR_BUILTIN && n->builtin == BI_MATMUL)
			use_table(u, uses, args[1].u.tensor, 0, COLUMNS);
		for (uint32_t k = 0; n->kind == HIR_CALL && k < n->n_args; k++) {
			uint8_t inner = a->uses[unit_index(a, n->callee)][k];
			use_table(u, uses, args[k].u.tensor, inner, 0);
		}
	}
}

/* All callers must pass a shared table. */
static void share_arguments(const struct analysis *a, const struct hir_unit *u)
{
	for (hir_ref r = 0; r < u->n_nodes; r++) {
		const struct hir_node *n = &u->nodes[r];
		for (uint32_t k = 0; n->kind == HIR_CALL && k < n->n_args; k++) {
			const struct hir_node *from = &u->nodes[u->args[n->args + k].u.tensor];
			bool is_input = from->kind == HIR_INPUT && from->build_time;
			a->shared[unit_index(a, n->callee)][k] &= is_input && a->shared[unit_index(a, u)][from->index];
		}
	}
}

static void share_params(const struct analysis *a, struct arena *arena)
{
	const struct hir_program *p = a->p;
	uint8_t *uses = ARENA_ARRAY(arena, uint8_t, p->n_params + 1);
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < p->n_entries; i++)
			for (uint32_t k = 0; k < p->entries[i].unit->n_inputs; k++) {
				const struct hir_entry *e = &p->entries[i];
				uint64_t unit = unit_index(a, e->unit);
				bool is_param = e->params[k] != HIR_NONE;
				if (round == 0 && is_param)
					uses[e->params[k]] |= a->uses[unit][k];
				if (round == 1)
					a->shared[unit][k] &= is_param && uses[e->params[k]] == (ROWS | COLUMNS);
			}
}

bool **shared_tables_find(struct arena *arena, const struct hir_program *p)
{
	struct analysis all = {
		.p = p, .uses = ARENA_ARRAY(arena, uint8_t *, p->n_units + 1), .shared = ARENA_ARRAY(arena, bool *, p->n_units + 1)};
	const struct analysis *a = &all;
	for (uint32_t i = 0; i < p->n_units; i++)
		map_put(&all.index, p->units[i]->identity, i);
	for (uint32_t i = 0; i < a->p->n_units; i++) {
		uint32_t n = a->p->units[i]->n_inputs;
		a->uses[i] = ARENA_ARRAY(arena, uint8_t, n + 1);
		a->shared[i] = ARENA_ARRAY(arena, bool, n + 1);
		find_uses(a, a->p->units[i], a->uses[i]);
		for (uint32_t k = 0; k < n; k++)
			a->shared[i][k] = a->uses[i][k] != 0;
	}
	share_params(a, arena);
	for (uint32_t i = a->p->n_units; i-- > 0;)
		share_arguments(a, a->p->units[i]);
	map_free(&all.index);
	return all.shared;
}
