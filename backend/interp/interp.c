/* The reference interpreter. It executes one instruction after the other; a value is a dense tensor that is freed after its last use. */
#include "backend/interp/interp.h"
#include <stdlib.h>
#include <string.h>
#include "backend/expand/expand.h"
#include "backend/interp/random.h"
#include "backend/interp/state.h"
#include "backend/ir/size_error.h"
#include "backend/lower/lower.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/bug.h"
#include "base/diag.h"
#include "base/format.h"
#include "base/os.h"

enum { MAX_DEPTH = 256, MAX_ITERATIONS = 100000000 };

/* ---- values ---- */

static void interp_set_shape(struct interp *in, enum ir_op op, const struct hir_type *t, struct tensor *out)
{
	int64_t bytes = (int64_t)dtype_size(t->elem);
	*out = (struct tensor){.elem = t->elem, .rank = t->rank};
	for (uint32_t k = 0; k < t->rank; k++) {
		out->dims[k] = dim_eval(in->f->dims, t->dims[k], in->syms);
		if (out->dims[k] < 0)
			interp_fail_sizes(in, ir_size_error(op));
		if (__builtin_mul_overflow(bytes, out->dims[k], &bytes))
			interp_fail(in, "a tensor is too large");
	}
}

static bool interp_same_shape(const struct tensor *a, const struct tensor *b)
{
	return a->elem == b->elem && a->rank == b->rank && !memcmp(a->dims, b->dims, a->rank * sizeof a->dims[0]);
}

static void take_argument(struct interp *in, ir_ref r, const struct tensor *given, const char *what)
{
	struct tensor want = in->values[r];
	in->values[r] = *given;
	if (!interp_same_shape(&want, given))
		interp_fail(in, "%s %u does not have the declared shape", what, ir_number(ir_at(in->f, r))->number);
}

static void interp_drop(struct interp *in, ir_ref r)
{
	free(in->owned[r]);
	in->owned[r] = NULL;
}

/* ---- checks of shapes that are known only at run time ---- */

static int64_t inner_size(const struct tensor *x) { return x->dims[x->rank - 1]; }

static void interp_check_shapes(struct interp *in, const struct ir_inst *i, const struct tensor *const *x, const struct tensor *out)
{
	bool ok = true;
	if (i->op == OP_RESHAPE || i->op == OP_CONVERT_LAYOUT)
		ok = tensor_count(x[0]) == tensor_count(out);
	if (i->op == OP_MATMUL) {
		ok = inner_size(x[0]) == x[1]->dims[x[1]->rank - 2] && inner_size(x[1]) == inner_size(out) &&
		     x[0]->dims[out->rank - 2] == out->dims[out->rank - 2];
		for (uint32_t k = 0; k + 2 < out->rank; k++)
			ok = ok && x[0]->dims[k] == out->dims[k] && x[1]->dims[k] == out->dims[k];
	}
	for (uint32_t k = 0; i->op == OP_BROADCAST && k < x[0]->rank; k++)
		ok = ok && (x[0]->dims[k] == 1 || x[0]->dims[k] == out->dims[out->rank - x[0]->rank + k]);
	for (uint32_t k = 0; i->op == OP_TRANSPOSE && k < out->rank; k++)
		ok = ok && x[0]->dims[ir_perm(i)->perm[k]] == out->dims[k];
	if (i->op == OP_CONCAT) {
		uint32_t axis = ir_axis(i)->axis;
		int64_t sum = 0;
		for (uint32_t o = 0; o < i->n_operands; o++) {
			for (uint32_t k = 0; k < out->rank; k++)
				ok = ok && (k == axis || x[o]->dims[k] == out->dims[k]);
			sum += x[o]->dims[axis];
		}
		ok = ok && sum == out->dims[axis];
	}
	for (uint32_t k = 0; (i->op == OP_SCATTER || i->op == OP_SCATTER_ADD) && k < out->rank; k++)
		ok = ok && x[1]->dims[k] == x[2]->dims[k] && (k == ir_axis(i)->axis || x[0]->dims[k] == x[1]->dims[k]);
	for (uint32_t k = 0; i->op == OP_PUT && k < x[1]->rank; k++)
		ok = ok && x[1]->dims[k] == out->dims[k < ir_axis(i)->axis ? k : k + 1];
	for (uint32_t k = 0, n = 0; (ir_op_traits(i->op) & REDUCES) && k < x[0]->rank; k++)
		if (!(ir_axes(i)->mask >> k & 1))
			ok = ok && x[0]->dims[k] == out->dims[n++];
	if (i->op == OP_SLICE)
		interp_slice_check(in, i, x[0], out);
	if (i->op == OP_GATHER || i->op == OP_GATHER_DIM || i->op == OP_SCATTER || i->op == OP_SCATTER_ADD || i->op == OP_PUT)
		interp_index_check(in, i, x, out);
	if (i->op == OP_PAD)
		interp_pad_check(in, i, x[0], out);
	if (i->op == OP_WINDOW)
		interp_window_check(in, i, x[0], out);
	if (!ok)
		interp_fail_sizes(in, ir_size_error(i->op) == TRI_SIZE_ERROR_EXTENT ? TRI_SIZE_ERROR_BROADCAST : ir_size_error(i->op));
}

/* ---- calls, branches, loops ---- */

static bool interp_run_function(struct interp *in, struct tensor *outputs);

/* Records the error of a callee and adds the call to its path. */
static void pass_error(struct interp *in, const struct interp_error *e, const struct ir_inst *i)
{
	interp_fail(in, "%s", e->text);
	const char *text = in->error.text;
	in->error = *e;
	in->error.text = text;
	if (e->n_path == INTERP_MAX_PATH || i->op != OP_CALL)
		return;
	in->error.path[e->n_path].callee = ir_call(i)->callee->name;
	in->error.path[in->error.n_path++].at = ir_span(in->f, i);
}

/* A unit that is called, with the values of its symbols. */
struct callee {
	const struct hir_unit *unit;
	const struct ir_fn *f; /* NULL: an error of the caller is recorded */
	struct arena *memory;  /* of f */
	int64_t *syms;
};

/* Weights have the values that the expansions give, as code would compute them. */
static const struct ir_fn *lower_callee(const struct interp *in, struct arena *memory, const struct hir_unit *u, struct diags *diags)
{
	struct ir_fn *f = lower_unit(memory, u, diags);
	if (f && in->expands)
		expand_compound(f, NULL, NULL);
	return f;
}

static struct callee callee_open(struct interp *in, const struct ir_inst *i, const struct hir_unit *u)
{
	struct callee c = {.unit = u, .memory = arena_new(0)};
	uint32_t n = dims_syms(u->dims);
	struct diags *diags = diags_new(1);
	c.syms = ARENA_ARRAY(c.memory, int64_t, n + 1);
	for (uint32_t k = 0; k < n; k++)
		c.syms[k] = dim_eval(in->f->dims, ir_call(i)->syms[k], in->syms);
	if (in->depth >= MAX_DEPTH)
		interp_fail(in, "calls are nested too deeply");
	else
		c.f = lower_callee(in, c.memory, u, diags);
	if (!c.f)
		interp_fail(in, "%s", diags_count(diags) ? diags_at(diags, 0)->message : "a callee cannot be lowered");
	diags_free(diags);
	return c;
}

static void callee_close(struct callee *c) { arena_free(c->memory); }

/* Runs the unit with an argument for each of its inputs. The data of the results is in `out`. */
static void callee_run(struct interp *in, const struct ir_inst *i, const struct callee *c, const struct tensor *const *x, struct arena *out,
		       struct tensor *results)
{
	uint32_t n_inputs = 0, n_weights = 0, n = c->unit->n_inputs;
	struct interp callee = {
		.f = c->f, .syms = c->syms, .seed = in->seed, .sink = in->sink, .depth = in->depth + 1, .out = out, .expands = in->expands};
	callee.scratch = arena_new(0);
	struct tensor *inputs = ARENA_ARRAY(callee.scratch, struct tensor, n + 1),
		      *weights = ARENA_ARRAY(callee.scratch, struct tensor, n + 1);
	for (uint32_t k = 0; k < n; k++)
		if (c->unit->inputs[k].build_time)
			weights[n_weights++] = *x[k];
		else
			inputs[n_inputs++] = *x[k];
	callee.inputs = inputs;
	callee.weights = weights;
	if (!interp_run_function(&callee, results))
		pass_error(in, &callee.error, i);
	arena_free(callee.scratch);
}

/* A call in a run_fn passes a weight table in place of weights. */
static bool passes_all_inputs(struct interp *in, const struct ir_inst *i)
{
	uint32_t n = ir_call(i)->callee->n_inputs + (ir_call(i)->other ? ir_call(i)->other->n_inputs : 0) + (i->op != OP_CALL);
	if (i->n_operands != n)
		interp_fail(in, "cannot interpret a call of %s in a run_fn", ir_call(i)->callee->name);
	return i->n_operands == n;
}

/* A CALL, or one branch of an IF, with operands x. */
static void interp_call(struct interp *in, ir_ref r, const struct hir_unit *u, const struct tensor *const *x)
{
	const struct ir_inst *i = ir_at(in->f, r);
	struct callee c = callee_open(in, i, u);
	in->results[r] = ARENA_ARRAY(in->scratch, struct tensor, u->n_outputs + 1);
	if (c.f)
		callee_run(in, i, &c, x, in->scratch, in->results[r]);
	callee_close(&c);
}

static void interp_branch(struct interp *in, ir_ref r, const struct tensor *const *x)
{
	const struct ir_inst *i = ir_at(in->f, r);
	if (*(const uint8_t *)x[0]->data)
		interp_call(in, r, ir_call(i)->callee, x + 1);
	else
		interp_call(in, r, ir_call(i)->other, x + 1 + ir_call(i)->callee->n_inputs);
}

static struct tensor copy_tensor(struct arena *to, const struct tensor *t)
{
	struct tensor copy = *t;
	size_t bytes = (size_t)tensor_bytes(t);
	copy.data = arena_alloc(to, bytes + 1, 64);
	if (bytes)
		memcpy(copy.data, t->data, bytes);
	return copy;
}

/* The carried values of an iteration are freed after the next one. */
static void interp_iterate(struct interp *in, const struct ir_inst *i, const struct callee *c, const struct tensor **x,
			   struct tensor *results)
{
	uint32_t n = c->unit->n_outputs;
	struct tensor *outs = ARENA_ARRAY(in->scratch, struct tensor, 2 * (n + 1));
	struct arena *memory = arena_new(0), *last = arena_new(0);
	bool go = *(const uint8_t *)x[0]->data;
	for (int64_t k = 0; go && !in->error.text; k++) {
		struct tensor *out = outs + (k & 1 ? n + 1 : 0);
		struct arena *older = last;
		last = memory;
		memory = arena_new(0);
		if (os_interrupted())
			interp_fail(in, "interrupted");
		else if (k == MAX_ITERATIONS)
			interp_fail(in, "a loop did not end after %lld iterations", (long long)k);
		else
			callee_run(in, i, c, x + 1, memory, out);
		for (uint32_t o = 1; o < n; o++)
			x[o] = &out[o];
		go = !in->error.text && *(const uint8_t *)out[0].data;
		arena_free(older);
	}
	for (uint32_t o = 1; o < n && !in->error.text; o++)
		results[o - 1] = copy_tensor(in->scratch, x[o]);
	arena_free(memory);
	arena_free(last);
}

static void loop(struct interp *in, ir_ref r, const struct tensor *const *operands)
{
	const struct ir_inst *i = ir_at(in->f, r);
	const struct tensor **x = ARENA_ARRAY(in->scratch, const struct tensor *, i->n_operands + 1);
	struct callee c = callee_open(in, i, ir_call(i)->callee);
	memcpy(x, operands, i->n_operands * sizeof *x);
	in->results[r] = ARENA_ARRAY(in->scratch, struct tensor, ir_call(i)->callee->n_outputs + 1);
	if (c.f)
		interp_iterate(in, i, &c, x, in->results[r]);
	callee_close(&c);
}

static void invoke(struct interp *in, ir_ref r, const struct tensor *const *x)
{
	const struct ir_inst *i = ir_at(in->f, r);
	if (!passes_all_inputs(in, i))
		return;
	if (i->op == OP_CALL)
		interp_call(in, r, ir_call(i)->callee, x);
	else if (i->op == OP_IF)
		interp_branch(in, r, x);
	else
		loop(in, r, x);
}

/* ---- effects ---- */

static void interp_put_buf(void *ctx, const char *s, size_t n) { buf_put(ctx, s, n); }

static void fill_template(const struct ir_inst *i, const struct tensor *const *x, uint32_t n, struct buf *text)
{
	struct format_value *values = calloc(n + 1, sizeof *values);
	struct format_out out = {interp_put_buf, text};
	if (!values)
		bug_no_memory();
	for (uint32_t k = 0; k < n; k++)
		values[k] = (struct format_value){(enum format_elem)x[k]->elem, x[k]->rank, x[k]->dims, x[k]->data};
	format_template(i->op == OP_PRINT ? ir_text(i)->text : ir_claim(i)->text, values, &out);
	free(values);
}

static void interp_effect(struct interp *in, const struct ir_inst *i, const struct tensor *const *x)
{
	struct buf text = {0};
	bool assertion = i->op == OP_ASSERT;
	if (assertion ? *(const uint8_t *)x[0]->data : !in->sink)
		return;
	fill_template(i, x + assertion, i->n_operands - assertion, &text);
	if (!assertion) {
		in->sink->put(in->sink->ctx, text.at ? text.at : "", text.len);
	} else {
		interp_fail(in, "%s", text.len ? text.at : "the assertion fails");
		in->error.assertion = true;
	}
	buf_free(&text);
}

/* ---- instructions ---- */

static void draw(struct interp *in, const struct ir_inst *i, struct tensor *out)
{
	(in->operations ? in->operations->random : random_elements)(ir_random(i), in->seed, 0, tensor_count(out), out->elem, out->data);
}

static void interp_compute(struct interp *in, const struct ir_inst *i, const struct tensor *const *x, struct tensor *out)
{
	if (ir_op_traits(i->op) & EWISE) {
		interp_ewise(in, i, x, out);
		return;
	}
	if (ir_op_traits(i->op) & COMPOUND) {
		interp_compound(in, i, x, out);
		return;
	}
	interp_check_shapes(in, i, x, out);
	if (in->error.text || !tensor_count(out))
		return;
	switch (i->op) {
	case OP_CONST: memcpy(out->data, ir_data(i)->data, (size_t)tensor_bytes(out)); return;
	case OP_DIM: *(int64_t *)out->data = dim_eval(in->f->dims, ir_extent(i)->extent, in->syms); return;
	case OP_BROADCAST: interp_broadcast(x[0], out); return;
	case OP_CONVERT_LAYOUT:
	case OP_RESHAPE: memcpy(out->data, x[0]->data, (size_t)tensor_bytes(out)); return;
	case OP_TRANSPOSE: interp_transpose(i, x[0], out); return;
	case OP_SLICE: interp_slice(in, i, x[0], out); return;
	case OP_CONCAT: interp_concat(i, x, out); return;
	case OP_GATHER:
	case OP_GATHER_DIM: interp_gather(i, x, out); return;
	case OP_SORT: interp_sort(i, x[0], out); return;
	case OP_SCAN_SUM:
	case OP_SCAN_PROD: interp_scan(i, x[0], out); return;
	case OP_SCATTER:
	case OP_SCATTER_ADD: interp_scatter(i, x, out); return;
	case OP_PUT: interp_put(i, x, out); return;
	case OP_PAD: interp_pad(in, i, x, out); return;
	case OP_WINDOW: interp_window(i, x[0], out); return;
	case OP_IOTA: interp_iota(i, out); return;
	case OP_RANDOM: draw(in, i, out); return;
	case OP_MATMUL: interp_matmul(x, out); return;
	default: interp_reduce(i, x[0], out); return;
	}
}

static void interp_step(struct interp *in, ir_ref r, const struct tensor **x)
{
	const struct ir_inst *i = ir_at(in->f, r);
	in->at = ir_span(in->f, i);
	for (uint32_t k = 0; k < i->n_operands; k++)
		x[k] = &in->values[ir_operand(in->f, r, k)];
	struct tensor *out = &in->values[r];
	interp_set_shape(in, i->op, &i->type, out);
	if (in->error.text)
		return;
	switch (i->op) {
	case OP_INPUT: take_argument(in, r, &in->inputs[ir_number(i)->number], "input"); return;
	case OP_WEIGHT: take_argument(in, r, &in->weights[ir_number(i)->number], "weight"); return;
	case OP_CALL:
	case OP_IF:
	case OP_LOOP: invoke(in, r, x); return;
	case OP_PRINT:
	case OP_ASSERT: interp_effect(in, i, x); return;
	case OP_RESULT: take_argument(in, r, &in->results[ir_operand(in->f, r, 0)][ir_number(i)->number], "result"); return;
	default: break;
	}
	size_t bytes = (size_t)tensor_bytes(out);
	out->data = in->owned[r] = malloc(bytes ? bytes : 1);
	if (!out->data)
		interp_fail(in, "out of memory for a tensor of %llu bytes", (unsigned long long)bytes);
	else
		interp_compute(in, i, x, out);
}

/* Returns for each value the last instruction that reads it. Outputs have none. */
static uint32_t *last_uses(struct interp *in)
{
	const struct ir_fn *f = in->f;
	uint32_t *last = ARENA_ARRAY(in->scratch, uint32_t, f->n_insts + 1);
	for (ir_ref r = 0; r < f->n_insts; r++) {
		last[r] = r;
		for (uint32_t k = 0; k < ir_at(f, r)->n_operands; k++)
			last[ir_operand(f, r, k)] = r;
	}
	for (uint32_t k = 0; k < f->n_outputs; k++)
		last[f->outputs[k]] = IR_NONE;
	return last;
}

static void run_insts(struct interp *in)
{
	const struct ir_fn *f = in->f;
	uint32_t widest = 1, *last = last_uses(in);
	for (ir_ref r = 0; r < f->n_insts; r++)
		if (ir_at(f, r)->n_operands > widest)
			widest = ir_at(f, r)->n_operands;
	const struct tensor **x = ARENA_ARRAY(in->scratch, const struct tensor *, widest);
	for (ir_ref r = 0; r < f->n_insts && !in->error.text; r++) {
		interp_step(in, r, x);
		for (uint32_t k = 0; k < ir_at(f, r)->n_operands; k++)
			if (last[ir_operand(f, r, k)] == r)
				interp_drop(in, ir_operand(f, r, k));
		if (last[r] == r)
			interp_drop(in, r);
	}
}

static void interp_store_outputs(struct interp *in, struct tensor *outputs)
{
	for (uint32_t k = 0; k < in->f->n_outputs; k++) {
		outputs[k] = in->values[in->f->outputs[k]];
		size_t bytes = (size_t)tensor_bytes(&outputs[k]);
		void *copy = arena_alloc(in->out, bytes ? bytes : 1, 64);
		if (bytes)
			memcpy(copy, outputs[k].data, bytes);
		outputs[k].data = copy;
	}
}

static bool interp_run_function(struct interp *in, struct tensor *outputs)
{
	uint32_t n = in->f->n_insts;
	in->values = ARENA_ARRAY(in->scratch, struct tensor, n + 1);
	in->owned = ARENA_ARRAY(in->scratch, void *, n + 1);
	in->results = ARENA_ARRAY(in->scratch, struct tensor *, n + 1);
	run_insts(in);
	if (!in->error.text)
		interp_store_outputs(in, outputs);
	for (ir_ref r = 0; r < n; r++)
		interp_drop(in, r);
	return !in->error.text;
}

static bool run_alone(struct interp *in, struct tensor *outputs, struct interp_error *error)
{
	in->scratch = arena_new(0);
	bool ok = interp_run_function(in, outputs);
	*error = in->error;
	arena_free(in->scratch);
	return ok;
}

bool interp_program(const struct ir_fn *f, const struct tensor *inputs, const struct tensor *weights, const int64_t *syms,
		    const struct interp_sink *sink, struct arena *out, struct tensor *outputs, struct interp_error *error)
{
	struct interp in = {.f = f, .inputs = inputs, .weights = weights, .syms = syms, .sink = sink, .out = out, .at = SPAN_NONE};
	return run_alone(&in, outputs, error);
}

bool interp_run_with(const struct interp_operations *operations, const struct ir_fn *f, const struct tensor *inputs,
		     const struct tensor *weights, const int64_t *syms, uint64_t seed, struct arena *out, struct tensor *outputs,
		     const char **error)
{
	struct interp in = {.f = f,
			    .inputs = inputs,
			    .weights = weights,
			    .syms = syms,
			    .seed = seed,
			    .out = out,
			    .at = SPAN_NONE,
			    .expands = true,
			    .operations = operations};
	struct interp_error e;
	bool ok = run_alone(&in, outputs, &e);
	if (error)
		*error = e.text;
	return ok;
}

bool interp_run(const struct ir_fn *f, const struct tensor *inputs, const struct tensor *weights, const int64_t *syms, uint64_t seed,
		struct arena *out, struct tensor *outputs, const char **error)
{
	return interp_run_with(NULL, f, inputs, weights, syms, seed, out, outputs, error);
}
