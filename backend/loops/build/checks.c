/* Checks of a unit's run-time sizes, made before it accesses memory: no extent is negative, reshapes keep the element count, slices and
 * broadcasts stay inside their operands, indexed dimensions are not empty. A condition that is true for all values of the symbols, which
 * are never negative, needs no check. */
#include <string.h>
#include "backend/ir/size_error.h"
#include "backend/loops/build/build.h"
#include "base/arena.h"
#include "base/vec.h"

enum { STEPS = 256 };
#define UNKNOWN INT64_MIN

struct checks {
	struct builder *b;
	enum tri_size_error kind; /* of the checks that are being added */
	ir_ref value;             /* which needs them */
	VEC(struct loop_check) list;
};

/* Returns the least value of a step from the least values of its operands, or UNKNOWN. */
static int64_t checks_least_of(const struct dim_step *s, int64_t a, int64_t b, bool b_const)
{
	int64_t r;
	bool known = a != UNKNOWN && b != UNKNOWN;
	switch (s->op) {
	case DIM_PUSH_CONST: return s->value;
	case DIM_PUSH_SYM: return 0;
	case DIM_OP_ADD: return known && !__builtin_add_overflow(a, b, &r) ? r : UNKNOWN;
	case DIM_OP_MUL: return known && a >= 0 && b >= 0 && !__builtin_mul_overflow(a, b, &r) ? r : UNKNOWN;
	case DIM_OP_FLOORDIV: return known && a >= 0 && b_const && b > 0 ? a / b : UNKNOWN;
	case DIM_OP_MOD: return b_const && b > 0 ? 0 : UNKNOWN;
	}
	return UNKNOWN;
}

bool loops_is_nonnegative(const struct dims *d, dim x)
{
	struct dim_step steps[STEPS];
	struct {
		int64_t least;
		bool constant;
	} stack[STEPS];
	uint32_t n = dim_program(d, x, steps, STEPS), top = 0;
	if (n > STEPS)
		return false;
	for (uint32_t k = 0; k < n; k++) {
		bool push = steps[k].op == DIM_PUSH_CONST || steps[k].op == DIM_PUSH_SYM;
		if (push) {
			stack[top].least = checks_least_of(&steps[k], 0, 0, false);
			stack[top++].constant = steps[k].op == DIM_PUSH_CONST;
			continue;
		}
		top--;
		stack[top - 1].least = checks_least_of(&steps[k], stack[top - 1].least, stack[top].least, stack[top].constant);
		stack[top - 1].constant = false;
	}
	return top == 1 && stack[0].least >= 0 && stack[0].least != UNKNOWN;
}

static void require_nonnegative(struct checks *c, dim x)
{
	if (loops_is_nonnegative(c->b->dims, x))
		return;
	for (uint32_t k = 0; k < c->list.len; k++)
		if (dim_eq(c->list.at[k].least, x))
			return;
	vec_push(&c->list, ((struct loop_check){x, c->kind, c->value}));
}

static void require_equal(struct checks *c, dim a, dim b)
{
	if (dim_eq(a, b))
		return;
	require_nonnegative(c, dim_sub(c->b->dims, a, b));
	require_nonnegative(c, dim_sub(c->b->dims, b, a));
}

/* The first and the last element of the slice must be inside. */
static void check_slice(struct checks *c, const struct ir_inst *i, const struct hir_type *from)
{
	const struct ir_slice *slice = ir_slice(i);
	struct dims *d = c->b->dims;
	for (uint32_t k = 0; k < i->type.rank; k++) {
		int64_t n;
		if (dim_is_const(d, i->type.dims[k], &n) && n == 0)
			continue;
		dim steps = dim_mul(d, dim_sub(d, i->type.dims[k], c->b->one), dim_const(d, slice->step[k]));
		dim end = dim_add(d, slice->start[k], steps), room = dim_sub(d, from->dims[k], c->b->one);
		require_nonnegative(c, slice->step[k] < 0 ? end : slice->start[k]);
		require_nonnegative(c, dim_sub(d, room, slice->step[k] < 0 ? slice->start[k] : end));
	}
}

static void check_pad(struct checks *c, const struct ir_inst *i, const struct hir_type *from)
{
	const struct ir_pad *pad = ir_pad(i);
	for (uint32_t k = 0; k < from->rank; k++) {
		require_nonnegative(c, pad->before[k]);
		require_nonnegative(c, dim_sub(c->b->dims, dim_sub(c->b->dims, i->type.dims[k], from->dims[k]), pad->before[k]));
	}
}

/* There must be a window of `kernel` elements, and the last element of the last of n windows must be inside of `size` elements. */
static void check_windows(struct checks *c, dim n, int64_t stride, dim kernel, int64_t dilation, dim size)
{
	struct dims *d = c->b->dims;
	dim windows = dim_sub(d, n, c->b->one), elements = dim_sub(d, kernel, c->b->one);
	dim last = dim_add(d, dim_mul(d, windows, dim_const(d, stride)), dim_mul(d, elements, dim_const(d, dilation)));
	require_nonnegative(c, windows);
	require_nonnegative(c, dim_sub(d, dim_sub(d, size, c->b->one), last));
}

static void check_window(struct checks *c, const struct ir_inst *i, const struct hir_type *from)
{
	const struct ir_window *window = ir_window(i);
	uint32_t inside = from->rank;
	for (uint32_t k = 0; k < from->rank; k++) {
		if (!(window->mask >> k & 1))
			continue;
		check_windows(c, i->type.dims[k], window->step[k], i->type.dims[inside], window->step[inside], from->dims[k]);
		inside++;
	}
}

/* The same of the padded input. */
static void check_conv(struct checks *c, const struct ir_inst *i, const struct hir_type *from, const struct hir_type *weights)
{
	const struct ir_conv *conv = ir_conv(i);
	struct dims *d = c->b->dims;
	for (uint32_t k = 0; k < 2; k++) {
		dim padded = dim_add(d, from->dims[2 + k], dim_const(d, conv->pad[2 * k] + conv->pad[2 * k + 1]));
		check_windows(c, i->type.dims[2 + k], conv->stride[k], weights->dims[2 + k], conv->dilation[k], padded);
	}
}

/* Each window must fit the table. */
static void checks_check_gather(struct checks *c, ir_ref r, const struct hir_type *table)
{
	struct ir_table_dim dims[HIR_MAX_RANK];
	ir_table_dims_of(c->b->ir, r, dims);
	for (uint32_t k = 0; k < table->rank; k++)
		if (dims[k].index && dims[k].at != IR_NONE)
			require_nonnegative(c, dim_sub(c->b->dims, table->dims[k], ir_at(c->b->ir, r)->type.dims[dims[k].at]));
}

static void check_broadcast(struct checks *c, const struct ir_inst *i, const struct hir_type *from)
{
	for (uint32_t k = 0; k < from->rank; k++)
		if (!dim_eq(from->dims[k], c->b->one))
			require_equal(c, from->dims[k], i->type.dims[i->type.rank - from->rank + k]);
}

static void check_inst(struct checks *c, ir_ref r)
{
	const struct ir_inst *i = ir_at(c->b->ir, r);
	const struct hir_type *from = i->n_operands ? &ir_at(c->b->ir, ir_operand(c->b->ir, r, 0))->type : NULL;
	c->kind = ir_size_error(i->op);
	c->value = r;
	if (i->op == OP_RESHAPE)
		require_equal(c, dim_product(c->b->dims, from->dims, from->rank), dim_product(c->b->dims, i->type.dims, i->type.rank));
	else if (i->op == OP_SLICE)
		check_slice(c, i, from);
	else if (i->op == OP_PAD)
		check_pad(c, i, from);
	else if (i->op == OP_WINDOW)
		check_window(c, i, from);
	else if (i->op == OP_CONV)
		check_conv(c, i, from, &ir_at(c->b->ir, ir_operand(c->b->ir, r, 1))->type);
	else if (i->op == OP_GATHER)
		checks_check_gather(c, r, from);
	else if (i->op == OP_BROADCAST)
		check_broadcast(c, i, from);
	for (uint32_t k = 0; k < i->type.rank; k++)
		require_nonnegative(c, i->type.dims[k]);
	c->kind = TRI_SIZE_ERROR_INDEX;
	require_nonnegative(c, loops_empty_index(c->b, r));
}

void loops_add_checks(struct builder *b)
{
	struct checks c = {.b = b};
	for (ir_ref r = 0; r < b->ir->n_insts; r++)
		check_inst(&c, r);
	b->fn->n_checks = c.list.len;
	b->fn->checks = ARENA_ARRAY(b->unit, struct loop_check, c.list.len + 1);
	if (c.list.len)
		memcpy(b->fn->checks, c.list.at, c.list.len * sizeof *c.list.at);
	vec_free(&c.list);
}
