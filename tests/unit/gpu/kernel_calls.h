/* Calls of micro-kernels, each a unit of an OpenCL library, against the interpreter of loop IR. Buffers and sizes follow the record of a kernel, so a new
 * kernel needs no code here. */
#ifndef TRIB_TESTS_KERNEL_CALLS_H
#define TRIB_TESTS_KERNEL_CALLS_H
#include "tests/unit/gpu/opencl_fixture.h"
#include "tests/unit/gpu/random_values.h"
#include "backend/ir/tensor.h"
#include "backend/kernels/kernel.h"
#include "backend/loops/interp/interp.h"
#include "backend/runtime/kernels/records.h"

enum { MAX_CALLS = MAX_UNITS, CALL_INPUTS = KERNEL_OPERANDS + 1 };

struct call {
	struct unit *unit;
	enum kernel kernel;
	bool epilogue; /* adds a row to the result; a float is made at least 0 */
	bool varies;   /* the first field of the record is known at run time; `dims` has its largest value */
	dim first;     /* that field */
	int64_t dims[KERNEL_FIELDS];
	const struct loop_fn *constant; /* for the interpreter: all fields are known */
	struct tensor inputs[CALL_INPUTS], weights, result;
	struct tensor want, scale; /* of the interpreter; of sums the sums of the absolute terms */
};
static struct call calls[MAX_CALLS];
static uint32_t n_calls;

/* The most operations of a call: `otherwise`, or what the environment variable TRIB_MOST_WORK says, since a simulator of devices is slow. */
static inline int64_t most_work(int64_t otherwise)
{
	const char *most = getenv("TRIB_MOST_WORK");
	return most && atoll(most) < otherwise ? atoll(most) : otherwise;
}

/* True if a call has at most `most` operations, and no operand more than that many elements. */
static inline bool is_small(enum kernel k, const int64_t *dims, int64_t most)
{
	const struct kernel_record *r = kernel_record(k);
	int64_t length = kernel_family(k) == FAMILY_sort ? tri_sort_of(dims)->length : 1;
	for (const struct kernel_term *t = r->operations; t->factor; t++) {
		int64_t n = kernel_shape_count(&t->of, dims);
		if (n < 0 || n > most / (length ? length : 1))
			return false;
	}
	for (const struct kernel_operand *o = r->operands; o->name; o++) {
		int64_t n = kernel_shape_count(&o->size, dims);
		if (n < 0 || n > most / 2)
			return false;
	}
	return true;
}

/* ---- the unit of a call ---- */

/* Returns a number from -2 to 2. Rows to be sorted get equal numbers, infinities and NaNs, and so do some running sums. Running products get factors near 1;
 * scales of codes are small. */
static inline double call_float(const struct call *c, const struct kernel_operand *o)
{
	static const double special[] = {INFINITY, -INFINITY, NAN, -0.0};
	const enum kernel_family family = kernel_family(c->kernel);
	double x = (double)rnd(4001) / 1000 - 2;
	if (family == FAMILY_sort)
		return rnd(9) ? (double)rnd(60) / 4 - 7 : special[rnd(4)];
	if (family == FAMILY_scan)
		return tri_scan_of(c->dims)->product ? 1 + x / 200 : rnd(999) ? x : special[rnd(3)];
	return o->step[0] && !o->elem ? x * 0x1p-7 : x;
}

/* Running sums and products of 64 bits overflow. */
static inline int64_t call_int(const struct call *c, dtype elem, uint32_t length, bool index)
{
	if (elem == DT_INT64 && kernel_family(c->kernel) == FAMILY_scan && rnd(2))
		return (int64_t)(rng >> 3);
	return elem == DT_TRIT ? (int64_t)rnd(3) - 1 : rnd(length) - (index ? 0 : 128);
}

/* Numbers in the order in which they are stored. Of those that zero trits skip, one may be no number and one infinite. */
static inline struct tensor call_numbers(const struct call *c, struct arena *a, const struct kernel_operand *o, dtype elem, uint32_t rank,
					 const int64_t *dims)
{
	struct tensor t = {.elem = elem, .rank = (uint8_t)rank};
	memcpy(t.dims, dims, rank * sizeof *dims);
	t.data = arena_alloc(a, (size_t)tensor_bytes(&t) + 1, 64);
	int64_t n = tensor_count(&t), length = 256;
	bool index = !strcmp(o->name, "index");
	for (uint32_t k = 0; index && k < kernel_record(c->kernel)->n_fields; k++)
		if (!strcmp(kernel_record(c->kernel)->fields[k].name, "length"))
			length = c->dims[k];
	for (int64_t i = 0; i < n; i++)
		if (is_float(elem))
			elem_put_float(elem, t.data, i, call_float(c, o));
		else
			elem_put_int(elem, t.data, i, call_int(c, elem, (uint32_t)length, index));
	if (elem == DT_FLOAT32 && n > 1 && kernel_info(c->kernel)->operands[1].elem == DT_TRIT && rnd(2)) {
		elem_put_float(elem, t.data, n - 1, NAN);
		elem_put_float(elem, t.data, rnd((uint32_t)n - 1), INFINITY);
	}
	if (index && n && rnd(16) == 0)
		elem_put_int(elem, t.data, n - 1, length);
	return t;
}

static inline dim call_dim(const struct call *c, struct loop_fn *f, uint32_t field, int64_t size)
{
	return c->varies && field == 0 ? c->first : dim_const((struct dims *)(uintptr_t)f->dims, size);
}

/* `fields`: of the record, from 1; those that give the sizes of `t`. NULL: none does. */
static inline struct loop_buffer *call_buffer(const struct call *c, struct loop_fn *f, enum buffer_kind kind, uint32_t index,
					      enum layout layout, const struct tensor *t, const uint8_t *fields)
{
	struct loop_buffer *b = &f->buffers[f->n_buffers++];
	*b = (struct loop_buffer){.kind = kind,
				  .layout = layout,
				  .index = index,
				  .type = {.elem = t->elem, .rank = t->rank},
				  .offset = dim_const((struct dims *)(uintptr_t)f->dims, 0),
				  .alias = LOOP_NONE,
				  .grows = LOOP_NONE,
				  .end = 1};
	for (uint32_t k = 0; k < t->rank; k++)
		b->type.dims[k] = call_dim(c, f, fields ? fields[k] - 1u : KERNEL_FIELDS, t->dims[k]);
	return b;
}

static inline void call_input(struct call *c, struct loop_fn *f, enum layout layout, struct tensor t, const uint8_t *fields)
{
	struct loop_buffer *b = call_buffer(c, f, BUFFER_INPUT, f->n_inputs, layout, &t, fields);
	c->inputs[f->n_inputs++] = t;
	unit_input(c->unit, b->type);
}

static inline void call_operand(struct call *c, struct loop_fn *f, const struct loop_kernel *x, uint32_t at)
{
	const struct kernel_operand *o = kernel_operand(c->kernel, at);
	dtype elem = kernel_buffer_elem(c->kernel, at, f->dims, x->dims);
	int layout = kernel_layout(c->kernel, at);
	int64_t dims[SHAPE_FIELDS];
	uint32_t rank = 0;
	for (; o->size.fields[rank]; rank++)
		dims[rank] = c->dims[o->size.fields[rank] - 1];
	struct tensor t = call_numbers(c, c->unit->a, o, elem == DT_COUNT ? DT_UINT8 : elem, rank, dims);
	layout = layout < LAYOUT_COUNT ? layout : LAYOUT_PLAIN;
	if (o->workspace) {
		call_buffer(c, f, BUFFER_TEMP, 0, LAYOUT_PLAIN, &t, o->size.fields);
		f->scratch = dim_const(c->unit->f->dims, tensor_bytes(&t));
	} else if (o->written) {
		c->result = t;
		struct loop_buffer *b = call_buffer(c, f, BUFFER_OUTPUT, 0, (enum layout)layout, &t, o->size.fields);
		unit_output(c->unit, op_n(c->unit, OP_CONST, b->type, 0, NULL)); /* for its type */
	} else if (ir_layout_is_packed((enum layout)layout)) {
		c->weights = t;
		struct loop_buffer *b = call_buffer(c, f, BUFFER_WEIGHT, 0, (enum layout)layout, &t, o->size.fields);
		unit_weight(c->unit, b->type, (enum layout)layout, t.data);
	} else
		call_input(c, f, (enum layout)layout, t, o->size.fields);
}

/* The result, which is the last buffer so far, is stored by the epilogue. */
static inline void call_epilogue(struct call *c, struct loop_fn *f, struct loop_kernel *x)
{
	struct arena *a = f->unit;
	struct dims *d = c->unit->f->dims;
	struct loop_nest *n = x->epilogue = ARENA_NEW(a, struct loop_nest);
	int64_t size[TILE_AXES], step = 1;
	dtype elem = c->result.elem;
	uint32_t result = f->n_buffers - 1, row = f->n_buffers;
	x->n_buffers--;
	*n = (struct loop_nest){.n_parallel = TILE_AXES, .n_exprs = 3, .n_stores = 1};
	n->exprs = ARENA_ARRAY(a, struct loop_expr, 5);
	n->stores = ARENA_ARRAY(a, struct loop_store, 1);
	for (uint32_t k = 0; k < LOOP_MAX; k++)
		n->extent[k] = dim_const(d, 0);
	struct loop_access none = {.base = dim_const(d, 0), .index = LOOP_NONE, .scale = dim_const(d, 0)};
	for (uint32_t k = 0; k < LOOP_MAX; k++)
		none.stride[k] = dim_const(d, 0);
	struct loop_access load = none, store = none;
	load.buffer = row;
	load.stride[TILE_COLUMN] = dim_const(d, 1);
	store.buffer = result;
	for (uint32_t k = TILE_AXES; k--;) {
		size[k] = kernel_shape_count(&kernel_record(c->kernel)->tile[k], c->dims);
		n->extent[k] = dim_const(d, size[k]);
		store.stride[k] = dim_const(d, step);
		step *= size[k];
	}
	n->exprs[0] = (struct loop_expr){.kind = LOOP_TILE, .elem = elem, .access = none};
	n->exprs[1] = (struct loop_expr){.kind = LOOP_LOAD, .elem = elem, .access = load};
	n->exprs[2] = (struct loop_expr){.kind = LOOP_OP, .op = OP_ADD, .elem = elem, .args = {0, 1}, .access = none};
	if (is_float(elem)) {
		n->exprs[n->n_exprs++] = (struct loop_expr){.kind = LOOP_CONST, .elem = elem, .access = none};
		n->exprs[n->n_exprs++] = (struct loop_expr){.kind = LOOP_OP, .op = OP_MAX, .elem = elem, .args = {2, 3}, .access = none};
	}
	*n->stores = (struct loop_store){n->n_exprs - 1, store};
	call_input(c, f, LAYOUT_PLAIN, call_numbers(c, a, kernel_operand(c->kernel, 0), elem, 1, &size[TILE_COLUMN]), NULL);
}

/* The unit of a call with one statement, for a target. */
static inline struct loop_fn *call_loops(struct call *c, enum target_id target)
{
	struct arena *a = c->unit->a;
	struct dims *d = c->unit->f->dims;
	struct loop_fn *f = ARENA_NEW(a, struct loop_fn);
	struct loop_kernel x = {.kernel = c->kernel, .n_buffers = kernel_buffer_count(c->kernel)};
	struct buf why = {0};
	*f = (struct loop_fn){.unit = a, .symbol = c->unit->f->name, .dims = d, .scratch = dim_const(d, 0), .n_outputs = 1};
	f->buffers = ARENA_ARRAY(a, struct loop_buffer, CALL_INPUTS);
	x.buffers = ARENA_ARRAY(a, uint32_t, CALL_INPUTS);
	x.dims = ARENA_ARRAY(a, dim, KERNEL_FIELDS);
	c->unit->f->n_inputs = c->unit->f->n_outputs = c->unit->f->n_weights = c->unit->plan.n_slots = 0;
	for (uint32_t k = 0; k < kernel_record(c->kernel)->n_fields; k++)
		x.dims[k] = call_dim(c, f, k, c->dims[k]);
	for (uint32_t k = 0; k < x.n_buffers; k++) {
		x.buffers[k] = k;
		call_operand(c, f, &x, k);
	}
	if (c->epilogue)
		call_epilogue(c, f, &x);
	f->n_slots = c->unit->plan.n_slots;
	f->stmts = ARENA_NEW(a, struct loop_stmt);
	f->stmts[f->n_stmts++] = (struct loop_stmt){.kind = STMT_KERNEL, .u.kernel = x};
	loops_schedule(f, &(struct plan_options){.target = target_get(target), .opt = 2});
	if (!loops_verify(f, &why))
		fail_msg("%s: %s", f->symbol, why.at);
	return f;
}

/* The loops of both variants, with the same numbers. */
static inline void call_variants(struct call *c)
{
	uint64_t numbers = rng;
	c->unit->wide = call_loops(c, TARGET_OPENCL_WIDE);
	rng = numbers;
	c->unit->loops = call_loops(c, TARGET_OPENCL);
	c->unit->wide->first_statement = loops_next_statement(c->unit->loops);
}

static inline struct call *add_call(struct model *m, enum kernel kernel, const int64_t *dims, bool epilogue)
{
	assert_true(n_calls < MAX_CALLS);
	struct call *c = &calls[n_calls++];
	*c = (struct call){.unit = unit_new(m, kernel_info(kernel)->symbol), .kernel = kernel, .epilogue = epilogue};
	memcpy(c->dims, dims, kernel_record(kernel)->n_fields * sizeof *dims);
	c->unit->f->dims = dims_new(m->a);
	call_variants(c);
	c->constant = c->unit->loops;
	return c;
}

/* A call whose first field is known at run time and at most `dims[0]`. */
static inline void add_varying_call(struct model *m, enum kernel kernel, const int64_t *dims)
{
	struct call *c = add_call(m, kernel, dims, false);
	c->varies = true;
	c->first = dim_new_sym(c->unit->f->dims, "N");
	call_variants(c);
}

/* ---- running it ---- */

static inline double call_value(const struct tensor *t, int64_t i)
{
	return is_float(t->elem) ? elem_float(t->elem, t->data, i) : (double)elem_int(t->elem, t->data, i);
}

static inline void *call_absolute(struct arena *a, const struct tensor *t)
{
	void *out = arena_alloc(a, (size_t)tensor_bytes(t) + 1, 64);
	memcpy(out, t->data, (size_t)tensor_bytes(t));
	for (int64_t i = 0; i < tensor_count(t); i++)
		if (is_float(t->elem))
			elem_put_float(t->elem, out, i, fabs(call_value(t, i)));
		else if (t->elem == DT_TRIT || t->elem == DT_INT8)
			elem_put_int(t->elem, out, i,
				     llabs(elem_int(t->elem, t->data, i)) -
					     (elem_int(t->elem, t->data, i) == -128)); /* which has no opposite */
	return out;
}

/* True if the terms of sums are products of the input's numbers. Those of attention are values times weights, which other signs would change. */
static inline bool is_term(const struct call *c, uint32_t input)
{
	return kernel_family(c->kernel) != FAMILY_attention || kernel_operand(c->kernel, input)->name[0] == 'v';
}

/* What the interpreter stores, in `a`; of the absolute values of all numbers if `absolute`. NULL: an index is out of range. */
static inline struct tensor call_want(const struct call *c, struct arena *a, bool absolute)
{
	void *bufs[CALL_INPUTS + 1];
	struct tensor w = c->weights, want = c->result;
	const struct loop_fn *f = c->constant;
	struct loop_error error = {0};
	void *packed = NULL;
	for (uint32_t k = 0; k < f->n_inputs; k++)
		bufs[k] = absolute && is_term(c, k) ? call_absolute(a, &c->inputs[k]) : c->inputs[k].data;
	bufs[f->n_inputs] = want.data = arena_alloc(a, (size_t)tensor_bytes(&want) + 1, 64);
	if (f->n_slots) {
		enum layout layout = c->unit->plan.slots[0].layout;
		w.data = absolute ? call_absolute(a, &w) : w.data;
		packed = arena_alloc(a, layout_packed_size(layout, &w) + 1, 64);
		layout_pack(layout, &w, packed);
	}
	if (!loop_interp(f, bufs, (const void *[]){packed}, NULL, &(struct loop_host){0}, &error)) {
		assert_int_equal(error.kind, LOOP_INDEX_ERROR);
		want.data = NULL;
	}
	return want;
}

static inline void call_compare(const struct call *c, const char *variant)
{
	/* scores of attention may be large, and an error of one is relative in its weight */
	const double slack = kernel_family(c->kernel) == FAMILY_attention ? 8 : 1;
	for (int64_t i = 0; i < tensor_count(&c->result); i++) {
		double got = call_value(&c->result, i), w = call_value(&c->want, i), s = slack * call_value(&c->scale, i);
		if (is_float(c->result.elem) ? close_enough(c->result.elem, got, w, s) : got == w)
			continue;
		struct buf text = {0};
		loops_print(c->unit->loops, &text);
		fail_msg("%s %s element %lld: got %.9g, want %.9g\n%s", variant, c->unit->f->name, (long long)i, got, w, text.at);
	}
}

static inline tri_tensor call_io(const struct tensor *t)
{
	tri_tensor io = {.data = t->data, .rank = t->rank, .dtype = (int32_t)t->elem};
	memcpy(io.shape, t->dims, sizeof t->dims);
	return io;
}

static inline void check_call(struct model *m, uint32_t index, const char *variant)
{
	const struct call *c = &calls[index];
	tri_tensor io[CALL_INPUTS + 1];
	tri_error err = {0};
	uint32_t n = c->unit->loops->n_inputs;
	for (uint32_t k = 0; k < n; k++)
		io[k] = call_io(&c->inputs[k]);
	io[n] = call_io(&c->result);
	memset(c->result.data, 0x55, (size_t)tensor_bytes(&c->result));
	int status = m->desc->run(m->open, (int32_t)index, io, &err);
	if (status != (c->want.data ? TRI_OK : TRI_ERR_RANGE))
		fail_msg("%s %s: status %d, %s", variant, c->unit->f->name, status, err.message);
	if (c->want.data)
		call_compare(c, variant);
}

/* The first field is `first`: buffers and results have so many rows of those of the call. */
static inline void check_call_with(struct model *m, uint32_t index, int64_t first, const char *variant)
{
	struct call *c = &calls[index], all = *c;
	c->inputs[0].dims[0] = c->result.dims[0] = first;
	check_call(m, index, variant);
	*c = all;
}

/* Builds a library of the calls, and what their results should be. */
static inline void build_calls(struct model *m)
{
	for (uint32_t i = 0; i < n_calls; i++) {
		calls[i].want = call_want(&calls[i], m->a, false);
		calls[i].scale = call_want(&calls[i], m->a, is_float(calls[i].result.elem));
	}
	model_build(m, m->n_units, m->n_units);
}

static inline void check_calls(struct model *m, const char *variant)
{
	static const int64_t firsts[] = {1, 3, 0, 9, 20, 129};
	setenv("TRIB_OPENCL_VARIANT", variant, 1);
	model_open(m);
	for (uint32_t i = 0; i < n_calls; i++) {
		check_call(m, i, variant);
		for (uint32_t k = 0; k < sizeof firsts / sizeof *firsts && calls[i].varies; k++)
			check_call_with(m, i, firsts[k], variant);
	}
	m->desc->close(m->open);
	m->open = NULL;
	unsetenv("TRIB_OPENCL_VARIANT");
}
#endif
