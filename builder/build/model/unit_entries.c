#include "builder/build/model/unit_entries.h"
#include "base/arena.h"

static const struct hir_node *unit_entries_argument(const struct hir_unit *u, const struct hir_node *call, uint32_t input)
{
	return &u->nodes[u->args[call->args + input].u.tensor];
}

bool unit_entries_has(const struct hir_unit *u, const struct hir_node *call)
{
	if (call->kind != HIR_CALL || call->callee->effects)
		return false;
	for (uint32_t i = 0; i < call->callee->n_inputs; i++) {
		const struct hir_node *from = unit_entries_argument(u, call, i);
		bool is_parameter = from->kind == HIR_INPUT && u->inputs[from->index].build_time;
		if (call->callee->inputs[i].grows || (call->callee->inputs[i].build_time && !is_parameter))
			return false;
	}
	return !call->build_time;
}

static bool calls_any(const struct hir_unit *u)
{
	for (uint32_t i = 0; i < u->n_nodes; i++)
		if (hir_calls(u->nodes[i].kind))
			return true;
	return false;
}

bool unit_entries_expands(const struct hir_unit *callee)
{
	for (uint32_t i = 0; i < callee->n_nodes; i++) {
		const struct hir_node *n = &callee->nodes[i];
		if (unit_entries_has(callee, n) && !n->callee->always_inline && calls_any(n->callee))
			return true;
	}
	return false;
}

/* The parameters of a callee, by those of its caller. */
static uint32_t *params_of_call(struct arena *a, const struct hir_unit *u, const uint32_t *params, const struct hir_node *call)
{
	uint32_t *out = ARENA_ARRAY(a, uint32_t, call->callee->n_inputs + 1);
	for (uint32_t i = 0; i < call->callee->n_inputs; i++)
		out[i] = call->callee->inputs[i].build_time ? params[unit_entries_argument(u, call, i)->index] : HIR_NONE;
	return out;
}

static void add_calls(struct arena *a, struct hir_program *out, const struct hir_unit *u, const uint32_t *params)
{
	for (uint32_t i = 0; i < u->n_nodes && out->n_entries < UNIT_ENTRIES_MOST; i++) {
		const struct hir_node *call = &u->nodes[i];
		if (!unit_entries_has(u, call))
			continue;
		uint32_t *its = params_of_call(a, u, params, call), n = out->n_entries;
		if (unit_entries_expands(call->callee)) {
			add_calls(a, out, call->callee, its);
			continue;
		}
		out->entries[n] = (struct hir_entry){.name = arena_printf(a, "unit_%u", n), .unit = call->callee, .params = its};
		out->n_entries++;
	}
}

struct hir_program *unit_entries_make(struct arena *a, struct hir_program *p, uint32_t entry)
{
	struct hir_program *out = ARENA_ARRAY(a, struct hir_program, 1);
	*out = *p;
	out->entries = ARENA_ARRAY(a, struct hir_entry, UNIT_ENTRIES_MOST);
	out->n_entries = 0;
	add_calls(a, out, p->entries[entry].unit, p->entries[entry].params);
	return out->n_entries ? out : p;
}
