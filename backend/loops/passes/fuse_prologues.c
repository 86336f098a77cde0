/* Prologues: a nest without reductions that computes only the first operand of a kernel, element by element, becomes the prologue of that kernel.
 * The kernel packs this operand anyway. Its prologue computes each part just before, so the operand needs no memory. The nest may be the last one of
 * a block: one that quantises rows, say, with scales that the block computes. A prologue may read only memory that lives for the whole unit. Rows
 * that exist only inside a block would have to be stored for it, which gains nothing.
 *
 * A nest outside blocks always becomes a prologue: its operands are read once either way. The last nest of a block reads what the block has just
 * read, so a prologue reads it a second time, but the operand is neither stored nor read. On one core this saves 5 % of a product with 64 columns
 * while the operands are in a cache. It costs a fourth of the time when they are not (1024 x 8192 float32, 34 MB). */
#include <string.h>
#include "backend/loops/loop_passes.h"
#include "backend/loops/passes/merge.h"
#include "backend/loops/passes/tile.h"
#include "backend/runtime/kernels/kernel.h"
#include "backend/target/target.h"
#include "base/arena.h"

struct prologue_search {
	struct loop_fn *f;
	struct dims *dims;
	const struct target *target;
	uint32_t *writer; /* for each buffer: the statement whose last nest stores it, or LOOP_NONE */
	uint32_t *uses;   /* for each buffer: how often it is read or written */
	bool *moved;      /* for each statement: a nest that became a prologue */
};

static void fuse_prologues_count_use(void *ctx, uint32_t buffer) { ((uint32_t *)ctx)[buffer]++; }

/* The nest that a statement executes last; NULL: something else. */
static struct loop_nest *last_nest(struct loop_stmt *s)
{
	struct loop_stmt *last = s->kind == STMT_BLOCK ? &s->u.block.stmts[s->u.block.n_stmts - 1] : s;
	return last->kind == STMT_NEST ? &last->u.nest : NULL;
}

static void find_writers(struct prologue_search *s)
{
	uint32_t n = s->f->n_buffers + 1;
	s->writer = memset(ARENA_ARRAY(s->f->unit, uint32_t, n), 0xff, n * sizeof *s->writer);
	s->uses = memset(ARENA_ARRAY(s->f->unit, uint32_t, n), 0, n * sizeof *s->uses);
	for (uint32_t k = 0; k < s->f->n_stmts; k++) {
		const struct loop_nest *last = last_nest(&s->f->stmts[k]);
		loop_stmt_buffers(&s->f->stmts[k], fuse_prologues_count_use, s->uses);
		if (last && last->n_stores == 1)
			s->writer[last->stores[0].access.buffer] = k;
	}
}

/* The kernel copies rows of its operand, and may have them computed. Kernels of devices read them where they are. */
static bool may_fill(const struct prologue_search *s, const struct loop_kernel *k)
{
	const struct matmul_dims *d = (const void *)k->dims;
	int64_t columns;
	return s->target->vector_bytes && s->target->arch != ARCH_OPENCL && kernel_info(k->kernel)->prologue && !k->prologue &&
	       dim_is_const(s->dims, d->K, &columns) && columns > 0 && columns <= TRI_PROLOGUE_MOST;
}

/* Makes the prologue from nest n. Returns NULL if it is not possible. */
static struct loop_nest *make_prologue(const struct prologue_search *s, const struct loop_nest *n, const struct loop_kernel *kernel)
{
	struct arena *unit = s->f->unit;
	const struct matmul_dims *d = (const void *)kernel->dims;
	struct tile_map m = {.size = {dim_const(s->dims, 1), d->M, d->K}};
	if (!tile_is_plain(n) || !dim_eq(n->stores[0].access.base, dim_const(s->dims, 0)) ||
	    !tile_map_loops(s->dims, n, &n->stores[0].access, &m))
		return NULL;
	struct loop_nest *p = ARENA_NEW(unit, struct loop_nest);
	*p = (struct loop_nest){.n_parallel = TILE_AXES, .n_exprs = n->stores[0].value + 1};
	for (uint32_t k = 0; k < LOOP_MAX; k++)
		p->extent[k] = k < TILE_AXES ? m.size[k] : dim_const(s->dims, 0);
	p->exprs = memcpy(ARENA_ARRAY(unit, struct loop_expr, p->n_exprs), n->exprs, p->n_exprs * sizeof *p->exprs);
	for (uint32_t k = 0; k < p->n_exprs; k++) {
		struct loop_access *a = &p->exprs[k].access;
		if (p->exprs[k].kind == LOOP_LOAD &&
		    (s->f->buffers[a->buffer].scope != SCOPE_GLOBAL || !tile_map_access(s->dims, n, &m, a)))
			return NULL;
	}
	return p;
}

/* Moves the last nest of `from` to the kernel. A block of one nest becomes that nest; a nest of its own is removed later. */
static void move_nest(const struct prologue_search *s, struct loop_stmt *from, struct loop_stmt *kernel, struct loop_nest *prologue)
{
	struct loop_kernel *k = &kernel->u.kernel;
	struct loop_block *b = &from->u.block;
	bool block = from->kind == STMT_BLOCK;
	loops_merge_values(s->f->unit, kernel, block ? &b->stmts[b->n_stmts - 1] : from);
	k->prologue = prologue;
	k->buffers++;
	k->n_buffers--;
	if (!block) {
		s->moved[from - s->f->stmts] = true;
		return;
	}
	from->n_values = 0;
	b->n_stmts--;
	for (uint32_t i = 0; i < b->n_stmts; i++)
		loops_merge_values(s->f->unit, from, &b->stmts[i]);
	if (b->n_stmts > 1)
		return;
	*from = b->stmts[0];
	from->u.nest.n_outer = 0;
}

enum { CACHED = 8 }; /* caches that cores share hold so many times the L2 cache */

/* Returns the bytes that a nest reads at least, whatever the values of the symbols are. */
static double least_bytes(const struct prologue_search *s, const struct loop_nest *n)
{
	double all = 0;
	for (uint32_t k = 0; k < n->n_exprs; k++) {
		double bytes = n->exprs[k].kind == LOOP_LOAD ? (double)dtype_size(n->exprs[k].elem) : 0;
		for (uint32_t loop = 0; bytes > 0 && loop < n->n_parallel; loop++) {
			int64_t least = dim_common_factor(s->dims, n->extent[loop]);
			if (least > 1 && !dim_eq(n->exprs[k].access.stride[loop], dim_const(s->dims, 0)))
				bytes *= (double)least;
		}
		all += bytes;
	}
	return all;
}

/* from: what executes the nest now. */
static bool fuse_prologues_pays(const struct prologue_search *s, const struct loop_stmt *from, const struct loop_nest *n)
{
	return from->kind == STMT_NEST || least_bytes(s, n) <= (double)CACHED * s->target->l2_bytes;
}

static bool fuse_prologues_fuse(const struct prologue_search *s, struct loop_stmt *kernel)
{
	uint32_t operand = kernel->u.kernel.buffers[0], at = s->writer[operand];
	if (at == LOOP_NONE || s->uses[operand] != 2 || s->f->buffers[operand].kind != BUFFER_TEMP || !may_fill(s, &kernel->u.kernel))
		return false;
	struct loop_nest *n = last_nest(&s->f->stmts[at]);
	if (!n || n->n_stores != 1 || n->stores[0].access.buffer != operand || !fuse_prologues_pays(s, &s->f->stmts[at], n))
		return false;
	struct loop_nest *p = make_prologue(s, n, &kernel->u.kernel);
	if (p)
		move_nest(s, &s->f->stmts[at], kernel, p);
	return p;
}

uint32_t loop_pass_prologues(struct loop_fn *f, struct loop_pass_context *c)
{
	struct prologue_search s = {.f = f, .dims = c->dims, .target = c->options->target};
	uint32_t n = 0, found = 0;
	s.moved = ARENA_ARRAY(f->unit, bool, f->n_stmts + 1);
	find_writers(&s);
	for (uint32_t k = 0; k < f->n_stmts; k++)
		found += f->stmts[k].kind == STMT_KERNEL && fuse_prologues_fuse(&s, &f->stmts[k]);
	for (uint32_t k = 0; k < f->n_stmts; k++)
		if (!s.moved[k])
			f->stmts[n++] = f->stmts[k];
	f->n_stmts = n;
	return found;
}
