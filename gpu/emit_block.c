/* Prints a block as one kernel: a work group has an iteration of it. Its work items divide the iterations of each nest inside, and wait for each other
 * after each nest. The buffers of the block are in local memory. */
#include "base/arena.h"
#include "gpu/emit.h"

struct block_printer {
	struct emit_nest e; /* of the loops of the block */
	uint32_t group;
};

static uint32_t most_reductions(const struct loop_block *b)
{
	uint32_t most = 0, n;
	for (uint32_t k = 0; k < b->n_stmts; k++) {
		const struct loop_stmt *s = &b->stmts[k];
		n = s->kind == STMT_BLOCK ? most_reductions(&s->u.block) : s->u.nest.n_reductions;
		most = n > most ? n : most;
	}
	return most;
}

struct declared {
	const struct block_printer *p;
	bool *done; /* of each buffer */
};

static void declare_buffer(void *ctx, uint32_t k)
{
	struct declared *x = ctx;
	const struct loop_fn *f = x->p->e.f;
	const struct loop_buffer *b = &f->buffers[k];
	const char *t = emit_memory_type(b->type.elem);
	if (b->scope == SCOPE_GLOBAL || x->done[k])
		return;
	x->done[k] = true;
	if (b->scope == SCOPE_PRIVATE) /* the items of the group share it */
		buf_printf(x->p->e.out, "\tlocal %s b%u[%lld];\n", t, k, (long long)ir_type_count(f->dims, &b->type));
	else
		buf_printf(x->p->e.out, "\tlocal %s *b%u = (local %s *)(frame + %s);\n", t, k, t,
			   opencl_dim(x->p->e.scratch, f->dims, b->offset));
}

/* The frame, and for each reduction of a nest a partial result of each work item. */
static void declare(const struct block_printer *p, const struct loop_stmt *s)
{
	struct declared x = {p, ARENA_ARRAY(p->e.scratch, bool, p->e.f->n_buffers + 1)};
	int64_t frame = 0;
	uint32_t reductions = most_reductions(&s->u.block);
	if (dim_is_const(p->e.f->dims, s->u.block.frame, &frame) && frame > 0)
		buf_printf(p->e.out, "\tlocal uchar frame[%lld] __attribute__((aligned(64)));\n", (long long)frame);
	if (reductions)
		buf_printf(p->e.out, "\tlocal ulong parts[%u][%u];\n", reductions, p->group);
	loop_stmt_buffers(s, declare_buffer, &x);
}

static bool shares_reduction(const struct loop_nest *n)
{
	const struct loop_schedule *s = &n->schedule;
	return n->n_reduce && s->n_axes && s->axes[s->n_axes - 1].kind == AXIS_LANE;
}

/* A nest divides its parallel loops among the work items, or its reduction. Without either one item executes it. */
static void nest(const struct block_printer *p, const struct loop_nest *n)
{
	struct emit_nest e = p->e;
	bool shared = n->n_parallel == n->n_outer && shares_reduction(n);
	e.n = n;
	e.in_block = true;
	e.sig.group = shared ? p->group : 0;
	emit_mark_late(&e);
	buf_puts(e.out, "\t{\n");
	for (uint32_t k = 0; shared && k < n->n_reductions; k++)
		buf_printf(e.out, "\tlocal %s *l%u = (local %s *)parts[%u];\n", emit_value_type(n->reductions[k].elem), k,
			   emit_value_type(n->reductions[k].elem), k);
	if (n->n_parallel > n->n_outer)
		emit_shared_loop(&e, n->n_outer, n->n_parallel, p->group);
	else if (!shared)
		buf_puts(e.out, "\tif (lane == 0) {\n");
	emit_values(&e, false, false, 1);
	emit_reductions(&e); /* a shared one goes on with one item */
	emit_values(&e, false, true, 1);
	for (uint32_t k = 0; k < n->n_stores; k++)
		emit_store(&e, &n->stores[k], 1);
	buf_puts(e.out, "\t}\n\tbarrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n\t}\n");
}

static void statements(const struct block_printer *p, const struct loop_block *b)
{
	for (uint32_t k = 0; k < b->n_stmts; k++) {
		const struct loop_stmt *s = &b->stmts[k];
		const struct loop_nest *n = &s->u.block.loops;
		if (s->kind == STMT_NEST) {
			nest(p, &s->u.nest);
			continue;
		}
		for (uint32_t i = n->n_outer; i < n->n_parallel; i++)
			buf_printf(p->e.out, "\tfor (%s i%u = 0; i%u < %s; i%u++) {\n", p->e.index_type, i, i,
				   opencl_dim(p->e.scratch, p->e.f->dims, n->extent[i]), i);
		statements(p, &s->u.block);
		for (uint32_t i = n->n_outer; i < n->n_parallel; i++)
			buf_puts(p->e.out, "\t}\n");
	}
}

void emit_block_kernel(const struct loop_fn *f, uint32_t stmt, struct buf *out)
{
	const struct loop_stmt *s = &f->stmts[stmt];
	struct arena *scratch = arena_new(0);
	struct block_printer p = {.e = {.scratch = scratch, .f = f, .n = &s->u.block.loops, .out = out}};
	opencl_signature_of_stmt(scratch, f, s, &p.e.sig);
	p.group = p.e.sig.group;
	p.e.index_type = p.e.n->schedule.index_bytes == 4 ? "int" : "long";
	emit_head(&p.e, stmt);
	declare(&p, s);
	emit_split_id(&p.e);
	statements(&p, &s->u.block);
	buf_puts(out, "}\n\n");
	arena_free(scratch);
}
