#include "backend/loops/ir/repeat.h"
#include "backend/loops/ir/beside.h"
#include "backend/loops/ir/grow.h"

/* Groups read the row in steps of so many elements. */
enum { STEP = 16 };

uint32_t loops_products_begin(const struct loop_fn *f, uint32_t k)
{
	k = loops_launch_begin(f, k);
	return k + (f->stmts[k].kind == STMT_BLOCK);
}

struct results {
	const struct loop_fn *f;
	bool *marked;
};

static void repeat_mark_results(void *ctx, const struct loop_nest *n)
{
	const struct results *r = ctx;
	for (uint32_t k = 0; k < n->n_stores; k++)
		if (r->f->buffers[n->stores[k].access.buffer].scope == SCOPE_GLOBAL)
			r->marked[n->stores[k].access.buffer] = true;
}

void loops_mark_results(const struct loop_fn *f, const struct loop_stmt *block, bool *results)
{
	loop_stmt_nests(block, repeat_mark_results, &(struct results){f, results});
}

int64_t loops_row_bytes(const struct loop_fn *f, uint32_t buffer)
{
	const struct hir_type *t = &f->buffers[buffer].type;
	int64_t bytes = (int64_t)dtype_size(t->elem), n;
	for (uint32_t k = 0; k < t->rank; k++)
		if (dim_is_const(f->dims, t->dims[k], &n) && __builtin_mul_overflow(bytes, n, &bytes))
			return INT64_MAX;
	return bytes;
}

/* Checks of the buffers of the block. */
struct repeat_check {
	const struct loop_fn *f;
	const struct loop_stmt *block, *product;
	uint32_t at; /* the statement of the block */
	uint32_t root;
	dim rows;
	bool ok;
};

static void repeat_compare_root(void *ctx, uint32_t buffer)
{
	struct repeat_check *c = ctx;
	c->ok &= loops_root(c->f, buffer) != c->root;
}

static void repeat_check_written(struct repeat_check *c, uint32_t buffer)
{
	c->root = loops_root(c->f, buffer);
	loop_stmt_buffers(c->block, repeat_compare_root, c);
}

/* The product writes nothing that the block uses: other groups may still execute it. */
static void repeat_check_product(struct repeat_check *c)
{
	const struct loop_kernel *x = &c->product->u.kernel;
	for (uint32_t k = 0; k < x->n_buffers; k++)
		if (kernel_operand(x->kernel, loop_kernel_at(x, k))->written)
			repeat_check_written(c, x->buffers[k]);
	for (uint32_t k = 0; x->epilogue && k < x->epilogue->n_stores; k++)
		repeat_check_written(c, x->epilogue->stores[k].access.buffer);
}

/* A result has a row for each of the block's, and nothing that was written before. */
static void repeat_check_result(struct repeat_check *c, uint32_t buffer)
{
	const struct loop_buffer *b = &c->f->buffers[buffer];
	uint32_t unknown = 0;
	int64_t n;
	for (uint32_t k = 0; k < b->type.rank; k++)
		if (!dim_is_const(c->f->dims, b->type.dims[k], &n)) {
			unknown++;
			c->ok &= dim_eq(b->type.dims[k], c->rows);
		}
	c->ok &= unknown <= 1 && b->layout == LAYOUT_PLAIN && b->grows == LOOP_NONE;
	c->root = buffer;
	for (uint32_t k = 0; k < c->at; k++)
		loop_stmt_buffers(&c->f->stmts[k], repeat_compare_root, c);
}

static void repeat_check_nest(void *ctx, const struct loop_nest *n)
{
	struct repeat_check *c = ctx;
	for (uint32_t k = 0; k < n->n_exprs; k++)
		c->ok &= n->exprs[k].kind != LOOP_CHECK;
	for (uint32_t k = 0; k < n->n_stores; k++)
		if (c->f->buffers[n->stores[k].access.buffer].scope == SCOPE_GLOBAL)
			repeat_check_result(c, n->stores[k].access.buffer);
}

static void repeat_find_buffer(void *ctx, uint32_t buffer)
{
	struct repeat_check *c = ctx;
	c->ok |= buffer == c->root;
}

/* True if the block writes the operand. */
static bool computes_operand(const struct repeat_check *c)
{
	struct repeat_check find = *c;
	find.root = c->product->u.kernel.buffers[0];
	find.ok = false;
	loop_stmt_buffers(c->block, repeat_find_buffer, &find);
	return find.ok && c->f->buffers[find.root].scope == SCOPE_GLOBAL;
}

bool loops_may_repeat(const struct loop_fn *f, uint32_t block, uint32_t product)
{
	const struct loop_stmt *b = &f->stmts[block], *p = &f->stmts[product];
	int64_t depth;
	if (b->kind != STMT_BLOCK || !loops_may_have_one_row(f, p) || p->u.kernel.prologue)
		return false;
	const struct matmul_dims *d = (const void *)p->u.kernel.dims;
	const struct loop_nest *loops = &b->u.block.loops;
	struct repeat_check c = {.f = f, .block = b, .product = p, .at = block, .rows = d->M, .ok = true};
	if (!dim_is_const(f->dims, d->K, &depth) || depth <= 0 || depth % STEP || loops->n_parallel != 1 ||
	    !dim_eq(loops->extent[0], d->M) || !computes_operand(&c))
		return false;
	loop_stmt_nests(b, repeat_check_nest, &c);
	repeat_check_product(&c);
	return c.ok;
}
