/* Statements other than nests. */
#include "backend/loops/ir/kernel_shape.h"
#include "backend/loops/verify/verify_state.h"
#include "backend/runtime/kernels/attention.h"
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

/* The size that the kernel expects of an operand. False: it is not constant. */
static bool expected_size(const struct verifier *v, const struct loop_kernel *x, const struct kernel_operand *o, int64_t *size)
{
	int64_t n;
	*size = 1;
	for (uint32_t k = 0; k < x->n_dims; k++)
		if ((o->dims >> k & 1) && (!verify_const(v, x->dims[k], &n) || __builtin_mul_overflow(*size, n, size)))
			return false;
	return true;
}

/* Rows are inside of the buffer. */
static bool check_reach(const struct verifier *v, const struct loop_kernel *x, const struct kernel_operand *o, uint32_t at, int64_t have,
			int64_t want)
{
	int64_t dims[KERNEL_DIMS];
	for (uint32_t k = 0; k < x->n_dims && k < KERNEL_DIMS; k++)
		if (!verify_const(v, x->dims[k], &dims[k]))
			return true;
	return !o->strides || kernel_operand_reach(o, dims, want) <= have || verify_fail(v, "rows outside of an operand", at);
}

static bool check_operand(const struct verifier *v, const struct loop_kernel *x, const struct kernel_operand *o, uint32_t at)
{
	const struct loop_buffer *b = buffer(v, x->buffers[at]);
	int64_t have, want, type = 0;
	if (o->type && (!verify_const(v, x->dims[o->type], &type) || (o->strides && type == TRI_ATTENTION_BOOL)))
		return verify_fail(v, "the type of keys, values and masks must be known", at);
	dtype elem = kernel_operand_elem(o, type);
	if (b->type.elem != (elem == DT_COUNT ? buffer(v, x->buffers[0])->type.elem : elem))
		return verify_fail(v, "an operand of a kernel has another element type", at);
	if (o->written && !is_writable(v, x->buffers[at]))
		return verify_fail(v, "a kernel writes memory that is only read", at);
	if (!verify_count(v, &b->type, &have) || !expected_size(v, x, o, &want))
		return true;
	if (have * (o->bytes ? (int64_t)dtype_size(b->type.elem) : 1) != want)
		return verify_fail(v, "an operand of a kernel has another size", at);
	return check_reach(v, x, o, at, have, want);
}

/* Operands and the result have the layouts that the kernel wants; workspace is plain. `at`: the operand in buffer k. */
static bool check_layout(const struct verifier *v, const struct loop_kernel *x, uint32_t k)
{
	const struct kernel_info *info = kernel_info(x->kernel);
	const struct loop_buffer *b = buffer(v, x->buffers[k]);
	uint32_t at = kernel_operand_at(x, k);
	bool takes = at + 1 == info->n_buffers ? kernel_makes_layout(x->kernel, b->layout)
					       : kernel_takes_layout(x->kernel, at, b->layout, b->type.rank);
	return takes || verify_fail(v, "an operand of a kernel has another layout", at);
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
static bool check_prologue(const struct verifier *v, const struct loop_kernel *x, const struct kernel_operand *o)
{
	const struct loop_nest *n = x->prologue;
	int64_t batch, columns;
	if (!kernel_info(x->kernel)->prologue || !o || n->n_parallel != TILE_AXES || n->n_reduce || n->n_reductions || n->n_stores ||
	    !n->n_exprs)
		return verify_fail(v, "bad prologue", (uint32_t)x->kernel);
	if (n->exprs[n->n_exprs - 1].elem != o->elem || n->exprs[n->n_exprs - 1].in_reduction)
		return verify_fail(v, "a prologue computes another element type", (uint32_t)x->kernel);
	if (!verify_const(v, n->extent[0], &batch) || batch != 1 || !dim_eq(n->extent[1], x->dims[0]) || !dim_eq(n->extent[2], x->dims[1]))
		return verify_fail(v, "a prologue for an operand of another size", (uint32_t)x->kernel);
	if (!verify_const(v, x->dims[1], &columns) || columns > TRI_PROLOGUE_MOST)
		return verify_fail(v, "a prologue for rows that are too long", (uint32_t)x->kernel);
	return check_tile_nest(v, n, false) && verify_nest(v, n);
}

static bool check_epilogue(const struct verifier *v, const struct loop_kernel *x, const struct kernel_operand *o)
{
	const struct loop_nest *n = x->epilogue;
	struct verifier inner = *v;
	struct hir_type space = {.rank = TILE_AXES};
	int64_t have, want;
	if (!kernel_info(x->kernel)->epilogue || !o || n->n_parallel != TILE_AXES || n->n_reduce || n->n_reductions)
		return verify_fail(v, "bad epilogue", (uint32_t)x->kernel);
	if (!check_tile_nest(v, n, true))
		return false;
	for (uint32_t k = 0; k < TILE_AXES; k++)
		space.dims[k] = n->extent[k];
	if (verify_count(v, &space, &have) && expected_size(v, x, o, &want) && have != want)
		return verify_fail(v, "an epilogue for a result of another size", x->n_buffers);
	inner.tile = o->elem;
	return verify_nest(&inner, n);
}

/* The first dim of the sizes of the mask; 0: an attention without a mask. */
static uint32_t mask_dims(enum kernel k)
{
	return k == KERNEL_ATTENTION_MASK_F32  ? TRI_ATTENTION_DIMS
	       : k == KERNEL_ATTENTION_MASK_I8 ? TRI_ATTENTION_DIMS + TRI_ATTENTION_SCALE_DIMS
					       : 0;
}

/* Heads share keys and values evenly, and a mask has the sizes of the scores or 1 in their place. */
static bool check_attention(const struct verifier *v, const struct loop_kernel *x)
{
	static const uint32_t scores[] = {0, 1, 3, 4}; /* batch, heads, queries, keys */
	int64_t heads, own, size;
	uint32_t mask = mask_dims(x->kernel);
	if (kernel_info(x->kernel)->op != OP_ATTENTION)
		return true;
	if (!dim_eq(x->dims[1], x->dims[2]) &&
	    (!verify_const(v, x->dims[1], &heads) || !verify_const(v, x->dims[2], &own) || own < 1 || heads % own))
		return verify_fail(v, "heads of queries that do not share keys and values evenly", (uint32_t)x->kernel);
	for (uint32_t k = 5; k < 7; k++)
		if (!verify_const(v, x->dims[k], &size) || size > TRI_ATTENTION_MOST)
			return verify_fail(v, "a head with too many features or values", k);
	for (uint32_t k = 0; mask && k < 4; k++)
		if (!dim_eq(x->dims[mask + k], x->dims[scores[k]]) && (!verify_const(v, x->dims[mask + k], &size) || size != 1))
			return verify_fail(v, "a mask of another size than the scores", mask + k);
	return true;
}

bool verify_kernel(const struct verifier *v, const struct loop_kernel *x)
{
	if (x->kernel >= KERNEL_COUNT)
		return verify_fail(v, "no such kernel", (uint32_t)x->kernel);
	const struct kernel_info *info = kernel_info(x->kernel);
	const struct kernel_operand *o = kernel_operands(x->kernel);
	if (x->n_buffers + (x->prologue != NULL) + (x->epilogue != NULL) != info->n_buffers || x->n_dims != info->n_dims)
		return verify_fail(v, "wrong number of arguments of a kernel", x->n_buffers);
	if (!check_buffers(v, x->buffers, x->n_buffers))
		return false;
	for (uint32_t k = 0; k < x->n_buffers; k++)
		if (!check_layout(v, x, k) || (o && !check_operand(v, x, &o[kernel_operand_at(x, k)], k)))
			return false;
	return check_attention(v, x) && (!x->prologue || check_prologue(v, x, o)) &&
	       (!x->epilogue || check_epilogue(v, x, o ? &o[info->n_buffers - 1] : NULL));
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

static bool check_value(const struct verifier *v, const struct loop_effect *e, uint32_t at, const dim *dims)
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
		if (!check_value(v, e, k, e->dims + at))
			return false;
		at += rank;
	}
	return (at == e->n_dims && (!e->where || (e->n_buffers && check_condition(v, e->buffers[0])))) ||
	       verify_fail(v, "wrong values of an effect", e->n_buffers);
}
