/* Mutants for the verifier. In valid functions, one field of one instruction is changed at a time. The verifier must refuse every mutant that
 * breaks a rule of the IR; `must` says which those are, independently of the verifier's code. Others may be valid programs: those that it
 * accepts must go through text and back, and run in the interpreter without a fault of memory. */
#include "tests/unit/backend/ir/mutants.h"
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "backend/ir/attributes.h"
#include "backend/lower/lower.h"
#include "base/os.h"
#include "tests/unit/backend/hir_fixture.h"

/* ---- operands and operation ---- */

static void set_operand(struct mutants *m, uint32_t k, ir_ref to, bool must, const char *field)
{
	ir_ref *o = &m->f->operands[ir_at(m->f, m->r)->operands + k], was = *o;
	*o = to;
	try_mutant(m, must, field);
	*o = was;
}

static void mutate_operands(struct mutants *m)
{
	struct ir_inst *i = ir_at(m->f, m->r), was = *i;
	bool ewise = ir_op_traits(i->op) & EWISE, fixed = ir_op_operands(i->op) >= 0;
	for (uint32_t k = 0; k < i->n_operands; k++) {
		const struct hir_type *have = ir_type_of(m->f, ir_operand(m->f, m->r, k));
		set_operand(m, k, m->r, true, "operand: itself");
		set_operand(m, k, m->f->n_insts, true, "operand: none");
		for (ir_ref o = 0; o < m->r; o++) {
			const struct hir_type *t = ir_type_of(m->f, o);
			bool call = ir_calls(ir_at(m->f, o)->op), effect = ir_op_traits(ir_at(m->f, o)->op) & EFFECT;
			bool other = ewise && (t->rank != have->rank || (t->elem != have->elem && i->op != OP_CAST));
			set_operand(m, k, o, call != (i->op == OP_RESULT) || effect || other, "operand");
		}
	}
	for (int step = -1; step <= 1; step += 2) {
		i->n_operands = was.n_operands + (uint32_t)step;
		if (i->operands + (uint64_t)i->n_operands <= m->f->n_operands)
			try_mutant(m, fixed, "number of operands");
	}
	*i = was;
	i->operands = m->f->n_operands + 1;
	try_mutant(m, true, "first operand");
	*i = was;
}

static void mutate_op(struct mutants *m)
{
	struct ir_inst *i = ir_at(m->f, m->r);
	enum ir_op was = i->op;
	for (int op = 0; op <= OP_COUNT; op++) {
		bool known = op < OP_COUNT;
		int n = known ? ir_op_operands((enum ir_op)op) : 0;
		bool must = !known || ir_op_record((enum ir_op)op) != ir_op_record(was) || (n >= 0 && (uint32_t)n != i->n_operands);
		i->op = (enum ir_op)op;
		if (op != (int)was)
			try_mutant(m, must, "operation");
	}
	i->op = was;
}

/* ---- the type ---- */

/* True if operands and attributes leave the element type open, or only say which kind it is. */
static bool any_elem(enum ir_op op)
{
	return op == OP_CAST || op == OP_CONV || op == OP_IOTA || op == OP_RANDOM || op == OP_REDUCE_SUM || op == OP_REDUCE_PROD ||
	       op == OP_RESULT || ir_calls(op);
}
/* Constants do not say which type of this size their elements have. */
static bool same_size(int a, dtype b) { return a < DT_COUNT && dtype_size((dtype)a) == dtype_size(b); }
static bool any_rank(enum ir_op op)
{
	return op == OP_BROADCAST || op == OP_ATTENTION || op == OP_DEQUANTIZE || op == OP_IOTA || op == OP_RANDOM || op == OP_RESULT ||
	       ir_calls(op);
}
/* True if dim k of the result may be larger by one: the rule leaves it open, or sizes of operands are known only at run time. */
static bool any_size(const struct ir_fn *f, const struct ir_inst *i, uint32_t k)
{
	bool known = ir_type_const(f->dims, &i->type), same = ir_op_traits(i->op) & EWISE;
	for (uint32_t o = 0; o < i->n_operands; o++) {
		const struct hir_type *t = ir_type_of(f, f->operands[i->operands + o]);
		known = known && ir_type_const(f->dims, t);
		same = same && dim_eq(t->dims[k], i->type.dims[k]);
	}
	if ((i->op == OP_POOL || i->op == OP_RESIZE) && k >= 2) /* the first two are those of the operand */
		return i->op == OP_RESIZE || ir_pool(i)->kind == POOL_ADAPTIVE_AVERAGE || !known;
	if (i->op == OP_SLICE || i->op == OP_PAD || i->op == OP_WINDOW || any_rank(i->op))
		return true;
	bool empty = i->op == OP_RESHAPE && known && ir_type_count(f->dims, &i->type) == 0;
	return i->n_operands && ((!known && !same) || empty);
}

static void mutate_type(struct mutants *m)
{
	struct ir_inst *i = ir_at(m->f, m->r);
	struct hir_type was = i->type;
	dim two = dim_const(m->f->dims, 2);
	for (int e = 0; e <= DT_COUNT; e++) {
		i->type.elem = (dtype)e;
		if (e != (int)was.elem)
			try_mutant(m, e == DT_COUNT || !(any_elem(i->op) || (i->op == OP_CONST && same_size(e, was.elem))), "element type");
	}
	i->type = was;
	for (uint8_t rank = 0; rank <= HIR_MAX_RANK + 1; rank++) {
		for (uint32_t k = was.rank; k < rank && k < HIR_MAX_RANK; k++)
			i->type.dims[k] = two;
		i->type.rank = rank;
		bool fewer = i->op == OP_RESHAPE && rank < was.rank; /* may keep the count */
		if (rank != was.rank)
			try_mutant(m, rank > HIR_MAX_RANK || (!any_rank(i->op) && !fewer && i->op != OP_RESHAPE), "rank");
	}
	i->type = was;
	for (uint32_t k = 0; k < was.rank; k++) {
		i->type.dims[k] = dim_add(m->f->dims, was.dims[k], dim_const(m->f->dims, 1));
		try_mutant(m, !any_size(m->f, i, k), "dimension");
		i->type.dims[k] = (dim){dims_count(m->f->dims)};
		try_mutant(m, true, "dimension: none");
		i->type.dims[k] = dim_const(m->f->dims, -1);
		try_mutant(m, true, "dimension: negative");
		i->type = was;
	}
}

/* ---- attributes ---- */

static void set_bytes(struct mutants *m, void *at, const void *to, size_t n, bool must, const char *field)
{
	uint8_t was[16];
	memcpy(was, at, n);
	memcpy(at, to, n);
	try_mutant(m, must, field);
	memcpy(at, was, n);
}

static void mutate_number(struct mutants *m, const struct ir_attribute *a, void *at)
{
	struct ir_inst *i = ir_at(m->f, m->r);
	const struct ir_attribute_type *t = a->type;
	if (t == &ir_attribute_mask) {
		uint32_t rank = i->n_operands ? ir_type_of(m->f, ir_operand(m->f, m->r, 0))->rank : 0;
		for (uint32_t k = 0; k <= rank; k++) {
			uint32_t to = *(uint32_t *)at ^ 1u << k;
			set_bytes(m, at, &to, 4, k == rank || (ir_op_traits(i->op) & REDUCES), "mask");
		}
		return;
	}
	bool declared = i->op == OP_INPUT || i->op == OP_WEIGHT;
	for (uint32_t k = 0; k <= i->type.rank; k++)
		if (t == &ir_attribute_axis && k != *(uint32_t *)at)
			set_bytes(m, at, &k, 4, k == i->type.rank, "axis");
	uint32_t most = UINT32_MAX;
	set_bytes(m, at, &most, 4, t != &ir_attribute_number || declared, "number");
}

static void mutate_int(struct mutants *m, const struct ir_attribute *a, void *at)
{
	enum ir_op op = ir_at(m->f, m->r)->op;
	static const int64_t values[] = {0, 1, 2, -1, 1000, INT64_MIN, INT64_MAX};
	for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
		int64_t v = values[k];
		bool must = (op == OP_TRANSPOSE && v != *(int64_t *)at) || (op == OP_SLICE && v == 0);
		if (a->type == &ir_attribute_int && v != *(int64_t *)at)
			set_bytes(m, at, &v, 8, must, a->word);
	}
}

static void mutate_value(struct mutants *m, const struct ir_attribute *a, void *at)
{
	const struct ir_attribute_type *t = a->type;
	const void *none = NULL;
	if (t == &ir_attribute_number || t == &ir_attribute_axis || t == &ir_attribute_mask || t == &ir_attribute_choice)
		mutate_number(m, a, at);
	mutate_int(m, a, at);
	static const double reals[] = {0, -1, 1e300, INFINITY, NAN};
	for (size_t k = 0; t == &ir_attribute_real && k < sizeof reals / sizeof *reals; k++)
		set_bytes(m, at, &reals[k], sizeof *reals, false, a->word);
	if (t == &ir_attribute_flag)
		set_bytes(m, at, &(bool){!*(bool *)at}, sizeof(bool), false, a->word);
	if (t == &ir_attribute_dim) {
		dim no = {dims_count(m->f->dims)}, negative = dim_const(m->f->dims, -1);
		set_bytes(m, at, &no, sizeof no, true, "dimension of an attribute: none");
		set_bytes(m, at, &negative, sizeof negative, ir_at(m->f, m->r)->op == OP_PAD, "dimension of an attribute");
	}
	if (t == &ir_attribute_bytes)
		set_bytes(m, at, &(uint64_t){*(uint64_t *)at + 1}, 8, true, "size of a constant");
	if (t == &ir_attribute_text)
		set_bytes(m, at, &(const char *){"{} {} {} {} {} {} {} {} {}"}, sizeof none,
			  ir_at(m->f, m->r)->n_operands < 9 && !a->offset, "text");
	if (t == &ir_attribute_text || t == &ir_attribute_data || t == &ir_attribute_callee)
		set_bytes(m, at, &none, sizeof none, true, "pointer: none");
}

static void mutate_attributes(struct mutants *m)
{
	struct ir_inst *i = ir_at(m->f, m->r);
	const struct ir_attribute *list;
	uint32_t n = ir_attributes_of(i->op, &list);
	for (uint32_t k = 0; k < n; k++) {
		uint32_t values = list[k].count == IR_ONE ? 1 : list[k].count == IR_EACH ? i->type.rank : list[k].count;
		for (uint32_t v = 0; v < values; v++)
			mutate_value(m, &list[k], (char *)(uintptr_t)i->attributes + list[k].offset + v * list[k].type->size);
	}
	const void *was = i->attributes;
	i->attributes = NULL;
	try_mutant(m, was != NULL, "attributes: none");
	i->attributes = was;
}

/* ---- the function ---- */

static void mutate_outputs(struct mutants *m)
{
	for (uint32_t k = 0; k < m->f->n_outputs; k++) {
		ir_ref was = m->f->outputs[k];
		for (ir_ref o = 0; o <= m->f->n_insts; o++) {
			m->f->outputs[k] = o;
			bool value = o < m->f->n_insts && !ir_calls(ir_at(m->f, o)->op) && !(ir_op_traits(ir_at(m->f, o)->op) & EFFECT);
			try_mutant(m, !value, "output");
		}
		m->f->outputs[k] = was;
	}
}

static void mutate_function(struct mutants *m, bool sample)
{
	for (m->r = 0; m->r < m->f->n_insts; m->r += 1 + (sample ? (uint32_t)rand() % 16 : 0)) {
		mutate_operands(m);
		mutate_op(m);
		mutate_type(m);
		mutate_attributes(m);
		struct ir_inst *i = ir_at(m->f, m->r);
		i->layout = LAYOUT_COUNT;
		try_mutant(m, true, "layout");
		i->layout = LAYOUT_PLAIN;
	}
	m->r = 0;
	mutate_outputs(m);
}

static void mutate_file(struct mutants *m, const char *path)
{
	struct arena *a = arena_new(0);
	struct sources *s = sources_new();
	struct diags *d = diags_new(0);
	char *text;
	size_t len;
	assert_true(os_read_file(path, 0, &text, &len));
	m->path = path;
	m->f = ir_read(a, sources_add(s, path, text, len), d);
	m->runs = m->f && mutant_run(m->f);
	if (m->f && m->f->n_insts <= 200)
		mutate_function(m, m->f->n_insts > 30 || getenv("TRIB_QUICK"));
	free(text);
	diags_free(d);
	sources_free(s);
	arena_free(a);
}

static void the_verifier_refuses_mutants(void **state)
{
	(void)state;
	static const char *const places[] = {"/tests/golden/ir/*.ir", "/tests/golden/passes/*/*.ir", "/tests/fuzz/corpus/ir/*"};
	struct mutants m = {0};
	for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
		char pattern[1024];
		glob_t g;
		snprintf(pattern, sizeof pattern, TRIB_SOURCE_DIR "%s", places[p]);
		assert_int_equal(glob(pattern, 0, NULL, &g), 0);
		for (size_t k = 0; k < g.gl_pathc; k++)
			mutate_file(&m, g.gl_pathv[k]);
		globfree(&g);
	}
	print_message("%u mutants that break a rule: all refused. %u others: %u accepted, %u run\n", m.must, m.free, m.accepted, m.run);
	assert_true(m.must > 1000 && m.accepted > 100 && m.run > 100);
}

/* Texts name callees without their bodies; lowered units have them. */
static void the_verifier_compares_calls_with_their_callees(void **state)
{
	(void)state;
	struct arena *a = arena_new(0);
	struct diags *d = diags_new(0);
	struct hir_unit *leaf = hir_new(a, "leaf"), *u = hir_new(a, "caller");
	struct hir_type t = SHAPE(leaf, DT_FLOAT32, 2), other = SHAPE(u, DT_INT32, 2);
	hir_ref in = hir_input_new(leaf, "x", t, false);
	hir_output_new(leaf, BI(leaf, BI_ABS, t, T(in)));
	leaf->never_inline = true;
	hir_ref x = hir_input_new(u, "x", SHAPE(u, DT_FLOAT32, 2), false);
	hir_output_new(u, hir_input_new(u, "y", other, false));
	hir_output_new(u, hir_call_new(u, leaf, ARENA_ARRAY(a, dim, 1), SHAPE(u, DT_FLOAT32, 2), (struct hir_arg[]){T(x)}, 1));
	struct mutants m = {.path = "caller", .f = lower_unit(a, u, d)};
	assert_non_null(m.f);
	while (!ir_calls(ir_at(m.f, m.r)->op))
		m.r++;
	set_operand(&m, 0, 1, true, "operand of another type"); /* y */
	ir_at(m.f, m.r)->n_operands = 0;
	try_mutant(&m, true, "number of operands");
	ir_at(m.f, m.r)->n_operands = 1;
	struct ir_inst *result = ir_at(m.f, ++m.r);
	set_bytes(&m, (void *)(uintptr_t)&ir_number(result)->number, &(uint32_t){1}, 4, true, "number");
	result->type = ir_at(m.f, 1)->type;
	try_mutant(&m, true, "type");
	diags_free(d);
	arena_free(a);
}

int test_mutants(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(the_verifier_refuses_mutants),
					   cmocka_unit_test(the_verifier_compares_calls_with_their_callees)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
