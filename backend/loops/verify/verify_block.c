/* Blocks: their loops and statements, and that the iterations of an outermost block do not depend on each other. Elements are followed in buffers
 * of constant and moderate size. */
#include "backend/loops/verify/verify_state.h"
#include "base/arena.h"

enum { MOST_TRACKED = 1 << 14, MOST_VISITS = 1 << 20 };

static bool check_loops(const struct verifier *v, const struct loop_nest *n)
{
	if (n->n_reduce || n->n_exprs || n->n_reductions || n->n_stores || n->n_parallel == n->n_outer)
		return verify_fail(v, "a block is loops around statements", n->n_parallel);
	for (uint32_t k = 0; k < n->schedule.n_axes; k++) {
		enum axis_kind kind = n->schedule.axes[k].kind;
		if (kind != AXIS_SERIAL && kind != AXIS_PARALLEL && kind != AXIS_GROUP)
			return verify_fail(v, "copies or lanes of a block", k);
	}
	return verify_nest(v, n);
}

/* It is placed if the temporaries of the unit are. */
static bool check_frame(const struct verifier *v, const struct loop_block *b)
{
	int64_t frame, scratch;
	bool placed = !verify_const(v, v->f->scratch, &scratch) || scratch != LOOP_NOT_PLACED;
	if (!verify_const(v, b->frame, &frame) || frame > (v->outer ? 0 : LOOP_MOST_FRAME))
		return verify_fail(v, "the frame of a block has no moderate size", 0);
	if (b->on_stack && (v->outer || !placed || frame > LOOP_MOST_ON_STACK))
		return verify_fail(v, "a frame on the stack that is too large", 0);
	return (v->outer || !placed ? frame == (v->outer ? 0 : LOOP_NOT_PLACED) : frame >= 0) ||
	       verify_fail(v, "a frame that is placed unlike the scratch memory", 0);
}

bool verify_block(const struct verifier *v, const struct loop_block *b)
{
	struct verifier inner = *v;
	if (!check_loops(v, &b->loops) || !check_frame(v, b))
		return false;
	inner.outer = &b->loops;
	inner.block = v->block ? v->block : b;
	if (++inner.blocks > LOOP_MOST_DEPTH)
		return verify_fail(v, "too many blocks in each other", inner.blocks);
	for (uint32_t k = 0; k < b->n_stmts; k++) {
		if ((b->stmts[k].kind != STMT_NEST && b->stmts[k].kind != STMT_BLOCK) || b->stmts[k].beside)
			return verify_fail(v, "a statement that no block can have", k);
		if (!verify_stmt(&inner, &b->stmts[k]))
			return false;
	}
	return v->block || verify_iterations(v, b);
}

/* ---- iterations ---- */

/* The elements of a buffer that is written inside of the block. */
struct written {
	bool any;
	int64_t count;
	uint32_t *iteration; /* that writes each element, plus one; 0: none. NULL: not followed */
};
struct iterations {
	const struct verifier *v;
	const struct loop_block *block;
	struct arena *arena;
	struct written *written; /* of each buffer */
	bool stores;             /* stores are followed; else loads */
	bool ok;
};
struct walk {
	int64_t base, stride[LOOP_MAX], extent[LOOP_MAX];
	uint32_t loops;
};

/* False: something is not constant, or there are too many elements. */
static bool verify_block_walk_of(const struct iterations *x, const struct loop_nest *n, const struct loop_access *a, uint32_t loops,
				 struct walk *w)
{
	int64_t visits = 1;
	w->loops = loops;
	if (a->index != LOOP_NONE || !verify_const(x->v, a->base, &w->base))
		return false;
	for (uint32_t k = 0; k < loops; k++)
		if (!verify_const(x->v, a->stride[k], &w->stride[k]) || !verify_const(x->v, n->extent[k], &w->extent[k]) ||
		    __builtin_mul_overflow(visits, w->extent[k], &visits) || visits > MOST_VISITS)
			return false;
	return true;
}

/* Follows the elements of loops `loop` and inner ones; false: another iteration writes one of them. */
static bool follow(const struct iterations *x, struct written *b, const struct walk *w, uint32_t loop, int64_t at, uint32_t iteration)
{
	if (loop == w->loops) {
		if (at < 0 || at >= b->count || (b->iteration[at] && b->iteration[at] != iteration + 1))
			return false;
		if (x->stores)
			b->iteration[at] = iteration + 1;
		return true;
	}
	for (int64_t k = 0; k < w->extent[loop]; k++) {
		uint32_t of = loop < x->block->loops.n_parallel ? (uint32_t)(iteration * w->extent[loop] + k) : iteration;
		if (!follow(x, b, w, loop + 1, at + k * w->stride[loop], of))
			return false;
	}
	return true;
}

static void verify_block_check_access(struct iterations *x, const struct loop_nest *n, const struct loop_access *a, uint32_t loops)
{
	struct written *b = &x->written[a->buffer];
	struct walk w;
	if (x->v->f->buffers[a->buffer].scope != SCOPE_GLOBAL || (!x->stores && !b->any))
		return;
	if (!x->stores && a->index != LOOP_NONE)
		x->ok = x->ok && verify_fail(x->v, "an index into a buffer that other iterations write", a->buffer);
	if (x->stores && !b->any) {
		b->any = true;
		if (verify_count(x->v, &x->v->f->buffers[a->buffer].type, &b->count) && b->count <= MOST_TRACKED)
			b->iteration = ARENA_ARRAY(x->arena, uint32_t, b->count + 1);
	}
	if (x->ok && b->iteration && verify_block_walk_of(x, n, a, loops, &w) && !follow(x, b, &w, 0, w.base, 0))
		x->ok = verify_fail(x->v, "iterations of a block depend on each other", a->buffer);
}

static void verify_block_check_nest(void *ctx, const struct loop_nest *n)
{
	struct iterations *x = ctx;
	for (uint32_t k = 0; x->stores && k < n->n_stores; k++)
		verify_block_check_access(x, n, &n->stores[k].access, n->n_parallel);
	for (uint32_t k = 0; !x->stores && k < n->n_exprs; k++)
		if (n->exprs[k].kind == LOOP_LOAD)
			verify_block_check_access(x, n, &n->exprs[k].access, n->n_parallel + (n->exprs[k].in_reduction ? n->n_reduce : 0u));
}

bool verify_iterations(const struct verifier *v, const struct loop_block *b)
{
	struct arena *a = arena_new(0);
	struct iterations x = {v, b, a, ARENA_ARRAY(a, struct written, v->f->n_buffers + 1), true, true};
	for (int pass = 0; pass < 2; pass++, x.stores = false)
		for (uint32_t k = 0; k < b->n_stmts; k++)
			loop_stmt_nests(&b->stmts[k], verify_block_check_nest, &x);
	arena_free(a);
	return x.ok;
}
