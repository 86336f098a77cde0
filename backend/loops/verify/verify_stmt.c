/* Statements other than nests. */
#include "backend/loops/verify/verify_state.h"
#include "backend/runtime/kernels/kernel.h"
#include "backend/kernels/kernel.h"
#include "base/format.h"

static bool check_buffers(const struct verifier *v, const uint32_t *buffers, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++)
		if (buffers[k] >= v->f->n_buffers)
			return verify_fail(v, "an argument is not a buffer", k);
		else if (v->f->buffers[buffers[k]].scope != SCOPE_GLOBAL)
			return verify_fail(v, "a buffer of a block outside of it", k);
	return true;
}

static const struct loop_buffer *buffer(const struct verifier *v, uint32_t k) { return &v->f->buffers[k]; }

static bool is_writable(const struct verifier *v, uint32_t k)
{
	return buffer(v, k)->kind == BUFFER_TEMP || buffer(v, k)->kind == BUFFER_OUTPUT;
}

/* ---- kernels ---- */

/* Rows are inside of the buffer. */
static bool check_reach(const struct verifier *v, const struct loop_kernel *x, const struct kernel_operand *o, uint32_t at, int64_t have,
			int64_t want)
{
	int64_t dims[KERNEL_FIELDS];
	for (uint32_t k = 0; k < kernel_record(x->kernel)->n_fields; k++)
		if (!verify_const(v, x->dims[k], &dims[k]))
			return true;
	return !o->step[0] || kernel_reach(o, dims, want) <= have || verify_fail(v, "rows outside of an operand", at);
}

static bool check_operand(const struct verifier *v, const struct loop_kernel *x, uint32_t at)
{
	const struct loop_buffer *b = buffer(v, x->buffers[at]);
	const struct kernel_operand *o = kernel_operand(x->kernel, loop_kernel_at(x, at));
	dtype elem = kernel_buffer_elem(x->kernel, loop_kernel_at(x, at), v->f->dims, x->dims);
	int64_t have, want;
	if (!kernel_takes_layout(x->kernel, loop_kernel_at(x, at), b->layout, b->type.rank))
		return verify_fail(v, "an operand of a kernel has another layout", at);
	if (b->type.elem != (elem == DT_COUNT ? buffer(v, x->buffers[0])->type.elem : elem) || (o->step[0] && elem == DT_BOOL))
		return verify_fail(v, "an operand of a kernel has another element type", at);
	if (o->written && !is_writable(v, x->buffers[at]))
		return verify_fail(v, "a kernel writes memory that is only read", at);
	if (!verify_count(v, &b->type, &have) || !kernel_shape_size(&o->size, v->f->dims, x->dims, &want))
		return true;
	if (have * (o->bytes ? (int64_t)dtype_size(b->type.elem) : 1) != want)
		return verify_fail(v, "an operand of a kernel has another size", at);
	return check_reach(v, x, o, at, have, want);
}

/* The printers call a prologue or an epilogue for a tile of any size. */
static bool check_tile_nest(const struct verifier *v, const struct loop_nest *n, bool rows)
{
	for (uint32_t k = 0; k < n->n_exprs; k++)
		if (n->exprs[k].kind == LOOP_INDEX || n->exprs[k].kind == LOOP_CHECK)
			return verify_fail(v, "an index in a prologue or epilogue", k);
	for (uint32_t k = 0; k < n->schedule.n_axes; k++)
		if (n->schedule.axes[k].kind == AXIS_VECTOR &&
		    ((n->schedule.axes[k].of != TILE_COLUMN && (!rows || n->schedule.axes[k].of != TILE_ROW)) ||
		     (n->schedule.tail != TAIL_SCALAR && n->schedule.tail != TAIL_REST)))
			return verify_fail(
				v, "the vector of a prologue is not in its columns, or that of an epilogue not in rows or columns", k);
	return true;
}

/* A kernel asks for parts of its operand, a matrix, by row and column. */
static bool check_prologue(const struct verifier *v, const struct loop_kernel *x)
{
	const struct loop_nest *n = x->prologue;
	const struct matmul_dims *d = (const void *)x->dims;
	int64_t batch, columns;
	if (!kernel_info(x->kernel)->prologue || n->n_parallel != TILE_AXES || n->n_reduce || n->n_reductions || n->n_stores || !n->n_exprs)
		return verify_fail(v, "bad prologue", (uint32_t)x->kernel);
	if (n->exprs[n->n_exprs - 1].elem != kernel_buffer_elem(x->kernel, 0, v->f->dims, x->dims) || n->exprs[n->n_exprs - 1].in_reduction)
		return verify_fail(v, "a prologue computes another element type", (uint32_t)x->kernel);
	if (!verify_const(v, n->extent[0], &batch) || batch != 1 || !dim_eq(n->extent[1], d->M) || !dim_eq(n->extent[2], d->K))
		return verify_fail(v, "a prologue for an operand of another size", (uint32_t)x->kernel);
	if (!verify_const(v, d->K, &columns) || columns > TRI_PROLOGUE_MOST)
		return verify_fail(v, "a prologue for rows that are too long", (uint32_t)x->kernel);
	return check_tile_nest(v, n, false) && verify_nest(v, n);
}

static bool check_epilogue(const struct verifier *v, const struct loop_kernel *x)
{
	const struct loop_nest *n = x->epilogue;
	uint32_t last = kernel_buffer_count(x->kernel) - 1;
	struct verifier inner = *v;
	struct hir_type space = {.rank = TILE_AXES};
	int64_t have, want;
	if (!kernel_takes_epilogue(x->kernel) || n->n_parallel != TILE_AXES || n->n_reduce || n->n_reductions)
		return verify_fail(v, "bad epilogue", (uint32_t)x->kernel);
	if (!check_tile_nest(v, n, true))
		return false;
	for (uint32_t k = 0; k < TILE_AXES; k++)
		space.dims[k] = n->extent[k];
	if (verify_count(v, &space, &have) && kernel_shape_size(&kernel_operand(x->kernel, last)->size, v->f->dims, x->dims, &want) &&
	    have != want)
		return verify_fail(v, "an epilogue for a result of another size", x->n_buffers);
	inner.tile = kernel_buffer_elem(x->kernel, last, v->f->dims, x->dims);
	return verify_nest(&inner, n);
}

bool verify_kernel(const struct verifier *v, const struct loop_kernel *x)
{
	uint32_t field;
	if (x->kernel >= KERNEL_COUNT)
		return verify_fail(v, "no such kernel", (uint32_t)x->kernel);
	if (x->n_buffers + (x->prologue != NULL) + (x->epilogue != NULL) != kernel_buffer_count(x->kernel))
		return verify_fail(v, "wrong number of arguments of a kernel", x->n_buffers);
	const char *fault = kernel_fault(kernel_record(x->kernel), kernel_info(x->kernel)->fits, v->f->dims, x->dims, &field);
	if (fault)
		return verify_fail(v, fault, field);
	if (!check_buffers(v, x->buffers, x->n_buffers))
		return false;
	for (uint32_t k = 0; k < x->n_buffers; k++)
		if (!check_operand(v, x, k))
			return false;
	return (!x->prologue || check_prologue(v, x)) && (!x->epilogue || check_epilogue(v, x));
}

/* ---- calls ---- */

bool verify_call(const struct verifier *v, const struct loop_call *c)
{
	if (!c->callee || !*c->callee)
		return verify_fail(v, "a call without a callee", 0);
	if (c->n_inputs > c->n_buffers || !check_buffers(v, c->buffers, c->n_buffers))
		return verify_fail(v, "bad arguments of a call", c->n_inputs);
	if (c->slot != LOOP_NONE && c->slot >= v->f->n_slots)
		return verify_fail(v, "a call with a weight table that does not exist", c->slot);
	for (uint32_t k = 0; k < c->n_buffers; k++) {
		if (ir_layout_is_packed(buffer(v, c->buffers[k])->layout))
			return verify_fail(v, "a packed argument of a call", k);
		if (k >= c->n_inputs && !is_writable(v, c->buffers[k]))
			return verify_fail(v, "a call writes memory that is only read", k);
	}
	return true;
}

static bool check_condition(const struct verifier *v, uint32_t k)
{
	if (!check_buffers(v, &k, 1))
		return false;
	const struct loop_buffer *b = buffer(v, k);
	int64_t count;
	return (b->type.elem == DT_BOOL && verify_count(v, &b->type, &count) && count == 1) || verify_fail(v, "a condition is one bool", k);
}

bool verify_branch(const struct verifier *v, const struct loop_branch *b)
{
	const struct loop_call *yes = &b->calls[0], *no = &b->calls[1];
	uint32_t n = yes->n_buffers - yes->n_inputs;
	if (!check_condition(v, b->condition) || !verify_call(v, yes) || !verify_call(v, no))
		return false;
	if (n != no->n_buffers - no->n_inputs)
		return verify_fail(v, "the calls of an if have other results", n);
	for (uint32_t k = 0; k < n; k++)
		if (yes->buffers[yes->n_inputs + k] != no->buffers[no->n_inputs + k])
			return verify_fail(v, "the calls of an if write other buffers", k);
	return true;
}

/* True if one buffer can hold the other's elements: a reshape shares the buffer, so their shapes may differ. */
static bool same_elements(const struct verifier *v, uint32_t a, uint32_t b)
{
	const struct loop_buffer *x = buffer(v, a), *y = buffer(v, b);
	int64_t n = -1, m = -1;
	bool known = verify_count(v, &x->type, &n) && verify_count(v, &y->type, &m);
	return x->type.elem == y->type.elem && x->layout == y->layout && (!known || n == m);
}

/* The body writes the next condition, then the carried values. */
bool verify_loop(const struct verifier *v, const struct loop_iterate *l)
{
	const struct loop_call *body = &l->body;
	uint32_t n = l->n_carried, first = body->n_buffers - n;
	if (!check_condition(v, l->condition) || !verify_call(v, body) || !check_buffers(v, l->initial, n))
		return false;
	if (body->n_inputs < n || body->n_buffers != body->n_inputs + n + 1)
		return verify_fail(v, "wrong number of arguments of the body of a loop", body->n_buffers);
	if (!check_condition(v, body->buffers[first - 1]))
		return false;
	for (uint32_t k = 0; k < n; k++) {
		if (!same_elements(v, l->initial[k], body->buffers[k]) || !same_elements(v, body->buffers[first + k], body->buffers[k]))
			return verify_fail(v, "a carried value changes its type", k);
		if (!is_writable(v, body->buffers[k]) || ir_layout_is_packed(buffer(v, l->initial[k])->layout))
			return verify_fail(v, "a carried value in memory that is only read", k);
	}
	return true;
}

/* ---- effects ---- */

static bool verify_stmt_check_value(const struct verifier *v, const struct loop_effect *e, uint32_t at, const dim *dims)
{
	const struct loop_buffer *b = buffer(v, e->buffers[at]);
	struct hir_type t = {.elem = (dtype)(e->kinds[at] >> 4), .rank = e->kinds[at] & 15u};
	int64_t have, want;
	for (uint32_t k = 0; k < t.rank && k < HIR_MAX_RANK; k++)
		t.dims[k] = dims[k];
	if (t.elem != b->type.elem || b->layout != LAYOUT_PLAIN)
		return verify_fail(v, "a printed value has another type", at);
	if (!verify_count(v, &t, &want) || !verify_count(v, &b->type, &have))
		return true;
	return have == want || verify_fail(v, "a printed value has another size", at);
}

bool verify_effect(const struct verifier *v, const struct loop_effect *e)
{
	uint32_t at = 0;
	if (!e->text || !check_buffers(v, e->buffers, e->n_buffers))
		return verify_fail(v, "an effect without a text or value", 0);
	if (format_placeholders(e->text) != (int)(e->n_buffers - (e->where != NULL)))
		return verify_fail(v, "the text of an effect is for another number of values", e->n_buffers);
	for (uint32_t k = 0; k < e->n_buffers; k++) {
		uint32_t rank = e->kinds[k] & 15u;
		if (rank > HIR_MAX_RANK || rank > e->n_dims - at)
			return verify_fail(v, "wrong number of sizes of printed values", k);
		if (!verify_stmt_check_value(v, e, k, e->dims + at))
			return false;
		at += rank;
	}
	return (at == e->n_dims && (!e->where || (e->n_buffers && check_condition(v, e->buffers[0])))) ||
	       verify_fail(v, "wrong values of an effect", e->n_buffers);
}
