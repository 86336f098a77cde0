/* Calls against their callees. Both functions are sound by themselves. */
#include "backend/loops/ir/grow.h"
#include "backend/loops/verify/verify_state.h"

/* The buffer of argument k of a function: of an input, or of an output. NULL: an input that it does not read. */
static const struct loop_buffer *verify_calls_argument(const struct loop_fn *f, uint32_t k)
{
	enum buffer_kind kind = k < f->n_inputs ? BUFFER_INPUT : BUFFER_OUTPUT;
	uint32_t index = k < f->n_inputs ? k : k - f->n_inputs;
	for (uint32_t i = 0; i < f->n_buffers; i++)
		if (f->buffers[i].kind == kind && f->buffers[i].index == index)
			return &f->buffers[i];
	return NULL;
}

/* The callee's output b grows an input; so does its argument k the one that is passed for that. */
static bool same_growth(const struct verifier *v, const struct loop_call *c, const struct loop_fn *callee, const struct loop_buffer *b,
			uint32_t k)
{
	const struct loop_buffer *root = &callee->buffers[loops_root(callee, (uint32_t)(b - callee->buffers))];
	return root->kind == BUFFER_INPUT && v->f->buffers[c->buffers[k]].grows == c->buffers[root->index];
}

static bool verify_calls_check_call(const struct verifier *v, const struct loop_call *c, const struct loop_fn *callee)
{
	if (!callee)
		return verify_fail(v, "a call of a unit that does not exist", 0);
	if (c->n_inputs != callee->n_inputs || c->n_buffers - c->n_inputs != callee->n_outputs || c->n_dims != dims_syms(callee->dims))
		return verify_fail(v, "a call with other arguments than the callee has", c->n_buffers);
	if ((c->slot == LOOP_NONE) && callee->n_slots)
		return verify_fail(v, "a call without a weight table", callee->n_slots);
	for (uint32_t k = 0; k < c->n_buffers; k++) {
		const struct loop_buffer *b = verify_calls_argument(callee, k);
		if (b && b->type.elem != v->f->buffers[c->buffers[k]].type.elem)
			return verify_fail(v, "an argument with another element type", k);
		if (b && b->layout != v->f->buffers[c->buffers[k]].layout)
			return verify_fail(v, "an argument with another layout", k);
		if (b && b->kind == BUFFER_OUTPUT && b->grows != LOOP_NONE && !same_growth(v, c, callee, b, k))
			return verify_fail(v, "a call without memory that the callee grows", k);
	}
	return true;
}

bool loops_verify_calls(const struct loop_fn *f, loop_find_fn *find, void *ctx, struct buf *why)
{
	struct verifier v = {.f = f, .why = why};
	for (; v.stmt < f->n_stmts; v.stmt++) {
		uint32_t n;
		const struct loop_call *calls = loop_stmt_calls(&f->stmts[v.stmt], &n);
		for (uint32_t k = 0; k < n; k++)
			if (!verify_calls_check_call(&v, &calls[k], find(ctx, calls[k].callee)))
				return false;
	}
	return true;
}
