/* Forwards stores: where a nest does nothing but copy a temporary into a part of another buffer, such as the rows that a cache gets, the nests that compute
 * the temporary store there, and the copy is dropped. Half of a row, as rotary positions write it, finds its place in the other buffer by its strides. */
#include <string.h>
#include "backend/loops/ir/grow.h"
#include "backend/loops/loop_passes.h"
#include "backend/loops/passes/merge.h"
#include "base/arena.h"

/* A copy of a temporary, and a nest that writes the temporary before. */
struct forwarding {
	struct loop_fn *f;
	struct dims *dims;
	uint32_t copy;
	const struct loop_access *load, *store; /* of the copy */
	uint32_t writer;
};

/* True if the iterations read each element of a part once, in order. */
static bool reads_in_order(struct dims *d, const struct loop_nest *n, const struct loop_access *a)
{
	dim stride = dim_const(d, 1);
	for (uint32_t k = n->n_parallel; k-- > 0; stride = dim_mul(d, stride, n->extent[k]))
		if (!dim_eq(a->stride[k], stride))
			return false;
	return true;
}

static bool forward_is_copy(struct dims *d, const struct loop_fn *f, const struct loop_nest *n)
{
	if (n->n_reduce || n->n_reductions || n->n_exprs != 1 || n->n_stores != 1)
		return false;
	const struct loop_access *load = &n->exprs[0].access, *store = &n->stores[0].access;
	return n->exprs[0].kind == LOOP_LOAD && load->index == LOOP_NONE && store->index == LOOP_NONE &&
	       f->buffers[load->buffer].kind == BUFFER_TEMP && f->buffers[load->buffer].grows == LOOP_NONE &&
	       f->buffers[load->buffer].type.elem == f->buffers[store->buffer].type.elem && reads_in_order(d, n, load);
}

struct forward_uses {
	const struct loop_fn *f;
	uint32_t buffer;
	bool found; /* a buffer in the memory of this one */
};

static void forward_compare(void *ctx, uint32_t buffer)
{
	struct forward_uses *u = ctx;
	u->found |= loops_root(u->f, buffer) == loops_root(u->f, u->buffer);
}

static bool forward_uses(const struct loop_fn *f, uint32_t stmt, uint32_t buffer)
{
	struct forward_uses u = {f, buffer, false};
	loop_stmt_buffers(&f->stmts[stmt], forward_compare, &u);
	return u.found;
}

/* True if statement k is a nest that writes what the copy reads, and does not read it. */
static bool forward_is_writer(const struct forwarding *w, uint32_t k)
{
	const struct loop_nest *n = &w->f->stmts[k].u.nest;
	if (k > w->copy || w->f->stmts[k].kind != STMT_NEST)
		return false;
	for (uint32_t i = 0; i < n->n_exprs; i++)
		if (n->exprs[i].kind == LOOP_LOAD && n->exprs[i].access.buffer == w->load->buffer)
			return false;
	return true;
}

/* Only nests that write the temporary use it, and from the first of them to the copy nothing uses the memory that is written. Returns the first, or LOOP_NONE. */
static uint32_t forward_find_writers(const struct forwarding *w)
{
	uint32_t first = LOOP_NONE;
	for (uint32_t k = 0; k < w->f->n_stmts; k++) {
		if (k == w->copy || !forward_uses(w->f, k, w->load->buffer))
			continue;
		if (!forward_is_writer(w, k))
			return LOOP_NONE;
		first = first == LOOP_NONE ? k : first;
	}
	for (uint32_t k = first; k < w->copy; k++)
		if (forward_uses(w->f, k, w->store->buffer))
			return LOOP_NONE;
	return first;
}

/* The element that a store writes, in the loops of the copy: of each of them the first iteration, and the loop of the writer that goes on from there. */
struct forward_place {
	int64_t first[LOOP_MAX];
	uint32_t loop[LOOP_MAX]; /* LOOP_NONE: none does */
};

/* Divides the constant part of the offset among loops with constant strides, the longest stride first. */
static bool place_first(const struct forwarding *w, const struct loop_access *a, struct forward_place *p)
{
	const struct loop_nest *copy = &w->f->stmts[w->copy].u.nest;
	int64_t rest, stride;
	if (!dim_is_const(w->dims, dim_sub(w->dims, a->base, w->load->base), &rest) || rest < 0)
		return false;
	for (uint32_t k = 0; k < copy->n_parallel; k++) { /* outer loops have longer strides, or it does not fit */
		bool fixed = dim_is_const(w->dims, w->load->stride[k], &stride) && stride > 0;
		p->first[k] = fixed ? rest / stride : 0;
		rest -= fixed ? p->first[k] * stride : 0;
	}
	return rest == 0;
}

/* True if the iterations of loop `own` of the writer, from `first` on, are some of those of loop k of the copy. */
static bool is_within(const struct forwarding *w, uint32_t k, int64_t first, uint32_t own)
{
	dim extent = w->f->stmts[w->copy].u.nest.extent[k];
	dim count = own == LOOP_NONE ? dim_const(w->dims, 1) : w->f->stmts[w->writer].u.nest.extent[own];
	int64_t all, part;
	if (first == 0 && dim_eq(count, extent))
		return true;
	return dim_is_const(w->dims, extent, &all) && dim_is_const(w->dims, count, &part) && part <= all - first;
}

/* Finds the loop of the copy for each loop of the writer. Neighbours have to stay neighbours. */
static bool find_place(const struct forwarding *w, const struct loop_access *a, struct forward_place *p)
{
	const struct loop_nest *copy = &w->f->stmts[w->copy].u.nest, *n = &w->f->stmts[w->writer].u.nest;
	const dim one = dim_const(w->dims, 1);
	memset(p->loop, 0xff, sizeof p->loop);
	if (a->index != LOOP_NONE || !place_first(w, a, p))
		return false;
	for (uint32_t own = 0; own < n->n_parallel; own++) {
		uint32_t k = 0;
		while (k < copy->n_parallel && (p->loop[k] != LOOP_NONE || !dim_eq(w->load->stride[k], a->stride[own])))
			k++;
		if (k == copy->n_parallel || (dim_eq(a->stride[own], one) && !dim_eq(w->store->stride[k], one)))
			return false;
		p->loop[k] = own;
	}
	for (uint32_t k = 0; k < copy->n_parallel; k++)
		if (!is_within(w, k, p->first[k], p->loop[k]))
			return false;
	return true;
}

static struct loop_access forwarded(const struct forwarding *w, const struct forward_place *p)
{
	struct loop_access a = *w->store;
	for (uint32_t k = 0; k < LOOP_MAX; k++)
		a.stride[k] = dim_const(w->dims, 0);
	for (uint32_t k = 0; k < w->f->stmts[w->copy].u.nest.n_parallel; k++) {
		a.base = dim_add(w->dims, a.base, dim_mul(w->dims, w->store->stride[k], dim_const(w->dims, p->first[k])));
		if (p->loop[k] != LOOP_NONE)
			a.stride[p->loop[k]] = w->store->stride[k];
	}
	return a;
}

/* Finds the accesses that take the place of the writer's stores. Returns NULL if one has none. */
static struct loop_store *forward_stores(const struct forwarding *w)
{
	const struct loop_nest *n = &w->f->stmts[w->writer].u.nest;
	struct loop_store *stores = ARENA_ARRAY(w->f->unit, struct loop_store, n->n_stores + 1);
	memcpy(stores, n->stores, n->n_stores * sizeof *stores);
	for (uint32_t k = 0; k < n->n_stores; k++) {
		struct forward_place p;
		if (stores[k].access.buffer != w->load->buffer)
			continue;
		if (!find_place(w, &stores[k].access, &p))
			return NULL;
		stores[k].access = forwarded(w, &p);
	}
	return stores;
}

static bool forward(struct forwarding *w)
{
	const uint32_t first = forward_find_writers(w);
	for (w->writer = first; w->writer < w->copy; w->writer++)
		if (forward_uses(w->f, w->writer, w->load->buffer) && !forward_stores(w))
			return false;
	for (w->writer = first; w->writer < w->copy; w->writer++)
		if (forward_uses(w->f, w->writer, w->load->buffer)) {
			w->f->stmts[w->writer].u.nest.stores = forward_stores(w);
			loops_merge_values(w->f->unit, &w->f->stmts[w->writer], &w->f->stmts[w->copy]);
		}
	return first != LOOP_NONE;
}

uint32_t loop_pass_forward(struct loop_fn *f, struct loop_pass_context *c)
{
	const uint32_t before = f->n_stmts;
	for (uint32_t k = 0; k < f->n_stmts; k++) {
		const struct loop_nest *n = &f->stmts[k].u.nest;
		if (f->stmts[k].kind != STMT_NEST || !forward_is_copy(c->dims, f, n))
			continue;
		if (forward(&(struct forwarding){f, c->dims, k, &n->exprs[0].access, &n->stores[0].access, 0})) {
			memmove(&f->stmts[k], &f->stmts[k + 1], (f->n_stmts - k - 1) * sizeof *f->stmts);
			f->n_stmts--;
			k--;
		}
	}
	return before - f->n_stmts;
}
