#include "backend/loops/ir/in_place.h"
#include <string.h>

static bool in_place_same_size(const struct loop_fn *f, const struct hir_type *a, const struct hir_type *b)
{
	int64_t sizes[2] = {1, 1}, n;
	if (a->rank == b->rank && memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0)
		return true;
	for (uint32_t i = 0; i < 2; i++)
		for (uint32_t k = 0; k < (i ? b : a)->rank; k++)
			if (!dim_is_const(f->dims, (i ? b : a)->dims[k], &n) || __builtin_mul_overflow(sizes[i], n, &sizes[i]))
				return false;
	return sizes[0] == sizes[1];
}

static bool same_memory(const struct loop_fn *f, const struct loop_buffer *a, const struct loop_buffer *b)
{
	return a->kind == BUFFER_TEMP && b->kind == BUFFER_TEMP && a->scope == SCOPE_GLOBAL && b->scope == SCOPE_GLOBAL &&
	       a->layout == b->layout && a->type.elem == b->type.elem && in_place_same_size(f, &a->type, &b->type);
}

static bool in_place_same_element(const struct loop_access *a, const struct loop_access *b)
{
	return a->index == LOOP_NONE && b->index == LOOP_NONE && dim_eq(a->base, b->base) &&
	       memcmp(a->stride, b->stride, sizeof a->stride) == 0;
}

const struct loop_axis *loops_vector_axis(const struct loop_nest *n)
{
	for (uint32_t k = 0; k < n->schedule.n_axes; k++)
		if (n->schedule.axes[k].kind == AXIS_VECTOR)
			return &n->schedule.axes[k];
	return NULL;
}

bool loops_executes_once(const struct loop_nest *n)
{
	return n->schedule.tail == TAIL_NONE || n->schedule.tail == TAIL_REST || !loops_vector_axis(n);
}

/* The nest stores `to` once, loads `from` only where it stores, and loads nothing of `to`. */
static bool nest_can(const struct loop_nest *n, uint32_t from, uint32_t to)
{
	const struct loop_access *store = NULL;
	for (uint32_t k = 0; k < n->n_stores; k++) {
		uint32_t buffer = n->stores[k].access.buffer;
		if (buffer == from || (buffer == to && store))
			return false;
		store = buffer == to ? &n->stores[k].access : store;
	}
	for (uint32_t k = 0; k < n->n_exprs; k++) {
		const struct loop_access *a = &n->exprs[k].access;
		if (n->exprs[k].kind != LOOP_LOAD || (a->buffer != from && a->buffer != to))
			continue;
		if (!store || a->buffer == to || !in_place_same_element(a, store))
			return false;
	}
	return store && n->n_reduce == 0;
}

static bool loads(const struct loop_nest *n, uint32_t buffer)
{
	for (uint32_t k = 0; k < n->n_exprs; k++)
		if (n->exprs[k].kind == LOOP_LOAD && n->exprs[k].access.buffer == buffer)
			return true;
	return false;
}

/* A prologue reads while results are written. */
static bool kernel_can(const struct loop_kernel *x, uint32_t from, uint32_t to)
{
	for (uint32_t k = x->epilogue || x->prologue ? 0 : 1; k + !x->epilogue < x->n_buffers; k++)
		if (x->buffers[k] == from || x->buffers[k] == to)
			return false;
	if (x->prologue && (loads(x->prologue, from) || loads(x->prologue, to)))
		return false;
	if (x->epilogue)
		return nest_can(x->epilogue, from, to);
	return !x->prologue && kernel_operand(x->kernel, x->n_buffers - 1)->in_place && x->buffers[0] == from &&
	       x->buffers[x->n_buffers - 1] == to;
}

bool loops_can_overwrite(const struct loop_fn *f, const struct loop_stmt *s, uint32_t from, uint32_t to)
{
	if (from == to || !same_memory(f, &f->buffers[from], &f->buffers[to]))
		return false;
	return s->kind == STMT_NEST ? nest_can(&s->u.nest, from, to) : s->kind == STMT_KERNEL && kernel_can(&s->u.kernel, from, to);
}
