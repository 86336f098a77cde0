/* The verifier against changed loop functions: one field at a time, every field of every function below. What it accepts must run in the interpreter
 * without a use of memory that the IR does not allow; then the change is harmless: another program, but a sound one. The kind of a statement is no
 * field of its own: it says what the union holds. */
#include "tests/unit/unit.h"
#include <stdlib.h>
#include <string.h>
#include "backend/ir/tensor.h"
#include "backend/loops/ir/grow.h"
#include "backend/loops/interp/interp.h"
#include "backend/loops/ir/loops.h"
#include "backend/loops/ir/visit.h"
#include "backend/runtime/pack/f32_panels.h"
#include "backend/runtime/pack/trit2.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/os.h"
#include "base/source.h"

#define FOLDER TRIB_SOURCE_DIR "/tests/golden/loops/"
enum { SIZE = 6, SYMBOLS = 8, CHANGES = 12 };

struct totals {
	uint32_t changed, caught, harmless, missed;
};
struct subject {
	const char *name, *text;
	size_t len;
	const struct loop_fn **callees; /* NULL: it calls nothing */
};

/* ---- changes ---- */

/* Visits fields up to number `field`, and gives that one its change number `change`. */
struct change {
	struct loop_fn *f;
	uint32_t field, change, at;
	bool done; /* the field has such a change */
};

/* The functions here own their dims. */
static struct dims *dims_of(const struct loop_fn *f) { return (struct dims *)(uintptr_t)f->dims; }

static void change_number(struct change *c, const struct loop_field *field)
{
	uint32_t *x = field->at, values[] = {0, *x + 1, *x - 1, field->most, UINT32_MAX, *x ^ 1, *x + 2, 7};
	if (c->change >= sizeof values / sizeof *values || values[c->change] == *x)
		return;
	*x = values[c->change];
	c->done = true;
}

static void change_word(struct change *c, const struct loop_field *field)
{
	uint32_t *x = field->at, step = field->most < CHANGES ? 1 : field->most / CHANGES;
	if (c->change * step >= field->most)
		return;
	*x = (*x + 1 + c->change * step) % (field->most + 1);
	c->done = true;
}

static void change_dim(struct change *c, const struct loop_field *field)
{
	dim *x = field->at;
	int64_t v;
	if (!dim_is_const(c->f->dims, *x, &v))
		return;
	int64_t values[] = {v + 1, v - 1, 0, 2 * v, -3, v + 64, 1};
	if (c->change > sizeof values / sizeof *values || (c->change < sizeof values / sizeof *values && values[c->change] == v))
		return;
	if (c->change < sizeof values / sizeof *values)
		*x = dim_const(dims_of(c->f), values[c->change]);
	else
		x->idx = dims_count(c->f->dims) + 3;
	c->done = true;
}

static void change_field(void *ctx, const struct loop_field *field)
{
	struct change *c = ctx;
	if (c->at++ != c->field)
		return;
	switch (field->kind) {
	case FIELD_NUMBER: change_number(c, field); return;
	case FIELD_WORD: change_word(c, field); return;
	case FIELD_DIM: change_dim(c, field); return;
	case FIELD_COUNT:
		c->done = c->change < 2 && *(uint32_t *)field->at > c->change;
		*(uint32_t *)field->at -= c->done ? c->change + 1 : 0;
		return;
	case FIELD_INTEGER:
		c->done = c->change < 2;
		*(int64_t *)field->at += c->change ? 1 : INT32_MAX;
		return;
	case FIELD_REAL:
		c->done = c->change < 1;
		*(double *)field->at += 1;
		return;
	}
}

/* ---- running ---- */

static void constant_dim(void *ctx, const struct loop_field *field)
{
	const struct change *c = ctx;
	static const int64_t sizes[SYMBOLS] = {SIZE, SIZE + 1, SIZE - 2, 3, 3, 3, 3, 3};
	dim *x = field->at;
	if (field->kind == FIELD_DIM)
		*x = dim_const(dims_of(c->f), dim_eval(c->f->dims, *x, sizes));
}

static const struct loop_fn *find_callee(void *ctx, const char *symbol)
{
	const struct loop_fn *const *callees = ctx;
	for (uint32_t k = 0; callees && callees[k]; k++)
		if (!strcmp(callees[k]->symbol, symbol))
			return callees[k];
	return NULL;
}

/* A kernel that is changed into another one may have more dims. */
static void give_room(struct arena *a, struct loop_stmt *s)
{
	if (s->kind != STMT_KERNEL)
		return;
	dim *room = ARENA_ARRAY(a, dim, KERNEL_FIELDS);
	for (uint32_t i = 0; i < kernel_record(s->u.kernel.kernel)->n_fields; i++)
		room[i] = s->u.kernel.dims[i];
	s->u.kernel.dims = room;
}

/* A fresh copy whose dims are constant. */
static struct loop_fn *read_subject(struct arena *a, const struct subject *s)
{
	struct sources *sources = sources_new();
	struct diags *d = diags_new(0);
	struct loop_fn *f = loops_read(a, sources_add(sources, s->name, s->text, s->len), d);
	diags_print(d, sources, stderr, false);
	assert_non_null(f);
	f->dims = dims_copy(a, f->dims); /* which is not closed */
	loops_visit(f, constant_dim, &(struct change){.f = f});
	for (uint32_t i = 0; i < f->n_stmts; i++)
		give_room(a, &f->stmts[i]);
	diags_free(d);
	sources_free(sources);
	return f;
}

/* Memory for a buffer with values that are small indices too. */
static void *memory_of(struct arena *a, const struct loop_fn *f, const struct loop_buffer *b)
{
	struct tensor t = {.elem = b->type.elem, .rank = b->type.rank};
	for (uint32_t k = 0; k < t.rank; k++)
		dim_is_const(f->dims, b->type.dims[k], &t.dims[k]);
	int64_t n = tensor_count(&t);
	if (b->layout == LAYOUT_TRIT2)
		return arena_alloc(a, tri_trit2_packed_size(t.dims[0], t.dims[1]) + 64, 64);
	if (b->layout == LAYOUT_PANELS)
		return arena_alloc(a, tri_panels_size(t.dims[0], t.dims[1]) + 64, 64);
	t.data = arena_alloc(a, (size_t)tensor_bytes(&t) + 64, 64);
	for (int64_t k = 0; k < n; k++)
		if (dtype_class(t.elem) == DTC_FLOAT)
			elem_put_float(t.elem, t.data, k, (double)(k % 7) - 2);
		else
			elem_put_int(t.elem, t.data, k, k % 2);
	return t.data;
}

static bool is_broken(struct arena *a, const struct loop_fn *f, struct loop_error *e, const struct loop_fn **callees)
{
	static const int64_t sizes[SYMBOLS] = {SIZE, SIZE + 1, SIZE - 2, 3, 3, 3, 3, 3};
	if (f->n_inputs > 1000 || f->n_slots > 1000) /* of which no buffer is: another interface */
		return false;
	void **bufs = ARENA_ARRAY(a, void *, f->n_inputs + f->n_outputs + 1);
	const void **weights = ARENA_ARRAY(a, const void *, f->n_slots + 1);
	struct loop_host host = {find_callee, NULL, callees};
	for (uint32_t k = 0; k < f->n_buffers; k++) {
		const struct loop_buffer *b = &f->buffers[k];
		if (b->kind == BUFFER_INPUT || b->kind == BUFFER_OUTPUT)
			bufs[(b->kind == BUFFER_OUTPUT ? f->n_inputs : 0) + b->index] = memory_of(a, f, b);
		if (b->kind == BUFFER_WEIGHT)
			weights[b->index] = memory_of(a, f, b);
	}
	for (uint32_t k = 0; k < f->n_buffers; k++) { /* an output that grows an input has room for both */
		const struct loop_buffer *b = &f->buffers[k], *root = &f->buffers[loops_root(f, k)];
		if (b->kind == BUFFER_OUTPUT && root->kind == BUFFER_INPUT)
			bufs[root->index] = bufs[f->n_inputs + b->index];
	}
	loop_interp(f, bufs, weights, sizes, &host, e);
	return e->kind == LOOP_BROKEN;
}

/* ---- one subject ---- */

static bool is_accepted(const struct subject *s, const struct loop_fn *f, struct buf *why)
{
	return loops_verify(f, why) && loops_verify_calls(f, find_callee, s->callees, why);
}

static void print_missed(const struct subject *s, const struct loop_fn *f, const struct loop_error *e)
{
	struct buf text = {0};
	loops_print(f, &text);
	fprintf(stderr, "%s: accepted, but %s:\n%s\n", s->name, e->text, text.at);
	buf_free(&text);
}

/* A function before temporaries have places is sound, but cannot run. */
static bool is_unplaced(const struct loop_fn *f)
{
	int64_t size;
	return f->scratch.idx < dims_count(f->dims) && dim_is_const(f->dims, f->scratch, &size) && size == LOOP_NOT_PLACED;
}

/* Returns false if there is no such field. */
static bool try_change(const struct subject *s, uint32_t field, uint32_t change, struct totals *t)
{
	struct arena *a = arena_new(0);
	struct buf why = {0};
	struct loop_error e;
	struct change c = {.f = read_subject(a, s), .field = field, .change = change};
	loops_visit(c.f, change_field, &c);
	if (c.done && !is_unplaced(c.f)) {
		t->changed++;
		if (!is_accepted(s, c.f, &why)) {
			t->caught++;
		} else if (!is_broken(a, c.f, &e, s->callees)) {
			t->harmless++;
		} else if (t->missed++ < 5) {
			print_missed(s, c.f, &e);
		}
	}
	buf_free(&why);
	arena_free(a);
	return field < c.at;
}

static void try_subject(const struct subject *s, struct totals *t)
{
	struct arena *a = arena_new(0);
	struct loop_error e;
	struct buf why = {0};
	struct loop_fn *f = read_subject(a, s);
	if (!is_accepted(s, f, &why) || is_broken(a, f, &e, s->callees))
		fail_msg("%s is not sound: %s", s->name, why.at ? why.at : e.text);
	for (uint32_t field = 0; try_change(s, field, 0, t); field++)
		for (uint32_t change = 1; change < CHANGES; change++)
			try_change(s, field, change, t);
	buf_free(&why);
	arena_free(a);
}

static void check_totals(const struct totals *t)
{
	print_message("%u changes: %u caught, %u harmless, %u missed\n", t->changed, t->caught, t->harmless, t->missed);
	assert_int_equal(t->missed, 0);
	assert_true(t->caught > 2 * t->harmless);
}

static void try_file(const char *name, struct totals *t)
{
	struct arena *a = arena_new(0);
	struct subject s = {.name = name};
	char *text;
	assert_true(os_read_file(arena_printf(a, FOLDER "%s.loops", name), 0, &text, &s.len));
	s.text = text;
	try_subject(&s, t);
	free(text);
	arena_free(a);
}

static void test_mutants_of_goldens(void **state)
{
	static const char *const names[] = {"attention",      "bitlinear",    "in_place", "pad",    "rows",
					    "scratch",        "several",      "softmax",  "window", "softmax_device",
					    "several_device", "softmax_rows", "prologues"};
	struct totals t = {0};
	for (size_t k = 0; k < sizeof names / sizeof *names; k++)
		try_file(names[k], &t);
	check_totals(&t);
}

static const char statements[] = "unit all(N) inputs 3 outputs 4 slots 2 scratch 512\n"
				 "b0 = input 0 bool[1, 1]\n"
				 "b1 = input 1 float32[8]\n"
				 "b2 = input 2 int64[]\n"
				 "b3 = output 0 float32[8]\n"
				 "b4 = output 1 int64[2, 4]\n"
				 "b5 = output 2 float32[2, 4]\n"
				 "b6 = output 3 float32[2, 4]\n"
				 "b7 = temp float32[8] at 0 from 0 until 5\n"
				 "b8 = temp bool[] at 64 from 1 until 2\n"
				 "b9 = temp float32[8] at 128 from 1 until 2\n"
				 "b10 = temp int64[2, 4] at 192 from 4 until 5\n"
				 "b11 = const float32[4] {1, 2, 3, 4}\n"
				 "check N - 1 >= 0 reshape\n"
				 "if b0\n"
				 "  call left(b1) to (b7) dims (N) weights 1\n"
				 "else\n"
				 "  call left(b1) to (b7) dims (N)\n"
				 "loop b0 from (b7)\n"
				 "  call body(b3) to (b8, b9)\n"
				 "effect \"x = {} {}\" (b1 float32[8], b0 bool[])\n"
				 "effect \"no {}\" at \"net.tri:7\" (b0 bool[], b3 float32[2, 4])\n"
				 "kernel tri_sort_f32(b7, b10, b4) dims (rows=2, length=4, descending=1)\n"
				 "kernel tri_scan_f32(b3, b5) dims (outer=2, length=4, inner=1)\n"
				 "kernel tri_put(b5, b11, b2, b6) dims (outer=1, length=2, inner=16)\n";

static const char *const callee_texts[] = {
	"unit left(N) inputs 1 outputs 1 slots 0 scratch 0\nb0 = input 0 float32[8]\nb1 = output 0 float32[8]\n"
	"nest (i0 < 8)\n schedule (for i0) index 8\n %0 float32 = load b0[i0]\n store b1[i0] = %0\n",
	"unit body() inputs 1 outputs 2 slots 0 scratch 0\nb0 = input 0 float32[8]\nb1 = output 0 bool[]\nb2 = output 1 float32[8]\n"
	"nest ()\n schedule () index 8\n %0 bool = const 0\n store b1[0] = %0\n"
	"nest (i0 < 8)\n schedule (for i0) index 8\n %0 float32 = load b0[i0]\n store b2[i0] = %0\n",
};

static const struct loop_fn *read_callee(struct arena *a, const char *text)
{
	struct sources *sources = sources_new();
	struct diags *d = diags_new(0);
	const struct loop_fn *f = loops_read(a, sources_add(sources, "callee", text, strlen(text)), d);
	diags_print(d, sources, stderr, false);
	assert_non_null(f);
	diags_free(d);
	sources_free(sources);
	return f;
}

static void test_mutants_of_statements(void **state)
{
	struct arena *a = arena_new(0);
	const struct loop_fn *callees[3] = {NULL};
	struct totals t = {0};
	for (uint32_t k = 0; k < 2; k++)
		callees[k] = read_callee(a, callee_texts[k]);
	try_subject(&(struct subject){"statements", statements, sizeof statements - 1, callees}, &t);
	check_totals(&t);
	arena_free(a);
}

/* A chain from an input through a temporary to an output, whose rows a kernel reads; calls that grow an input, and a copy of one. */
static const char growth[] = "unit grows() inputs 4 outputs 4 slots 0 scratch 64\n"
			     "b0 = input 0 float32[1, 4, 1, 8]\n"
			     "b1 = input 1 float16[1, 2, 5, 8] as dim2_first\n"
			     "b2 = input 2 float32[1, 2, 3, 8]\n"
			     "b3 = input 3 float32[4]\n"
			     "b4 = output 0 float32[1, 4, 1, 8]\n"
			     "b5 = output 1 float16[1, 2, 8, 8] as dim2_first grows b6\n"
			     "b6 = temp float16[1, 2, 6, 8] as dim2_first grows b1 at 0 from 0 until 1\n"
			     "b7 = output 2 float32[6] grows b3\n"
			     "b8 = temp float32[4] at 0 from 4 until 6\n"
			     "b9 = temp float32[6] grows b8 at 0 from 5 until 7\n"
			     "b10 = output 3 float32[6]\n"
			     "nest (i0 < 2, i1 < 8)\n schedule (for i0, for i1) index 8\n"
			     " %0 float32 = load b2[24*i0 + i1]\n %1 float16 = cast %0\n store b6[8*i0 + i1 + 80] = %1\n"
			     "nest (i0 < 2, i1 < 2, i2 < 8)\n schedule (for i0, for i1, for i2) index 8\n"
			     " %0 float32 = load b2[24*i0 + 8*i1 + i2 + 8]\n %1 float16 = cast %0\n store b5[8*i0 + 16*i1 + i2 + 96] = %1\n"
			     "kernel tri_attention_f32(b0, b5, b5, b4) dims (batch=1, heads=4, kv_heads=2, queries=1, keys=8, features=8, "
			     "values=8, k_batch=16, k_head=8, k_row=16, v_batch=16, v_head=8, v_row=16, k_elem=2, v_elem=2)\n"
			     "call more(b3) to (b7)\n"
			     "nest (i0 < 4)\n schedule (for i0) index 8\n %0 float32 = load b3[i0]\n store b8[i0] = %0\n"
			     "call more(b8) to (b9)\n"
			     "nest (i0 < 6)\n schedule (for i0) index 8\n %0 float32 = load b9[i0]\n store b10[i0] = %0\n";
static const char grows_more[] =
	"unit more() inputs 1 outputs 1 slots 0 scratch 0\nb0 = input 0 float32[4]\nb1 = output 0 float32[6] grows b0\n"
	"nest (i0 < 2)\n schedule (for i0) index 8\n %0 float32 = load b0[i0]\n store b1[i0 + 4] = %0\n";

static void test_mutants_of_growth(void **state)
{
	struct arena *a = arena_new(0);
	const struct loop_fn *callees[] = {read_callee(a, grows_more), NULL};
	struct totals t = {0};
	try_subject(&(struct subject){"growth", growth, sizeof growth - 1, callees}, &t);
	check_totals(&t);
	arena_free(a);
}

static void test_mutants_of_blocks(void **state)
{
	struct totals t = {0};
	try_file("nested_device", &t);
	try_file("nested", &t);
	check_totals(&t);
}

/* Groups of heads, and a mask for each head and key. */
static void test_mutants_of_attention(void **state)
{
	struct totals t = {0};
	try_file("attention_mask", &t);
	check_totals(&t);
}

/* What loop passes decide for the printers. */
static const char marks[] = "unit marks() inputs 1 outputs 3 slots 0 scratch 0\n"
			    "b0 = input 0 float32[3, 16]\n"
			    "b1 = output 0 float32[3, 16]\n"
			    "b2 = output 1 int8[3, 16]\n"
			    "b3 = output 2 float32[3]\n"
			    "block (i0 < 3) frame 0 stack\n"
			    " schedule (for i0) index 8\n"
			    " nest (i1 < 16)\n"
			    "  schedule (for i1 step 8, vector i1 by 8) index 8 apart\n"
			    "  %0 float32 = load b0[16*i0 + i1] prefetch 1\n"
			    "  %1 float32 = exp %0 by lookup\n"
			    "  %2 int8 = bounded_cast %0 from -3 to 4 nearest\n"
			    "  %3 float32 = const 3\n"
			    "  %4 float32 = pow %1, %3 by products\n"
			    "  store b1[16*i0 + i1] streamed = %4\n"
			    "  store b2[16*i0 + i1] = %2\n"
			    " nest () reduce (i1 < 16)\n"
			    "  schedule (for i1 step 8, vector i1 by 8) index 8\n"
			    "  | %0 float32 = load b0[16*i0 + i1]\n"
			    "  | %1 float32 = mul %0, %0\n"
			    "  %2 float32 = acc 0\n"
			    "  acc 0 float32 = reduce_sum %1 fused\n"
			    "  store b3[i0] = %2\n"
			    " end\n";

static void test_mutants_of_marks(void **state)
{
	struct totals t = {0};
	try_subject(&(struct subject){"marks", marks, sizeof marks - 1, NULL}, &t);
	check_totals(&t);
}

/* The text of `marks` with one part replaced. */
static const char *changed_marks(struct arena *a, const char *part, const char *other)
{
	const char *at = strstr(marks, part);
	assert_non_null(at);
	return arena_printf(a, "%.*s%s%s", (int)(at - marks), marks, other, at + strlen(part));
}

static void test_refused_marks(void **state)
{
	static const struct {
		const char *part, *other, *why;
	} changes[] = {
		{" prefetch 1", " streamed", "a streamed access that is not a store"},
		{" streamed", " prefetch 1", "a prefetch that is not of a load"},
		{"vector i1 by 8", "unroll i1 by 2 step 4, vector i1 by 4", "a streamed access that is not a store of neighbours"},
		{"from -3", "from -3.5", "bounds of a cast that its type cannot hold"},
		{"to 4", "to 128", "bounds of a cast that its type cannot hold"},
		{"bounded_cast %0", "bounded_cast %2", "a bounded cast of something else"},
		{"exp %0 by lookup", "exp %0 by products", "an operation that the method does not compute"},
		{"exp %0 by lookup", "log %0 by lookup", "an operation that the method does not compute"},
		{"reduce_sum %1 fused", "reduce_sum %0 fused", "a fused product that is none"},
		{"reduce_sum %1 fused", "reduce_max %1 fused", "a fused product that is none"},
		{"acc 0 float32 = reduce_sum %1 fused", "acc 0 float32 = reduce_sum %1 fused acc 1 float32 = reduce_max %1",
		 "has other uses"},
		{"(for i0) index 8", "(for i0) index 8 apart", "only a nest in a block can be a function"},
		{"frame 0 stack", "frame 16448 stack", "a frame on the stack that is too large"},
		{"const 3", "const 4", "an operation that the method does not compute"},
		{"b1[16*i0 + i1] streamed", "b1[i0 + 3*i1] streamed", "a streamed access that is not a store of neighbours"},
	};
	for (size_t k = 0; k < sizeof changes / sizeof *changes; k++) {
		struct arena *a = arena_new(0);
		struct sources *sources = sources_new();
		struct diags *d = diags_new(0);
		const char *text = changed_marks(a, changes[k].part, changes[k].other);
		assert_null(loops_read(a, sources_add(sources, "marks", text, strlen(text)), d));
		if (!strstr(diags_at(d, 0)->message, changes[k].why))
			fail_msg("%s: %s", changes[k].other, diags_at(d, 0)->message);
		diags_free(d);
		sources_free(sources);
		arena_free(a);
	}
}

int test_loop_mutants(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mutants_of_goldens),   cmocka_unit_test(test_mutants_of_statements),
		cmocka_unit_test(test_mutants_of_blocks),    cmocka_unit_test(test_mutants_of_growth),
		cmocka_unit_test(test_mutants_of_attention), cmocka_unit_test(test_mutants_of_marks),
		cmocka_unit_test(test_refused_marks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
