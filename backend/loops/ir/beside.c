#include "backend/loops/ir/beside.h"
#include "backend/loops/ir/grow.h"

uint32_t loops_launch_begin(const struct loop_fn *f, uint32_t k)
{
	while (f->stmts[k].beside)
		k--;
	return k;
}

uint32_t loops_launch_end(const struct loop_fn *f, uint32_t k)
{
	do
		k++;
	while (k < f->n_stmts && f->stmts[k].beside);
	return k;
}

static bool multiply_same_rows(const struct loop_kernel *a, const struct loop_kernel *b)
{
	const struct matmul_dims *x = (const void *)a->dims, *y = (const void *)b->dims;
	return a->kernel == b->kernel && kernel_family(a->kernel) == FAMILY_matmul && !a->prologue && !b->prologue &&
	       a->buffers[0] == b->buffers[0] && dim_eq(x->M, y->M) && dim_eq(x->K, y->K);
}

static bool shares_nothing(const struct loop_nest *n)
{
	for (uint32_t k = 0; k < n->schedule.n_axes; k++)
		if (n->schedule.axes[k].kind == AXIS_GROUP || n->schedule.axes[k].kind == AXIS_LANE)
			return false;
	return true;
}

bool loops_are_alike(const struct loop_stmt *a, const struct loop_stmt *b)
{
	if (a->kind == STMT_NEST)
		return b->kind == STMT_NEST && shares_nothing(&a->u.nest) && shares_nothing(&b->u.nest);
	return a->kind == STMT_KERNEL && b->kind == STMT_KERNEL && multiply_same_rows(&a->u.kernel, &b->u.kernel);
}

bool loops_may_have_one_row(const struct loop_fn *f, const struct loop_stmt *s)
{
	const struct matmul_dims *d = (const void *)s->u.kernel.dims;
	int64_t rows;
	return s->kind == STMT_KERNEL && kernel_family(s->u.kernel.kernel) == FAMILY_matmul &&
	       (!dim_is_const(f->dims, d->M, &rows) || rows == 1);
}

static void visit_written(const struct loop_stmt *s, loop_buffer_fn *fn, void *ctx)
{
	const struct loop_nest *n = loop_stmt_nest(s);
	const struct loop_kernel *x = &s->u.kernel;
	for (uint32_t k = 0; s->kind == STMT_KERNEL && k < x->n_buffers; k++)
		if (kernel_operand(x->kernel, loop_kernel_at(x, k))->written)
			fn(ctx, x->buffers[k]);
	for (uint32_t k = 0; n && k < n->n_stores; k++)
		fn(ctx, n->stores[k].access.buffer);
	if (s->kind != STMT_NEST && s->kind != STMT_KERNEL) /* it may write whatever it has */
		loop_stmt_buffers(s, fn, ctx);
}

/* Looks for a buffer in the memory of `root` among those of a statement. */
struct beside_search {
	const struct loop_fn *f;
	const struct loop_stmt *in;
	uint32_t root;
	bool found;
};

static void beside_compare(void *ctx, uint32_t buffer)
{
	struct beside_search *s = ctx;
	s->found |= loops_root(s->f, buffer) == s->root;
}

static void beside_find(void *ctx, uint32_t buffer)
{
	struct beside_search *s = ctx;
	s->root = loops_root(s->f, buffer);
	loop_stmt_buffers(s->in, beside_compare, s);
}

bool loops_are_independent(const struct loop_fn *f, const struct loop_stmt *a, const struct loop_stmt *b)
{
	struct beside_search s = {.f = f, .in = b};
	visit_written(a, beside_find, &s);
	s.in = a;
	visit_written(b, beside_find, &s);
	return !s.found;
}
