/* Prints a block as one kernel. Where work items are launched, a work group has an iteration of it: its items divide the iterations of each nest inside,
 * and wait for each other after each nest, and the buffers of the block are in local memory. Otherwise the kernel has the loops of the block, and a
 * pointer to the frame of its buffers. A block that groups repeat is a function. */
#include "backend/loops/ir/repeat.h"
#include "base/arena.h"
#include "base/bug.h"
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

/* How many elements of the buffer a work item keeps. */
static uint32_t items_of_buffer(const struct block_printer *p, uint32_t buffer)
{
	return (uint32_t)((ir_type_count(p->e.f->dims, &p->e.f->buffers[buffer].type) + p->group - 1) / p->group);
}

/* The same of the buffers that the nest accesses, 0 if it accesses none of those. */
static uint32_t items_of_nest(const struct block_printer *p, const struct loop_nest *n)
{
	for (uint32_t k = 0; k < n->n_exprs + n->n_stores; k++) {
		bool loads = k >= n->n_stores;
		const struct loop_access *a = loads ? &n->exprs[k - n->n_stores].access : &n->stores[k].access;
		if ((!loads || n->exprs[k - n->n_stores].kind == LOOP_LOAD) && p->e.f->buffers[a->buffer].scope == SCOPE_ITEMS)
			return items_of_buffer(p, a->buffer);
	}
	return 0;
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
	else if (b->scope == SCOPE_ITEMS)
		buf_printf(e->out, "%s b%u[%u];\n", t, k, items_of_buffer(x->p, k));
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
	e.items = items_of_nest(p, n);
	text_mark_late(&e);
	buf_puts(e.out, "\t{\n");
	for (uint32_t k = 0; shared && k < n->n_reductions; k++)
		buf_printf(e.out, "\t%s%s *l%u = (%s%s *)parts[%u];\n", e.d->local, e.d->values[n->reductions[k].elem], k, e.d->local,
			   e.d->values[n->reductions[k].elem], k);
	if (n->n_parallel > n->n_outer)
		text_uniform_values(&e);
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

/* ---- a block that groups repeat ---- */

enum { ALIGNMENT = 64 };

/* The memory that a group has for the block: its frame, then its results, in the order of the signature, then partial results of reductions. */
struct row_memory {
	int64_t *at; /* of each buffer that is a result */
	int64_t parts, bytes;
};

static struct row_memory row_memory_of(const struct block_printer *p, const struct loop_stmt *s)
{
	const struct text_printer *e = &p->e;
	struct row_memory m = {.at = ARENA_ARRAY(e->scratch, int64_t, e->f->n_buffers + 1)};
	BUG_ON(!dim_is_const(e->f->dims, s->u.block.frame, &m.bytes));
	for (uint32_t i = 0; i < e->sig.n_buffers; i++)
		if (e->sig.written[i]) {
			m.at[e->sig.buffers[i]] = m.bytes;
			m.bytes += (loops_row_bytes(e->f, e->sig.buffers[i]) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
		}
	m.parts = m.bytes;
	m.bytes += (int64_t)most_reductions(&s->u.block) * p->group * (int64_t)sizeof(uint64_t);
	return m;
}

/* Declares the results, each line with what goes before it and behind it. */
static void declare_results(const struct block_printer *p, const struct row_memory *m, const char *before, const char *after)
{
	const struct text_printer *e = &p->e;
	for (uint32_t i = 0; i < e->sig.n_buffers; i++) {
		uint32_t b = e->sig.buffers[i];
		const char *t = e->d->memory[e->f->buffers[b].type.elem];
		if (e->sig.written[i])
			buf_printf(e->out, "%s%s%s *b%u = (%s%s *)(frame + %lld);%s", before, e->d->local, t, b, e->d->local, t,
				   (long long)m->at[b], after);
	}
}

static void declare_row(const struct block_printer *p, const struct loop_stmt *s, const struct row_memory *m)
{
	const struct text_printer *e = &p->e;
	const char *local = e->d->local, *part = e->d->part;
	declare_results(p, m, "\t", "\n");
	if (most_reductions(&s->u.block))
		buf_printf(e->out, "\t%s%s (*parts)[%u] = (%s%s (*)[%u])(frame + %lld);\n", local, part, p->group, local, part, p->group,
			   (long long)m->parts);
	declare_buffers(p, s);
	buf_printf(e->out, "\tconst int lane = (int)%s;\n", e->d->lane);
	for (uint32_t k = 0; k < e->n->n_parallel; k++)
		buf_printf(e->out, "\tconst %s i%u = 0;\n", e->index_type, k);
}

/* The first group of the launch leaves the results in memory. */
static void store_row(const struct block_printer *p)
{
	const struct text_printer *e = &p->e;
	buf_puts(e->out, "\tif (first) {\n");
	for (uint32_t i = 0; i < e->sig.n_buffers; i++) {
		uint32_t b = e->sig.buffers[i];
		dtype t = e->f->buffers[b].type.elem;
		long long n = loops_row_bytes(e->f, b) / (int64_t)dtype_size(t);
		if (!e->sig.written[i])
			continue;
		buf_printf(e->out, "\t\tfor (int q = lane; q < %lld; q += %u)\n\t\t\t((%s%s *)(", n, p->group, e->d->global,
			   e->d->memory[t]);
		buf_printf(e->out, e->d->address, b, b);
		buf_printf(e->out, "))[q] = b%u[q];\n", b);
	}
	buf_puts(e->out, "\t}\n");
}

static void put_row_function(struct block_printer *p, const struct loop_stmt *s, const struct row_memory *m)
{
	const struct text_printer *e = &p->e;
	const bool *results = e->local;
	buf_printf(e->out, "TRI_INLINE void %s_k%u_row(%suchar *frame, int first", e->f->symbol, e->stmt, e->d->local);
	p->e.local = NULL;
	text_buffers(e, ", ", ", ");
	p->e.local = results;
	for (uint32_t i = 0; i < e->sig.n_syms; i++)
		buf_printf(e->out, ", %s n%u", e->d->values[DT_INT64], e->sig.syms[i]);
	buf_puts(e->out, ")\n{\n");
	text_pointers(e);
	declare_row(p, s, m);
	block_statements(p, &s->u.block);
	store_row(p);
	buf_puts(e->out, "}\n\n");
}

static void put_row_names(const struct block_printer *p, const struct row_memory *m, uint32_t x)
{
	const struct text_printer *e = &p->e;
	buf_printf(e->out, "#define TRI_ROW %suchar frame[%lld] __attribute__((aligned(%d))); \\\n\t%s_k%u_row(frame, %s == 0",
		   e->d->shared, (long long)m->bytes, ALIGNMENT, e->f->symbol, e->stmt, e->d->group);
	for (uint32_t i = 0; i < e->sig.n_buffers; i++) {
		buf_puts(e->out, ", ");
		buf_printf(e->out, e->d->buffer_argument, e->sig.buffers[i], e->sig.buffers[i]);
	}
	for (uint32_t i = 0; i < e->sig.n_syms; i++)
		buf_printf(e->out, ", n%u", e->sig.syms[i]);
	buf_puts(e->out, ");");
	declare_results(p, m, " \\\n\t", "");
	buf_printf(e->out, "\n#define TRI_X (frame + %lld)\n#define TRI_X_SPACE %s\n", (long long)m->at[x], e->d->local);
}

void text_repeated_block(struct text_printer *e, uint32_t x, uint32_t group)
{
	const struct loop_stmt *s = &e->f->stmts[e->stmt];
	e->n = &s->u.block.loops;
	text_signature_of_stmt(e->scratch, e->d, e->f, s, &e->sig);
	e->index_type = text_index_type(e->d, e->n);
	struct block_printer p = {*e, group};
	const struct row_memory m = row_memory_of(&p, s);
	put_row_function(&p, s, &m);
	put_row_names(&p, &m, x);
}
