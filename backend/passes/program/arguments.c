/* Values that have one layout are joined in classes (union-find); a class is channels-last if any of its members asks for it. */
#include "backend/passes/program/arguments.h"
#include "backend/passes/program/argument_states.h"
#include "backend/kernels/kernel.h"
#include "backend/target/target.h"
#include "base/arena.h"

enum { CONV_WEIGHT = 1 }; /* an argument of conv2d */

struct analysis {
	struct arguments *known;
	struct arena *scratch;
	struct map links; /* hir_unit.identity → address of a mask of run-time inputs for each output: those of its class */
	const struct target *target;
	const struct hir_unit *u;
	hir_ref *parent;     /* of each node; a root is its own */
	bool *channels_last; /* of roots */
};

static hir_ref root(const struct analysis *a, hir_ref r)
{
	while (a->parent[r] != r)
		r = a->parent[r] = a->parent[a->parent[r]];
	return r;
}

static void ask(const struct analysis *a, hir_ref r) { a->channels_last[root(a, r)] = true; }

static void join(const struct analysis *a, hir_ref x, hir_ref y)
{
	hir_ref from = root(a, x), to = root(a, y);
	a->parent[from] = to;
	a->channels_last[to] |= a->channels_last[from];
}

/* True if a kernel convolves with weights of this type, and its input and result are channels-last. */
static bool has_kernel(const struct target *t, const struct hir_type *weight)
{
	for (enum kernel k = 0; k < KERNEL_COUNT; k++) {
		const struct kernel_stored *o = kernel_info(k)->operands;
		if (kernel_record(k)->op == OP_CONV && kernel_is_of(k, t) && o[0].layout == LAYOUT_CHANNELS_LAST &&
		    kernel_result_layout(k) == LAYOUT_CHANNELS_LAST && ir_layout_fits((enum layout)o[1].layout, weight))
			return true;
	}
	return false;
}

/* True if n convolves with weights that can be packed, in groups or not. */
static bool is_anchor(const struct analysis *a, const struct hir_node *n)
{
	if (n->builtin != BI_CONV2D)
		return false;
	const struct hir_node *weight = &a->u->nodes[a->u->args[n->args + CONV_WEIGHT].u.tensor];
	return weight->build_time && has_kernel(a->target, &weight->type);
}

/* True if the result of n may have the layout of its operand x. */
static bool keeps_channels(const struct hir_node *n, const struct hir_node *x)
{
	const struct hir_type *t = &n->type, *o = &x->type;
	if (t->rank != 4 || o->rank != 4 || x->build_time || !dim_eq(t->dims[0], o->dims[0]))
		return false;
	switch (n->builtin) {
	case BI_MATMUL:
	case BI_ATTENTION:
	case BI_TRANSPOSE:
	case BI_PERMUTE: return false;
	case BI_RESHAPE: return hir_same_shape(t, o);
	case BI_CONCAT:
	case BI_SLICE: return true;
	default: return dim_eq(t->dims[1], o->dims[1]);
	}
}

static void join_operand(const struct analysis *a, hir_ref r, const struct hir_arg *arg)
{
	const struct hir_node *n = &a->u->nodes[r];
	if (arg->kind == ARG_TENSOR && keeps_channels(n, &a->u->nodes[arg->u.tensor]))
		join(a, arg->u.tensor, r);
	for (uint32_t k = 0; arg->kind == ARG_LIST && k < arg->u.list.n; k++)
		join_operand(a, r, &a->u->args[arg->u.list.start + k]);
}

static void visit_builtin(const struct analysis *a, hir_ref r)
{
	const struct hir_node *n = &a->u->nodes[r];
	const struct hir_arg *args = a->u->args + n->args;
	if (is_anchor(a, n)) {
		ask(a, args[0].u.tensor);
		ask(a, r);
		return;
	}
	for (uint32_t k = 0; k < n->n_args; k++)
		join_operand(a, r, &args[k]);
}

static bool is_in(uint32_t mask, uint32_t k) { return k < 32 && (mask >> k & 1); }

/* Joins result `number` of a call with the arguments that the callee joins with it. */
static void join_result(const struct analysis *a, hir_ref r, const struct hir_node *call, uint32_t number)
{
	const struct hir_unit *u = call->callee;
	uint64_t links;
	uint32_t input = 0;
	if (!map_get(&a->links, u->identity, &links))
		return;
	for (uint32_t k = 0; k < call->n_args; k++)
		if (!u->inputs[k].build_time && is_in(((const uint32_t *)(uintptr_t)links)[number], input++))
			join(a, a->u->args[call->args + k].u.tensor, r);
}

static void visit_result(const struct analysis *a, hir_ref r, const struct hir_node *call, uint32_t number)
{
	if (argument_output(arguments_of(a->known, call->callee), number) == LAYOUT_CHANNELS_LAST)
		ask(a, r);
	join_result(a, r, call, number);
}

static void visit_call(const struct analysis *a, hir_ref r)
{
	const struct hir_node *n = &a->u->nodes[r];
	struct argument_layouts l = arguments_of(a->known, n->callee);
	uint32_t number = 0;
	for (uint32_t k = 0; k < n->n_args; k++)
		if (!n->callee->inputs[k].build_time && argument_input(l, number++) == LAYOUT_CHANNELS_LAST)
			ask(a, a->u->args[n->args + k].u.tensor);
	if (n->callee->n_outputs == 1)
		visit_result(a, r, n, 0);
}

static void visit(const struct analysis *a, hir_ref r)
{
	const struct hir_node *n = &a->u->nodes[r], *of = n->kind == HIR_RESULT ? &a->u->nodes[n->source] : NULL;
	if (n->kind == HIR_BUILTIN)
		visit_builtin(a, r);
	else if (n->kind == HIR_CALL)
		visit_call(a, r);
	else if (of && of->kind == HIR_CALL)
		visit_result(a, r, of, n->index);
	else if (of && of->kind == HIR_BUILTIN)
		for (uint32_t k = 0; k < of->n_args; k++)
			join_operand(a, r, &a->u->args[of->args + k]);
}

static void find_classes(const struct analysis *a)
{
	for (hir_ref r = 0; r < a->u->n_nodes; r++) {
		a->parent[r] = r;
		a->channels_last[r] = false;
	}
	for (hir_ref r = 0; r < a->u->n_nodes; r++)
		visit(a, r);
}

/* Returns the mask of those run-time inputs of rank 4 that are in a class; HIR_NONE: in one that is channels-last. */
static uint32_t inputs_in(const struct analysis *a, hir_ref class)
{
	uint32_t mask = 0, number = 0;
	for (uint32_t k = 0; k < a->u->n_inputs && number < 32; k++) {
		hir_ref r = root(a, k);
		if (a->u->inputs[k].build_time)
			continue;
		if (a->u->inputs[k].type.rank == 4 && (class == HIR_NONE ? a->channels_last[r] : r == class))
			mask |= 1u << number;
		number++;
	}
	return mask;
}

static void put_links(struct analysis *a)
{
	const struct hir_unit *u = a->u;
	uint32_t *links = ARENA_ARRAY(a->scratch, uint32_t, u->n_outputs + 1);
	for (uint32_t k = 0; k < u->n_outputs; k++)
		links[k] = inputs_in(a, root(a, u->outputs[k].node));
	map_put(&a->links, u->identity, (uint64_t)(uintptr_t)links);
}

/* What convolutions ask for. */
static void decide_channels(const struct analysis *a, const struct argument_draft *out)
{
	const struct hir_unit *u = a->u;
	uint32_t mask = inputs_in(a, HIR_NONE);
	for (uint32_t k = 0; k < 32 && mask >> k; k++)
		if (mask >> k & 1)
			out->inputs[k] = LAYOUT_CHANNELS_LAST;
	for (uint32_t k = 0; k < u->n_outputs; k++)
		if (u->nodes[u->outputs[k].node].type.rank == 4 && a->channels_last[root(a, u->outputs[k].node)])
			out->outputs[k] = LAYOUT_CHANNELS_LAST;
}

static void put(struct arguments *a, const struct hir_unit *u, struct argument_layouts l)
{
	struct argument_layouts *own = ARENA_NEW(a->memory, struct argument_layouts);
	*own = l;
	map_put(&a->layouts, u->identity, (uint64_t)(uintptr_t)own);
}

static void decide(struct analysis *a, bool is_entry)
{
	const struct hir_unit *u = a->u;
	struct arena *memory = a->known->memory;
	struct argument_draft d = {ARENA_ARRAY(memory, uint8_t, u->n_inputs + 1), ARENA_ARRAY(memory, uint8_t, u->n_outputs + 1),
				   ARENA_ARRAY(memory, uint32_t, u->n_outputs + 1)};
	uint32_t n_inputs = 0;
	for (uint32_t k = 0; k < u->n_inputs; k++)
		if (!u->inputs[k].build_time)
			d.inputs[n_inputs++] = LAYOUT_PLAIN;
	for (uint32_t k = 0; k < u->n_outputs; k++) {
		d.outputs[k] = LAYOUT_PLAIN;
		d.grows[k] = IR_NONE;
	}
	if (!is_entry) {
		find_classes(a);
		put_links(a);
		decide_channels(a, &d);
	}
	arguments_of_states(a->known, u, a->target->in_place, &d);
	put(a->known, u, (struct argument_layouts){n_inputs, u->n_outputs, d.inputs, d.outputs, d.grows});
}

/* Marks what loops and branches call, whose values share buffers: all is plain. */
static void put_plain(struct arguments *a, const struct hir_program *p)
{
	for (uint32_t i = 0; i < p->n_units; i++)
		for (hir_ref r = 0; r < p->units[i]->n_nodes; r++) {
			const struct hir_node *n = &p->units[i]->nodes[r];
			const struct hir_unit *called[] = {n->kind == HIR_IF || n->kind == HIR_LOOP ? n->callee : NULL,
							   n->kind == HIR_IF ? n->other : NULL};
			for (uint32_t k = 0; k < 2; k++)
				if (called[k])
					put(a, called[k], (struct argument_layouts){0});
		}
}

static bool is_entry(const struct hir_program *p, const struct hir_unit *u)
{
	for (uint32_t k = 0; k < p->n_entries; k++)
		if (p->entries[k].unit == u)
			return true;
	return false;
}

static uint32_t most_nodes(const struct hir_program *p)
{
	uint32_t most = 0;
	for (uint32_t i = 0; i < p->n_units; i++)
		most = p->units[i]->n_nodes > most ? p->units[i]->n_nodes : most;
	return most;
}

void arguments_decide(struct arguments *a, const struct target *t, const struct hir_program *p)
{
	struct arena *scratch = arena_new(0);
	uint32_t n = most_nodes(p) + 1;
	struct analysis s = {.known = a,
			     .scratch = scratch,
			     .target = t,
			     .parent = ARENA_ARRAY(scratch, hir_ref, n),
			     .channels_last = ARENA_ARRAY(scratch, bool, n)};
	a->memory = arena_new(0);
	put_plain(a, p);
	for (uint32_t i = 0; i < p->n_units; i++) {
		s.u = p->units[i];
		if (!map_get(&a->layouts, s.u->identity, NULL))
			decide(&s, is_entry(p, s.u));
	}
	map_free(&s.links);
	arena_free(scratch);
}

void arguments_free(struct arguments *a)
{
	map_free(&a->layouts);
	arena_free(a->memory);
}

struct argument_layouts arguments_of(const struct arguments *a, const struct hir_unit *u)
{
	uint64_t at;
	return a && map_get(&a->layouts, u->identity, &at) ? *(const struct argument_layouts *)(uintptr_t)at : (struct argument_layouts){0};
}

uint64_t argument_layouts_code(struct argument_layouts l)
{
	bool plain = true;
	struct hasher *h = hasher_new();
	hasher_add(h, l.inputs, l.n_inputs);
	hasher_add(h, l.outputs, l.n_outputs);
	for (uint32_t k = 0; k < l.n_inputs; k++)
		plain = plain && l.inputs[k] == LAYOUT_PLAIN;
	for (uint32_t k = 0; k < l.n_outputs; k++) {
		plain = plain && l.outputs[k] == LAYOUT_PLAIN && l.grows[k] == IR_NONE;
		hasher_add_u64(h, l.grows[k]);
	}
	hash128 all = hasher_finish(h);
	return plain ? 0 : all.lo | 1;
}
