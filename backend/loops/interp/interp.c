/* Runs a loop function: memory of its buffers, its checks, its statements. */
#include "backend/loops/interp/interp.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "backend/loops/ir/beside.h"
#include "backend/loops/ir/grow.h"
#include "backend/loops/ir/repeat.h"
#include "backend/loops/interp/interp_state.h"
#include "base/arena.h"

enum { POISON = 0xa5, ALIGNMENT = 64 };

void run_fail(struct loop_run *r, enum loop_error_kind kind, const char *fmt, ...)
{
	va_list ap;
	if (run_failed(r))
		return;
	r->error->kind = kind;
	va_start(ap, fmt);
	vsnprintf(r->error->text, sizeof r->error->text, fmt, ap);
	va_end(ap);
}

int64_t run_dim(const struct loop_run *r, dim x) { return dim_eval(r->f->dims, x, r->syms); }

/* ---- memory ---- */

static bool in_buffer(struct loop_run *r, uint32_t buffer, int64_t from, int64_t n)
{
	const struct loop_memory *m = &r->memory[buffer];
	if (!ir_layout_is_packed(r->f->buffers[buffer].layout) && !m->outside && from >= 0 && n >= 0 && from <= m->count - n)
		return true;
	if (m->outside)
		run_fail(r, LOOP_BROKEN, "b%u is outside of the scratch memory", buffer);
	run_fail(r, LOOP_BROKEN, "element %lld of b%u, which has %lld", (long long)from, buffer, (long long)m->count);
	return false;
}

bool run_reads(struct loop_run *r, uint32_t buffer, int64_t from, int64_t n)
{
	const struct loop_memory *m = &r->memory[buffer];
	if (!in_buffer(r, buffer, from, n))
		return false;
	for (size_t k = (size_t)from * m->size; m->owner && k < (size_t)(from + n) * m->size; k++) {
		if (r->block && m->iteration[k] > r->before && m->iteration[k] != r->iteration) {
			run_fail(r, LOOP_BROKEN, "b%u is read where another iteration of the block wrote", buffer);
			return false;
		}
		if (m->owner[k] && loops_begins_with(r->f, buffer, m->owner[k] - 1))
			continue;
		run_fail(r, LOOP_BROKEN, "b%u is read where %s", buffer,
			 m->owner[k] ? "another buffer was written" : "nothing was written");
		return false;
	}
	return true;
}

/* The first element that the buffer does not have from another one. */
static int64_t first_own(const struct loop_run *r, uint32_t buffer)
{
	uint32_t from = r->f->buffers[buffer].grows;
	return from == LOOP_NONE ? 0 : r->memory[from].count;
}

bool run_writes(struct loop_run *r, uint32_t buffer, int64_t from, int64_t n)
{
	const struct loop_memory *m = &r->memory[buffer];
	if (!in_buffer(r, buffer, from, n))
		return false;
	if (!m->owner || from < first_own(r, buffer)) {
		run_fail(r, LOOP_BROKEN, m->owner ? "b%u is written where it has rows of another buffer" : "b%u cannot be written", buffer);
		return false;
	}
	for (size_t k = (size_t)from * m->size; k < (size_t)(from + n) * m->size; k++) {
		if (r->block && m->iteration[k] > r->before && m->iteration[k] != r->iteration) {
			run_fail(r, LOOP_BROKEN, "b%u is written where another iteration of the block wrote", buffer);
			return false;
		}
		m->owner[k] = buffer + 1;
		m->iteration[k] = r->block ? r->iteration : 0;
	}
	return true;
}

void *run_input(struct loop_run *r, uint32_t buffer)
{
	bool packed = ir_layout_is_packed(r->f->buffers[buffer].layout);
	return packed || run_reads(r, buffer, 0, r->memory[buffer].count) ? r->memory[buffer].at : NULL;
}

void *run_output(struct loop_run *r, uint32_t buffer)
{
	int64_t from = first_own(r, buffer);
	return run_writes(r, buffer, from, r->memory[buffer].count - from) ? r->memory[buffer].at : NULL;
}

static int64_t interp_count_of(struct loop_run *r, const struct hir_type *t)
{
	int64_t n = 1;
	for (uint32_t k = 0; k < t->rank; k++) {
		int64_t v = run_dim(r, t->dims[k]);
		if (v < 0 || __builtin_mul_overflow(n, v, &n) || n > INT32_MAX) {
			run_fail(r, LOOP_BROKEN, "a buffer is negative or very large");
			return 0;
		}
	}
	return n;
}

/* The scratch memory of the unit or the frame of a block. */
struct scratch {
	char *at;
	uint32_t *owner, *iteration;
	int64_t size;
};

static struct scratch interp_allocate(struct loop_run *r, dim room)
{
	struct scratch s = {.size = run_dim(r, room)};
	if (s.size < 0 || s.size > INT32_MAX)
		run_fail(r, LOOP_BROKEN, "the scratch memory is negative or very large");
	if (run_failed(r))
		return s;
	s.at = arena_alloc(r->arena, (size_t)s.size + 1, ALIGNMENT);
	memset(s.at, POISON, (size_t)s.size);
	s.owner = ARENA_ARRAY(r->arena, uint32_t, s.size + 1);
	s.iteration = ARENA_ARRAY(r->arena, uint32_t, s.size + 1);
	return s;
}

/* The part of the memory that the temporary has. */
static void interp_place(struct loop_run *r, uint32_t k, const struct scratch *s)
{
	struct loop_memory *m = &r->memory[k];
	int64_t offset = run_dim(r, r->f->buffers[k].offset);
	m->outside = !r->f->buffers[k].end || offset < 0 || offset % ALIGNMENT || offset + m->count * (int64_t)m->size > s->size;
	if (m->outside) /* also if no statement uses it */
		return;
	m->at = s->at + offset;
	m->owner = s->owner + offset;
	m->iteration = s->iteration + offset;
}

/* Memory of its own, of n bytes. */
static void place_alone(struct loop_run *r, struct loop_memory *m, int64_t n)
{
	m->owner = ARENA_ARRAY(r->arena, uint32_t, n + 1);
	m->iteration = ARENA_ARRAY(r->arena, uint32_t, n + 1);
}

struct frame {
	struct loop_run *run;
	struct scratch s;
};

static void open_buffer(void *ctx, uint32_t k)
{
	const struct frame *x = ctx;
	struct loop_run *r = x->run;
	struct loop_memory *m = &r->memory[k];
	int64_t bytes = m->count * (int64_t)m->size;
	if (r->f->buffers[k].scope == SCOPE_LOCAL)
		interp_place(r, k, &x->s);
	if (loop_scope_is_placed(r->f->buffers[k].scope))
		return;
	m->at = memset(arena_alloc(r->arena, (size_t)bytes + 1, ALIGNMENT), POISON, (size_t)bytes);
	place_alone(r, m, bytes);
}

void run_open_frame(struct loop_run *r)
{
	struct frame x = {r, interp_allocate(r, r->block->frame)};
	for (uint32_t k = 0; k < r->block->n_stmts && !run_failed(r); k++)
		loop_stmt_buffers(&r->block->stmts[k], open_buffer, &x);
}

/* Output k and what it grows: temporaries, and an input, whose memory the caller has passed for both. */
static void open_chain(struct loop_run *r, uint32_t k)
{
	const struct loop_buffer *all = r->f->buffers;
	struct loop_memory *m = &r->memory[k], *root = &r->memory[loops_root(r->f, k)];
	if (m->at != root->at || m->count < root->count) {
		run_fail(r, LOOP_BROKEN, "output %u is not in the memory that it grows", all[k].index);
		return;
	}
	for (size_t i = 0; i < (size_t)root->count * root->size; i++)
		m->owner[i] = loops_root(r->f, k) + 1;
	for (uint32_t part = all[k].grows; all[part].grows != LOOP_NONE; part = all[part].grows) {
		r->memory[part].at = m->at;
		r->memory[part].owner = m->owner;
		r->memory[part].iteration = m->iteration;
	}
}

static void open_buffers(struct loop_run *r, void *const *bufs)
{
	struct scratch s = interp_allocate(r, r->f->scratch);
	for (uint32_t k = 0; k < r->f->n_buffers && !run_failed(r); k++) {
		const struct loop_buffer *b = &r->f->buffers[k];
		struct loop_memory *m = &r->memory[k];
		*m = (struct loop_memory){.count = interp_count_of(r, &b->type), .size = dtype_size(b->type.elem)};
		switch (b->kind) {
		case BUFFER_INPUT: m->at = bufs[b->index]; break;
		case BUFFER_OUTPUT:
			m->at = bufs[r->f->n_inputs + b->index];
			place_alone(r, m, m->count * (int64_t)m->size);
			break;
		case BUFFER_WEIGHT: m->at = (char *)(uintptr_t)r->weights[b->index]; break; /* only read */
		case BUFFER_CONST: m->at = (char *)(uintptr_t)b->data; break;
		case BUFFER_TEMP:
			if (b->scope == SCOPE_GLOBAL && r->f->buffers[loops_root(r->f, k)].kind == BUFFER_TEMP)
				interp_place(r, k, &s);
			break;
		}
	}
	for (uint32_t k = 0; k < r->f->n_buffers && !run_failed(r); k++)
		if (r->f->buffers[k].kind == BUFFER_OUTPUT && r->f->buffers[k].grows != LOOP_NONE)
			open_chain(r, k);
}

/* ---- the function ---- */

static void run_checks(struct loop_run *r)
{
	static const char *const texts[] = {
#define SIZE_ERROR(id, word, text) text,
#include "backend/runtime/abi/size_errors.def"
#undef SIZE_ERROR
	};
	for (uint32_t k = 0; k < r->f->n_checks; k++)
		if (run_dim(r, r->f->checks[k].least) < 0)
			run_fail(r, LOOP_SIZE_ERROR, "%s", texts[r->f->checks[k].kind]);
}

void run_stmt(struct loop_run *r, const struct loop_stmt *s)
{
	arena_mark_t mark = arena_mark(r->arena);
	switch (s->kind) {
#define STMT(id, word, member) \
	case STMT_##id: run_##member(r, s); break;
#include "backend/loops/ir/stmts.def"
#undef STMT
	}
	arena_release(r->arena, mark);
}

/* Forgets the temporaries whose lifetime has ended. */
static void end_lifetimes(struct loop_run *r, uint32_t stmt)
{
	for (uint32_t k = 0; k < r->f->n_buffers; k++) {
		const struct loop_memory *m = &r->memory[k];
		if (r->f->buffers[k].kind != BUFFER_TEMP || r->f->buffers[k].scope != SCOPE_GLOBAL || r->f->buffers[k].end != stmt + 1 ||
		    m->outside || r->grown[k])
			continue;
		for (size_t i = 0; i < (size_t)m->count * m->size; i++)
			if (m->owner[i] == k + 1)
				m->owner[i] = 0;
	}
}

/* The statements of a launch have no order, but that products need the block before them. Returns the end of the launch. */
static uint32_t run_launch(struct loop_run *r, uint32_t k)
{
	const uint32_t end = loops_launch_end(r->f, k), products = loops_products_begin(r->f, k);
	for (; k < products && !run_failed(r); k++)
		run_stmt(r, &r->f->stmts[k]);
	for (uint32_t i = end; i-- > k && !run_failed(r);)
		run_stmt(r, &r->f->stmts[i]);
	return end;
}

static void interp_run_all(struct loop_run *r, void *const *bufs)
{
	run_checks(r);
	if (!run_failed(r))
		open_buffers(r, bufs);
	for (uint32_t k = 0, end; k < r->f->n_stmts && !run_failed(r); k = end) {
		end = run_launch(r, k);
		end_lifetimes(r, end - 1);
	}
	for (uint32_t k = 0; k < r->f->n_buffers && !run_failed(r); k++)
		if (r->f->buffers[k].kind == BUFFER_OUTPUT)
			run_input(r, k);
}

bool loop_interp_at(const struct loop_fn *f, void *const *bufs, const void *const *weights, const int64_t *dims,
		    const struct loop_host *host, uint32_t depth, struct loop_error *error)
{
	struct loop_run r = {.f = f, .weights = weights, .syms = dims, .host = host, .error = error, .depth = depth, .arena = arena_new(0)};
	r.memory = ARENA_ARRAY(r.arena, struct loop_memory, f->n_buffers + 1);
	r.grown = ARENA_ARRAY(r.arena, bool, f->n_buffers + 1);
	loops_mark_grown(f, r.grown);
	interp_run_all(&r, bufs);
	arena_free(r.arena);
	return error->kind == LOOP_RAN;
}

bool loop_interp(const struct loop_fn *f, void *const *bufs, const void *const *weights, const int64_t *dims, const struct loop_host *host,
		 struct loop_error *error)
{
	*error = (struct loop_error){.kind = LOOP_RAN};
	return loop_interp_at(f, bufs, weights, dims, host, 0, error);
}
