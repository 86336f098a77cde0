/* Statements that call: units, branches, loops, effects. */
#include <string.h>
#include "backend/ir/tensor.h"
#include "backend/loops/interp/interp_state.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/format.h"

enum { MAX_DEPTH = 64 };

/* A call with the memory of its arguments, which a loop swaps. */
struct call_run {
	const struct loop_call *call;
	const struct loop_fn *callee;
	const void *const *weights;
	void **bufs;
	int64_t *dims;
};

static bool interp_stmt_open_call(struct loop_run *r, const struct loop_call *c, struct call_run *out)
{
	*out = (struct call_run){.call = c, .callee = r->host->find ? r->host->find(r->host->ctx, c->callee) : NULL};
	if (!out->callee || r->depth >= MAX_DEPTH)
		run_fail(r, LOOP_BROKEN, "%s cannot be called", c->callee);
	else if (out->callee->n_inputs != c->n_inputs || out->callee->n_outputs != c->n_buffers - c->n_inputs ||
		 dims_syms(out->callee->dims) != c->n_dims)
		run_fail(r, LOOP_BROKEN, "%s is called with other arguments than it has", c->callee);
	if (run_failed(r))
		return false;
	out->weights = c->slot == LOOP_NONE ? NULL : r->weights[c->slot];
	out->bufs = ARENA_ARRAY(r->arena, void *, c->n_buffers + 1);
	for (uint32_t k = 0; k < c->n_buffers; k++)
		out->bufs[k] = k < out->callee->n_inputs ? run_input(r, c->buffers[k]) : run_output(r, c->buffers[k]);
	out->dims = ARENA_ARRAY(r->arena, int64_t, c->n_dims + 1);
	for (uint32_t k = 0; k < c->n_dims; k++)
		out->dims[k] = run_dim(r, c->dims[k]);
	return !run_failed(r);
}

static bool interp_stmt_execute(struct loop_run *r, const struct call_run *c)
{
	return loop_interp_at(c->callee, c->bufs, c->weights, c->dims, r->host, r->depth + 1, r->error);
}

static void interp_stmt_call_unit(struct loop_run *r, const struct loop_call *c)
{
	struct call_run x;
	if (interp_stmt_open_call(r, c, &x))
		interp_stmt_execute(r, &x);
}

void run_call(struct loop_run *r, const struct loop_stmt *s) { interp_stmt_call_unit(r, &s->u.call); }

static bool condition(struct loop_run *r, uint32_t buffer)
{
	const uint8_t *v = run_input(r, buffer);
	return v && *v;
}

void run_branch(struct loop_run *r, const struct loop_stmt *s)
{
	bool first = condition(r, s->u.branch.condition);
	if (!run_failed(r))
		interp_stmt_call_unit(r, &s->u.branch.calls[first ? 0 : 1]);
}

static size_t bytes_of(const struct loop_run *r, uint32_t buffer) { return (size_t)r->memory[buffer].count * r->memory[buffer].size; }

static void interp_stmt_copy(void *to, const void *from, size_t n)
{
	if (n && to != from)
		memmove(to, from, n);
}

static void start_carried(struct loop_run *r, const struct loop_iterate *l)
{
	for (uint32_t k = 0; k < l->n_carried && !run_failed(r); k++) {
		const void *from = run_input(r, l->initial[k]);
		void *to = run_output(r, l->body.buffers[k]);
		if (from && to && bytes_of(r, l->initial[k]) != bytes_of(r, l->body.buffers[k]))
			run_fail(r, LOOP_BROKEN, "a carried value starts with another size");
		else if (from && to)
			interp_stmt_copy(to, from, bytes_of(r, l->body.buffers[k]));
	}
}

void run_loop(struct loop_run *r, const struct loop_stmt *s)
{
	const struct loop_iterate *l = &s->u.loop;
	uint32_t n = l->body.n_buffers, carried = l->n_carried;
	struct call_run x;
	bool go = condition(r, l->condition);
	start_carried(r, l);
	if (run_failed(r) || !interp_stmt_open_call(r, &l->body, &x))
		return;
	while (go && interp_stmt_execute(r, &x)) {
		for (uint32_t k = 0; k < carried; k++) {
			void *read = x.bufs[k];
			x.bufs[k] = x.bufs[n - carried + k];
			x.bufs[n - carried + k] = read;
		}
		go = *(const uint8_t *)x.bufs[n - carried - 1];
	}
	for (uint32_t k = 0; k < carried; k++)
		interp_stmt_copy(r->memory[l->body.buffers[k]].at, x.bufs[k], bytes_of(r, l->body.buffers[k]));
}

static void interp_stmt_put_buf(void *ctx, const char *text, size_t n) { buf_put(ctx, text, n); }

void run_effect(struct loop_run *r, const struct loop_stmt *s)
{
	const struct loop_effect *e = &s->u.effect;
	uint32_t at = 0, first = e->where != NULL;
	struct format_value *values = ARENA_ARRAY(r->arena, struct format_value, e->n_buffers + 1);
	int64_t *dims = ARENA_ARRAY(r->arena, int64_t, e->n_dims + 1);
	for (uint32_t k = 0; k < e->n_buffers; k++) {
		values[k] = (struct format_value){(enum format_elem)(e->kinds[k] >> 4), e->kinds[k] & 15u, dims + at,
						  run_input(r, e->buffers[k])};
		for (uint32_t i = 0; i < values[k].rank; i++, at++)
			dims[at] = run_dim(r, e->dims[at]);
	}
	if (run_failed(r) || (first && *(const uint8_t *)values[0].data))
		return;
	struct buf text = {0};
	struct format_out out = {interp_stmt_put_buf, &text};
	format_template(e->text, values + first, &out);
	if (first)
		run_fail(r, LOOP_ASSERTION, "%s: %s", e->where, text.at ? text.at : "");
	else if (r->host->put)
		r->host->put(r->host->ctx, text.at ? text.at : "", text.len);
	buf_free(&text);
}
