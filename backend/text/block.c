/* Prints a block as one kernel. Where work items are launched, a work group has an iteration of it: its items divide the iterations of each nest inside,
 * and wait for each other after each nest, and the buffers of the block are in local memory. Otherwise the kernel has the loops of the block, and a
 * pointer to the frame of its buffers. */
#include "base/arena.h"
#include "backend/text/printer.h"

struct block_printer {
	struct text_printer e; /* of the loops of the block */
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
	const struct text_printer *e = &x->p->e;
	const char *t = e->d->memory[b->type.elem], *local = e->d->local;
	if (b->scope == SCOPE_GLOBAL || x->done[k])
		return;
	x->done[k] = true;
	text_tabs(e->out, e->depth);
	if (b->scope == SCOPE_PRIVATE) /* the items of the group share it */
		buf_printf(e->out, "%s%s b%u[%lld];\n", e->d->shared, t, k, (long long)ir_type_count(f->dims, &b->type));
	else
		buf_printf(e->out, "%s%s *b%u = (%s%s *)(frame + %s);\n", local, t, k, local, t, text_dim(e, b->offset));
}

static void declare_frame(const struct block_printer *p, const struct loop_stmt *s)
{
	int64_t frame = 0;
	if (!dim_is_const(p->e.f->dims, s->u.block.frame, &frame) || frame <= 0)
		return;
	buf_putc(p->e.out, '\t');
	buf_printf(p->e.out, p->e.d->frame, (long long)frame);
	buf_puts(p->e.out, ";\n");
}

/* The frame of a work group, and for each reduction of a nest a partial result of each work item. */
static void declare_group(const struct block_printer *p, const struct loop_stmt *s)
{
	uint32_t reductions = most_reductions(&s->u.block);
	declare_frame(p, s);
	if (reductions)
		buf_printf(p->e.out, "\t%s%s parts[%u][%u];\n", p->e.d->shared, p->e.d->part, reductions, p->group);
}

static void declare_buffers(const struct block_printer *p, const struct loop_stmt *s)
{
	struct declared x = {p, ARENA_ARRAY(p->e.scratch, bool, p->e.f->n_buffers + 1)};
	loop_stmt_buffers(s, declare_buffer, &x);
}

static bool shares_reduction(const struct loop_nest *n)
{
	const struct loop_schedule *s = &n->schedule;
	return n->n_reduce && s->n_axes && s->axes[s->n_axes - 1].kind == AXIS_LANE;
}

/* A nest divides its parallel loops among the work items, or its reduction. Without either one item executes it. */
static void group_nest(const struct block_printer *p, const struct loop_nest *n)
{
	struct text_printer e = p->e;
	bool shared = n->n_parallel == n->n_outer && shares_reduction(n);
	e.n = n;
	e.in_block = true;
	e.sig.group = shared ? p->group : 0;
	text_mark_late(&e);
	buf_puts(e.out, "\t{\n");
	for (uint32_t k = 0; shared && k < n->n_reductions; k++)
		buf_printf(e.out, "\t%s%s *l%u = (%s%s *)parts[%u];\n", e.d->local, e.d->values[n->reductions[k].elem], k, e.d->local,
			   e.d->values[n->reductions[k].elem], k);
	if (n->n_parallel > n->n_outer)
		text_shared_loop(&e, n->n_outer, n->n_parallel, p->group);
	else if (!shared)
		buf_puts(e.out, "\tif (lane == 0) {\n");
	text_body(&e); /* a shared reduction goes on with one item */
	buf_printf(e.out, "\t}\n\t%s;\n\t}\n", e.d->barrier_global);
}

static void loop_nest_in_block(const struct block_printer *p, const struct loop_nest *n)
{
	struct text_printer e = p->e;
	e.n = n;
	text_mark_late(&e);
	text_tabs(e.out, e.depth++);
	buf_puts(e.out, "{\n");
	if (e.d->launch == LAUNCH_CHUNKS) {
		text_lanes(&e);
	} else {
		text_open_loops(&e, n->n_outer);
		text_body(&e);
		text_close_loops(&e, n->n_outer);
	}
	text_tabs(e.out, --e.depth);
	buf_puts(e.out, "}\n");
}

static void block_statements(const struct block_printer *p, const struct loop_block *b)
{
	for (uint32_t k = 0; k < b->n_stmts; k++) {
		const struct loop_stmt *s = &b->stmts[k];
		const struct loop_nest *n = &s->u.block.loops;
		if (s->kind == STMT_NEST) {
			(p->group ? group_nest : loop_nest_in_block)(p, &s->u.nest);
			continue;
		}
		struct block_printer inner = *p;
		inner.e.n = n;
		text_open_loops(&inner.e, n->n_outer);
		inner.e.depth = p->group ? p->e.depth : inner.e.depth;
		block_statements(&inner, &s->u.block);
		inner.e.depth = p->e.depth + n->n_parallel - n->n_outer;
		text_close_loops(&inner.e, n->n_outer);
	}
}

void text_block_kernel(struct text_printer *e)
{
	const struct loop_stmt *s = &e->f->stmts[e->stmt];
	e->n = &s->u.block.loops;
	text_signature_of_stmt(e->scratch, e->d, e->f, s, &e->sig);
	e->index_type = text_index_type(e->d, e->n);
	struct block_printer p = {*e, e->sig.group};
	text_head(&p.e);
	if (p.group) {
		declare_group(&p, s);
		declare_buffers(&p, s);
	} else if (e->d->launch == LAUNCH_CHUNKS) {
		declare_frame(&p, s);
	}
	text_chunk(&p.e);
	text_open_iterations(&p.e);
	if (!p.group)
		declare_buffers(&p, s);
	block_statements(&p, &s->u.block);
	text_close_iterations(&p.e);
	buf_puts(p.e.out, "}\n\n");
}
