/* Memory: every element is written before it is read, once by each nest, and temporaries that are in use at the same time do not overlap.
 * Elements are tracked in buffers of constant and moderate size; of others only whether anything was written. */
#include "backend/loops/ir/beside.h"
#include "backend/loops/ir/grow.h"
#include "backend/loops/ir/in_place.h"
#include "backend/loops/verify/verify_state.h"
#include "base/arena.h"

enum { MOST_TRACKED = 1 << 14, ALIGNMENT = 64 };

struct content {
	bool written;     /* anything */
	int64_t count;    /* elements; -1: not constant */
	int64_t missing;  /* elements that are not written; 0 if they are not tracked */
	int64_t grown;    /* the first elements, which are those of the buffer that it grows */
	uint32_t *writer; /* of each element the number of the last store; NULL: not tracked */
	uint32_t first, last;
	uint32_t owner; /* the block that it belongs to, as a statement of the unit, plus one; 0: the unit */
};
struct memory_check {
	const struct verifier *v;
	struct content *contents;       /* of each buffer */
	uint32_t stores;                /* number of the current one */
	const struct loop_block *block; /* the outermost one around; NULL: none */
	bool ok;
};

static bool verify_memory_is_written(const struct memory_check *m, uint32_t buffer)
{
	enum buffer_kind k = m->v->f->buffers[buffer].kind;
	return k == BUFFER_TEMP || k == BUFFER_OUTPUT;
}

static void verify_memory_fail(struct memory_check *m, const char *what, uint32_t buffer)
{
	m->ok = m->ok && verify_fail(m->v, what, buffer);
}

static void read_buffer(struct memory_check *m, uint32_t buffer)
{
	const struct content *c = &m->contents[buffer];
	if (verify_memory_is_written(m, buffer) && c->count != 0 && (!c->written || c->missing))
		verify_memory_fail(m, "a buffer is read before it is written", buffer);
	if (m->v->f->buffers[buffer].grows != LOOP_NONE)
		read_buffer(m, m->v->f->buffers[buffer].grows);
}

static void write_buffer(struct memory_check *m, uint32_t buffer)
{
	struct content *c = &m->contents[buffer];
	if (m->v->f->buffers[buffer].grows != LOOP_NONE)
		verify_memory_fail(m, "rows of a buffer that grows are written again", buffer);
	m->stores++;
	c->written = true;
	c->missing = 0;
	for (int64_t k = 0; c->writer && k < c->count; k++)
		c->writer[k] = m->stores;
}

/* ---- nests ---- */

struct walk {
	int64_t base, stride[LOOP_MAX], extent[LOOP_MAX];
	uint32_t loops;
};

/* False: something is not constant. */
static bool verify_memory_walk_of(const struct memory_check *m, const struct loop_nest *n, const struct loop_access *a, struct walk *w)
{
	bool own = m->v->f->buffers[a->buffer].scope != SCOPE_GLOBAL;
	w->loops = n->n_parallel;
	if (!verify_const(m->v, a->base, &w->base))
		return false;
	for (uint32_t k = 0; k < w->loops; k++)
		if (!verify_const(m->v, a->stride[k], &w->stride[k]) || !verify_const(m->v, n->extent[k], &w->extent[k]))
			return false;
	for (uint32_t k = 0; k < n->n_outer; k++) /* iterations with own memory, or that write again what the one before wrote */
		if (k < m->block->loops.n_parallel ? own : w->stride[k] == 0)
			w->extent[k] = w->extent[k] > 0;
	return true;
}

/* Writes the elements of the loops from `loop` on; false if one of them was written by this store before. */
static bool write_elements(struct memory_check *m, struct content *c, const struct walk *w, uint32_t loop, int64_t at)
{
	if (loop < w->loops) {
		for (int64_t k = 0; k < w->extent[loop]; k++)
			if (!write_elements(m, c, w, loop + 1, at + k * w->stride[loop]))
				return false;
		return true;
	}
	if (c->writer[at] == m->stores || at < c->grown)
		return false;
	c->missing -= c->writer[at] == 0;
	c->writer[at] = m->stores;
	return true;
}

static void write_store(struct memory_check *m, const struct loop_nest *n, const struct loop_access *a)
{
	struct content *c = &m->contents[a->buffer];
	struct walk w;
	m->stores++;
	c->written = true;
	if (!c->writer || !verify_memory_walk_of(m, n, a, &w))
		c->missing = 0;
	else if (!write_elements(m, c, &w, 0, w.base))
		verify_memory_fail(m, c->grown ? "rows of a buffer that grows are written again" : "two iterations write the same element",
				   a->buffer);
}

static void verify_memory_check_nest(struct memory_check *m, const struct loop_nest *n)
{
	for (uint32_t k = 0; k < n->n_exprs; k++)
		if (n->exprs[k].kind == LOOP_LOAD)
			read_buffer(m, n->exprs[k].access.buffer);
	for (uint32_t k = 0; k < n->n_stores && m->ok; k++)
		write_store(m, n, &n->stores[k].access);
}

/* ---- other statements ---- */

static bool is_result(const struct loop_kernel *x, uint32_t k) { return kernel_operand(x->kernel, loop_kernel_at(x, k))->written; }

static void check_kernel(struct memory_check *m, const struct loop_kernel *x)
{
	if (x->prologue)
		verify_memory_check_nest(m, x->prologue);
	for (uint32_t k = 0; k < x->n_buffers; k++)
		if (!is_result(x, k))
			read_buffer(m, x->buffers[k]);
	for (uint32_t k = 0; k < x->n_buffers; k++)
		if (is_result(x, k))
			write_buffer(m, x->buffers[k]);
	if (x->epilogue)
		verify_memory_check_nest(m, x->epilogue);
}

static void verify_memory_read_inputs(struct memory_check *m, const struct loop_call *c, uint32_t from)
{
	for (uint32_t k = from; k < c->n_inputs; k++)
		read_buffer(m, c->buffers[k]);
}

static void write_results(struct memory_check *m, const struct loop_call *c)
{
	for (uint32_t k = c->n_inputs; k < c->n_buffers; k++)
		write_buffer(m, c->buffers[k]);
}

/* A callee may grow what it reads. */
static void verify_memory_check_call(struct memory_check *m, const struct loop_call *c)
{
	verify_memory_read_inputs(m, c, 0);
	for (uint32_t k = c->n_inputs; k < c->n_buffers; k++) {
		uint32_t from = m->v->f->buffers[c->buffers[k]].grows;
		bool reads = false;
		for (uint32_t i = 0; i < c->n_inputs; i++)
			reads |= c->buffers[i] == from;
		if (from == LOOP_NONE || !reads)
			write_buffer(m, c->buffers[k]);
		m->contents[c->buffers[k]].written = true;
		m->contents[c->buffers[k]].missing = 0;
	}
}

static void check_branch(struct memory_check *m, const struct loop_branch *b)
{
	read_buffer(m, b->condition);
	verify_memory_read_inputs(m, &b->calls[0], 0);
	verify_memory_read_inputs(m, &b->calls[1], 0);
	write_results(m, &b->calls[0]); /* those of the other */
}

static void check_loop(struct memory_check *m, const struct loop_iterate *l)
{
	read_buffer(m, l->condition);
	for (uint32_t k = 0; k < l->n_carried; k++)
		read_buffer(m, l->initial[k]);
	for (uint32_t k = 0; k < l->n_carried; k++)
		write_buffer(m, l->body.buffers[k]);
	verify_memory_read_inputs(m, &l->body, l->n_carried);
	write_results(m, &l->body);
}

/* The lifetime of each temporary, in statements. */
struct lifetime_visit {
	struct memory_check *m;
	uint32_t first, last, owner; /* statements of one launch, of the unit or of the block `owner` */
};

static void verify_memory_extend(void *ctx, uint32_t buffer)
{
	const struct lifetime_visit *x = ctx;
	struct content *c = &x->m->contents[buffer];
	bool own = x->m->v->f->buffers[buffer].scope != SCOPE_GLOBAL;
	if (own != (x->owner != 0))
		return;
	if (own && c->owner && c->owner != x->owner)
		verify_memory_fail(x->m, "a buffer of two blocks", buffer);
	c->owner = x->owner;
	c->first = c->first < x->first ? c->first : x->first;
	c->last = x->last;
}

static void check_stmt(struct memory_check *m, const struct loop_stmt *s);

static void check_block(struct memory_check *m, const struct loop_block *b)
{
	bool outermost = !m->block;
	m->block = outermost ? b : m->block;
	for (uint32_t k = 0; k < b->n_stmts && m->ok; k++) {
		struct lifetime_visit x = {m, k, k, m->v->stmt + 1};
		if (outermost)
			loop_stmt_buffers(&b->stmts[k], verify_memory_extend, &x);
		check_stmt(m, &b->stmts[k]);
	}
	m->block = outermost ? NULL : m->block;
}

static void check_stmt(struct memory_check *m, const struct loop_stmt *s)
{
	switch (s->kind) {
	case STMT_NEST: verify_memory_check_nest(m, &s->u.nest); return;
	case STMT_KERNEL: check_kernel(m, &s->u.kernel); return;
	case STMT_CALL: verify_memory_check_call(m, &s->u.call); return;
	case STMT_BRANCH: check_branch(m, &s->u.branch); return;
	case STMT_LOOP: check_loop(m, &s->u.loop); return;
	case STMT_EFFECT:
		for (uint32_t k = 0; k < s->u.effect.n_buffers; k++)
			read_buffer(m, s->u.effect.buffers[k]);
		return;
	case STMT_BLOCK: check_block(m, &s->u.block); return;
	}
}

/* ---- what takes the memory of another temporary ---- */

/* The statement that first writes k reads the other one last, and may overwrite it. */
static bool is_sound_alias(const struct memory_check *m, uint32_t k)
{
	const struct loop_fn *f = m->v->f;
	const struct loop_buffer *b = &f->buffers[k], *from = &f->buffers[b->alias];
	const struct content *c = &m->contents[k], *dying = &m->contents[b->alias];
	if (c->first >= f->n_stmts || dying->last != c->first || dying->first >= c->first || !dim_eq(b->offset, from->offset) ||
	    !loops_can_overwrite(f, &f->stmts[c->first], b->alias, k))
		return false;
	const struct loop_nest *n = loop_stmt_nest(&f->stmts[c->first]);
	return !n || loops_executes_once(n);
}

static void check_aliases(struct memory_check *m, struct arena *a)
{
	const struct loop_fn *f = m->v->f;
	bool *taken = ARENA_ARRAY(a, bool, f->n_buffers + 1);
	loops_mark_grown(f, taken);
	for (uint32_t k = 0; k < f->n_buffers && m->ok; k++) {
		uint32_t from = f->buffers[k].alias;
		if (from == LOOP_NONE)
			continue;
		if (from >= f->n_buffers || taken[from] || !is_sound_alias(m, k))
			verify_memory_fail(m, "a temporary takes memory that is still in use", k);
		else
			taken[from] = true;
	}
}

/* ---- places ---- */

/* What temporaries of one scope are placed in: the scratch memory of the unit, or the frame of a block. */
struct places {
	uint32_t owner, n_stmts;
	dim room;
};

static bool is_placed(const struct memory_check *m, uint32_t k)
{
	const struct loop_fn *f = m->v->f;
	return f->buffers[k].kind == BUFFER_TEMP && loop_scope_is_placed(f->buffers[k].scope) &&
	       f->buffers[loops_root(f, k)].kind == BUFFER_TEMP;
}

/* The bytes of a temporary. False: they are not constant, or there are none. */
static bool verify_memory_place_of(const struct memory_check *m, uint32_t k, int64_t *from, int64_t *to)
{
	const struct loop_buffer *b = &m->v->f->buffers[k];
	if (!is_placed(m, k) || m->contents[k].count <= 0 || !verify_const(m->v, b->offset, from))
		return false;
	*to = *from + m->contents[k].count * (int64_t)dtype_size(b->type.elem);
	return true;
}

/* The place of a temporary and its lifetime, from its first statement to its last. One that no statement uses has neither. */
static void check_place(struct memory_check *m, const struct places *p, uint32_t k)
{
	int64_t from, to, room;
	const struct content *c = &m->contents[k];
	const struct loop_buffer *b = &m->v->f->buffers[k];
	if (b->kind != BUFFER_TEMP || c->owner != p->owner || !loop_scope_is_placed(b->scope))
		return;
	if (c->first == UINT32_MAX ? b->end != 0 : (b->first != c->first || b->end != c->last + 1))
		verify_memory_fail(m, "a temporary is used outside of its lifetime, or has a longer one", k);
	if (c->first == UINT32_MAX)
		return;
	if (b->grows != LOOP_NONE && is_placed(m, k) && !dim_eq(b->offset, m->v->f->buffers[b->grows].offset))
		verify_memory_fail(m, "a temporary that grows is not in the memory of the other one", k);
	if (verify_const(m->v, m->v->f->buffers[k].offset, &from) && (from < 0 || from % ALIGNMENT))
		verify_memory_fail(m, "a temporary at an address that is not aligned", k);
	if (verify_memory_place_of(m, k, &from, &to) && verify_const(m->v, p->room, &room) && to > room)
		verify_memory_fail(m, "a temporary outside of the scratch memory or frame", k);
}

static void verify_memory_check_places(struct memory_check *m, struct arena *a, const struct places *p)
{
	const struct loop_fn *f = m->v->f;
	uint32_t *live = ARENA_ARRAY(a, uint32_t, f->n_buffers + 1), n_live = 0;
	int64_t from, to, other, end;
	if (verify_const(m->v, p->room, &from) && from == LOOP_NOT_PLACED)
		return;
	for (uint32_t k = 0; k < f->n_buffers && m->ok; k++)
		check_place(m, p, k);
	for (uint32_t s = 0; s < p->n_stmts; s++)
		for (uint32_t k = 0; k < f->n_buffers && m->ok; k++) {
			uint32_t kept = 0;
			if (m->contents[k].first != s || m->contents[k].owner != p->owner || !verify_memory_place_of(m, k, &from, &to))
				continue;
			for (uint32_t i = 0; i < n_live; i++) {
				if (m->contents[live[i]].last < s)
					continue;
				live[kept++] = live[i];
				if (m->v->f->buffers[k].alias != live[i] && loops_root(f, k) != loops_root(f, live[i]) &&
				    verify_memory_place_of(m, live[i], &other, &end) && from < end && other < to)
					verify_memory_fail(m, "a temporary overlaps another one that is in use", k);
			}
			n_live = kept;
			live[n_live++] = k;
		}
}

/* ---- the function ---- */

static void verify_memory_start(struct memory_check *m, struct arena *a)
{
	for (uint32_t k = 0; k < m->v->f->n_buffers; k++) {
		struct content *c = &m->contents[k];
		*c = (struct content){.first = UINT32_MAX};
		if (!verify_count(m->v, &m->v->f->buffers[k].type, &c->count))
			c->count = -1;
		uint32_t from = m->v->f->buffers[k].grows;
		if (from != LOOP_NONE && hir_same_shape(&m->v->f->buffers[k].type, &m->v->f->buffers[from].type))
			c->written = true; /* nothing is new */
		if (!verify_memory_is_written(m, k) || c->count < 0 || c->count > MOST_TRACKED)
			continue;
		if (from != LOOP_NONE)
			verify_count(m->v, &m->v->f->buffers[from].type, &c->grown);
		c->missing = c->count - c->grown;
		c->writer = ARENA_ARRAY(a, uint32_t, c->count + 1);
	}
}

bool verify_memory(struct verifier *v)
{
	struct arena *a = arena_new(0);
	struct memory_check m = {.v = v, .contents = ARENA_ARRAY(a, struct content, v->f->n_buffers + 1), .ok = true};
	const struct loop_fn *f = v->f;
	verify_memory_start(&m, a);
	for (uint32_t s = 0; s < f->n_stmts && m.ok; s++) {
		struct lifetime_visit x = {&m, loops_launch_begin(f, v->stmt = s), loops_launch_end(f, s) - 1, 0};
		loop_stmt_buffers(&f->stmts[s], verify_memory_extend, &x);
		check_stmt(&m, &f->stmts[s]);
	}
	for (uint32_t k = 0; k < f->n_buffers && m.ok; k++)
		if (f->buffers[k].kind == BUFFER_OUTPUT)
			read_buffer(&m, k);
	check_aliases(&m, a);
	verify_memory_check_places(&m, a, &(struct places){0, f->n_stmts, f->scratch});
	for (uint32_t s = 0; s < f->n_stmts; s++)
		if (f->stmts[s].kind == STMT_BLOCK)
			verify_memory_check_places(&m, a, &(struct places){s + 1, f->stmts[s].u.block.n_stmts, f->stmts[s].u.block.frame});
	arena_free(a);
	return m.ok;
}
