/* Which nodes are statements, and how long a variable is needed. A node is a statement if the source names it, if it is used several times, or if it
 * has effects; any other is a part of the statement that uses it. */
#include "backend/pytorch/expr.h"
#include "frontend/hir/hir.h"

const struct hir_arg *shown_args(const struct body *b, hir_ref r, uint32_t *n)
{
	const struct hir_node *node = &b->u->nodes[r];
	bool written = is_written(b, node);
	*n = written ? node->n_written : node->n_args;
	return b->u->args + (written ? node->written_args : node->args);
}

bool is_passed(const struct hir_unit *callee, uint32_t input) { return !callee->inputs[input].param && !callee->inputs[input].state; }

uint32_t returned_outputs(const struct hir_unit *callee)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < callee->n_outputs; i++)
		n += !callee->outputs[i].state_only;
	return n;
}

typedef void visit_fn(struct body *b, hir_ref operand, hir_ref reader);

static void each_tensor(struct body *b, const struct hir_arg *x, hir_ref reader, visit_fn *f)
{
	if (x->kind == ARG_TENSOR)
		f(b, x->u.tensor, reader);
	for (uint32_t i = 0; x->kind == ARG_LIST && i < x->u.list.n; i++)
		each_tensor(b, &b->u->args[x->u.list.start + i], reader, f);
}

/* True for an argument of a call whose text it shows. */
static bool uses_is_shown(const struct hir_node *n, uint32_t i)
{
	uint32_t lead = n->kind == HIR_IF || n->kind == HIR_LOOP;
	if (!hir_calls(n->kind) || i < lead)
		return true;
	i -= lead;
	if (n->other && i >= n->callee->n_inputs)
		return is_passed(n->other, i - n->callee->n_inputs);
	return is_passed(n->callee, i);
}

bool is_state_result(const struct body *b, const struct hir_node *n)
{
	const struct hir_node *s = n->kind == HIR_RESULT ? &b->u->nodes[n->source] : NULL;
	return s && hir_calls(s->kind) && s->kind != HIR_LOOP && s->callee->outputs[n->index].state_only;
}

/* Calls f for each operand that the text of node r shows. */
static void each_operand(struct body *b, hir_ref r, hir_ref reader, visit_fn *f)
{
	const struct hir_node *n = &b->u->nodes[r];
	uint32_t count;
	const struct hir_arg *args = shown_args(b, r, &count);
	if (n->kind == HIR_RESULT && !is_state_result(b, n))
		f(b, n->source, reader);
	for (uint32_t i = 0; i < count; i++)
		if (uses_is_shown(n, i))
			each_tensor(b, &args[i], reader, f);
}

static void add_use(struct body *b, hir_ref r, hir_ref reader)
{
	(void)reader;
	b->uses[r]++;
}

bool changes_states(const struct hir_unit *u)
{
	for (uint32_t i = 0; i < u->n_outputs; i++)
		if (u->outputs[i].state)
			return true;
	return false;
}

static bool takes_states(const struct hir_node *n)
{
	for (uint32_t i = 0; n->kind == HIR_CALL && i < n->callee->n_inputs; i++)
		if (n->callee->inputs[i].state)
			return true;
	return false;
}

/* A call that reads states happens where it is written, too: others may change them. */
static bool has_effect(const struct hir_node *n)
{
	return hir_has_effect(n) || takes_states(n) || (hir_calls(n->kind) && changes_states(n->callee));
}

bool is_tuple(const struct body *b, hir_ref r)
{
	const struct hir_node *n = &b->u->nodes[r];
	if (n->kind == HIR_LOOP)
		return true;
	if (hir_calls(n->kind))
		return returned_outputs(n->callee) > 1;
	return n->kind == HIR_BUILTIN && b->is_source[r];
}

bool is_tuple_result(const struct body *b, hir_ref r)
{
	const struct hir_node *n = &b->u->nodes[r];
	return n->kind == HIR_RESULT && is_tuple(b, n->source) && !is_state_result(b, n);
}

/* True for the new value of a state that the call of its layer assigns. */
static bool is_set_by_callee(const struct body *b, hir_ref r)
{
	const struct hir_node *n = &b->u->nodes[r], *s = n->kind == HIR_RESULT ? &b->u->nodes[n->source] : NULL;
	return s && s->kind == HIR_CALL && s->callee->outputs[n->index].state;
}

void count_uses(struct body *b)
{
	const struct hir_unit *u = b->u;
	for (hir_ref r = 0; r < u->n_nodes; r++)
		if (u->nodes[r].kind == HIR_RESULT)
			b->is_source[u->nodes[r].source] = true;
	for (uint32_t i = 0; i < u->n_outputs; i++) /* a new state is assigned, and may be returned */
		if (!(u->outputs[i].state_only && is_set_by_callee(b, u->outputs[i].node)))
			b->uses[u->outputs[i].node] += u->outputs[i].state ? 2 : 1;
	for (hir_ref r = u->n_nodes; r-- > 0;) {
		if (has_effect(&u->nodes[r]))
			b->uses[r] += b->uses[r] == 0;
		if (b->uses[r])
			each_operand(b, r, r, add_use);
	}
}

/* ---- places ---- */

static void set_last(struct body *b, hir_ref r, hir_ref statement)
{
	if (b->last[r] < statement)
		b->last[r] = statement;
}

bool is_leaf(const struct hir_node *n) { return n->kind == HIR_INPUT || n->kind == HIR_CONST || n->kind == HIR_DIM; }

static bool is_size_source(const struct body *b, hir_ref r)
{
	for (uint32_t s = 0; s < dims_syms(b->u->dims); s++)
		if (b->sizes[s] && b->size_of[s] == r)
			return true;
	return false;
}

bool needs_statement(const struct body *b, hir_ref r)
{
	const struct hir_node *n = &b->u->nodes[r];
	if (is_leaf(n) || !b->uses[r])
		return false;
	if (is_state_result(b, n))
		return true; /* a later call may change the state */
	if (is_tuple(b, r) || is_tuple_result(b, r) || has_effect(n) || n->kind == HIR_IF)
		return true;
	if (n->kind == HIR_RESULT && has_effect(&b->u->nodes[n->source]))
		return false;
	return n->name || b->uses[r] > 1 || is_size_source(b, r);
}

void find_last_uses(struct body *b)
{
	const struct hir_unit *u = b->u;
	for (hir_ref r = 0; r < u->n_nodes; r++)
		b->last[r] = b->place[r] = r;
	for (uint32_t i = 0; i < u->n_outputs; i++)
		b->last[u->outputs[i].node] = u->n_nodes;
	for (hir_ref r = u->n_nodes; r-- > 0;) {
		if (!b->uses[r])
			continue;
		const struct hir_node *n = &u->nodes[r];
		bool part = !needs_statement(b, r);
		b->place[r] = part ? b->last[r] : r;
		hir_ref reads = n->kind == HIR_LOOP ? r + 1 : b->place[r]; /* each turn of a loop reads what it captured */
		each_operand(b, r, reads, set_last);
	}
}
