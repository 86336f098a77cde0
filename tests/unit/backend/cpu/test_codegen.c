/* The code generator against the reference interpreter: random functions over all operations, every vector width and optimisation level. */
#include "tests/unit/unit.h"
#include <math.h>
#include "backend/interp/interp.h"
#include "backend/ir/tensor.h"
#include "backend/loops/ir/loops.h"
#include "backend/runtime/abi/unit.h"
#include "backend/target/target.h"
#include "tests/unit/backend/cpu/codegen_native.h"
#include "tests/unit/backend/cpu/codegen_random.h"
#include "tests/unit/backend/plan_loops.h"

enum { VARIANTS = 5 };
static const struct {
	const char *cpu;
	uint8_t opt;
} variants[VARIANTS] = {{"x86-64-v2", 1}, {"x86-64-v3", 2}, {"x86-64-v4", 1}, {"x86-64-v3", 0}, {"native", 2}};

struct trial {
	struct random_fn r;
	struct tensor *inputs, *weights, *want;
	const char *symbol[VARIANTS];
};

static struct tensor make_tensor(struct random_fn *r, const struct hir_type *t)
{
	struct tensor x = {.elem = t->elem, .rank = t->rank};
	for (uint32_t k = 0; k < t->rank; k++)
		x.dims[k] = dim_eval(r->f->dims, t->dims[k], &r->sym_value);
	x.data = arena_alloc(r->a, (size_t)tensor_bytes(&x) + 64, 64);
	return x;
}

static void fill(struct trial *t)
{
	struct random_fn *r = &t->r;
	t->inputs = ARENA_ARRAY(r->a, struct tensor, r->f->n_inputs + 1);
	t->weights = ARENA_ARRAY(r->a, struct tensor, r->f->n_weights + 1);
	t->want = ARENA_ARRAY(r->a, struct tensor, r->f->n_outputs);
	for (uint32_t k = 0; k < r->f->n_inputs; k++) {
		t->inputs[k] = make_tensor(r, &r->f->inputs[k]);
		random_fill(r, t->inputs[k].elem, t->inputs[k].data, tensor_count(&t->inputs[k]));
	}
	for (uint32_t k = 0; k < r->f->n_weights; k++) {
		t->weights[k] = make_tensor(r, &r->f->weights[k]);
		random_fill(r, t->weights[k].elem, t->weights[k].data, tensor_count(&t->weights[k]));
	}
}

static bool same_float(double got, double want, bool exact, dtype elem, double scale)
{
	if (got == want || (got != got && want != want))
		return true;
	double part = elem == DT_BFLOAT16 ? 3e-2 : elem == DT_FLOAT16 ? 4e-3 : exact ? 0 : 1e-4;
	return fabs(got - want) <= part * (fabs(want) + scale);
}

/* How many elements differ; prints the first. */
static int64_t compare(const struct trial *t, uint32_t output, const void *got, const char *symbol)
{
	const struct tensor *w = &t->want[output];
	bool exact = t->r.exact[t->r.f->outputs[output]];
	int64_t wrong = 0, n = tensor_count(w);
	double scale = 1.0;
	for (int64_t k = 0; k < n && is_float(w->elem); k++)
		if (isfinite(elem_float(w->elem, w->data, k)))
			scale = fmax(scale, fabs(elem_float(w->elem, w->data, k)));
	for (int64_t k = 0; k < n; k++) {
		bool same = is_float(w->elem) ? same_float(elem_float(w->elem, got, k), elem_float(w->elem, w->data, k), exact, w->elem,
							   exact ? 0 : scale)
					      : elem_int(w->elem, got, k) == elem_int(w->elem, w->data, k);
		if (same || wrong++)
			continue;
		if (is_float(w->elem))
			fprintf(stderr, "%s output %u[%ld]: got %.9g, want %.9g\n", symbol, output, (long)k, elem_float(w->elem, got, k),
				elem_float(w->elem, w->data, k));
		else
			fprintf(stderr, "%s output %u[%ld]: got %ld, want %ld\n", symbol, output, (long)k, (long)elem_int(w->elem, got, k),
				(long)elem_int(w->elem, w->data, k));
	}
	return wrong;
}

static void show(const struct trial *t, const struct loop_fn *loops)
{
	struct buf text = {0};
	ir_print(t->r.f, &text);
	loops_print(loops, &text);
	fprintf(stderr, "N = %ld\n%s\n", (long)t->r.sym_value, text.at);
	buf_free(&text);
}

static struct loop_fn *build(struct trial *t, const char *symbol)
{
	struct buf why = {0};
	struct loop_fn *loops = plan_loops(t->r.a, &t->r.plan);
	loops->symbol = symbol;
	if (!loops_verify(loops, &why)) {
		fprintf(stderr, "%s\n", why.at);
		fail();
	}
	buf_free(&why);
	return loops;
}

static bool add_variants(struct native *native, struct trial *t)
{
	for (uint32_t k = 0; k < VARIANTS; k++) {
		const struct target *target = target_find_cpu(t->r.a, variants[k].cpu);
		t->symbol[k] = arena_printf(t->r.a, "%s_%u", t->r.f->name, k);
		if (k % quick(1, VARIANTS - 1) || !target || !target_runs_here(target))
			continue;
		struct codegen_target ct = codegen_target_for(target, variants[k].opt, false, false);
		t->r.plan.options = (struct plan_options){.target = target, .opt = (uint8_t)variants[k].opt};
		if (!native_add(native, &ct, build(t, t->symbol[k])))
			return false;
	}
	return true;
}

static int64_t run_variant(struct native *native, struct trial *t, uint32_t k)
{
	const struct ir_fn *f = t->r.f;
	tri_unit_fn *run;
	tri_scratch_fn *scratch_size;
	*(void **)&run = dlsym(native->library, t->symbol[k]);
	*(void **)&scratch_size = dlsym(native->library, arena_printf(t->r.a, "%s_scratch", t->symbol[k]));
	if (!run)
		return 0;
	void **bufs = ARENA_ARRAY(t->r.a, void *, f->n_inputs + f->n_outputs);
	const void **weights = ARENA_ARRAY(t->r.a, const void *, f->n_weights + 1);
	for (uint32_t i = 0; i < f->n_inputs; i++)
		bufs[i] = t->inputs[i].data;
	for (uint32_t i = 0; i < f->n_outputs; i++) {
		size_t n = (size_t)tensor_bytes(&t->want[i]);
		bufs[f->n_inputs + i] = arena_alloc(t->r.a, n + 64, 64);
		memset(bufs[f->n_inputs + i], 0xa5, n + 64);
	}
	for (uint32_t i = 0; i < f->n_weights; i++)
		weights[i] = t->weights[i].data;
	int64_t size = scratch_size(&t->r.sym_value);
	char *scratch = arena_alloc(t->r.a, (size_t)size + 128, 64);
	memset(scratch, 0x5a, (size_t)size + 128);
	run(NULL, bufs, weights, &t->r.sym_value, scratch);
	int64_t wrong = 0;
	for (uint32_t i = 0; i < f->n_outputs; i++) {
		wrong += compare(t, i, bufs[f->n_inputs + i], t->symbol[k]);
		const unsigned char *end = (unsigned char *)bufs[f->n_inputs + i] + tensor_bytes(&t->want[i]);
		for (int j = 0; j < 64; j++)
			wrong += end[j] != 0xa5;
	}
	for (int j = 0; j < 64; j++)
		wrong += scratch[size + j] != 0x5a;
	return wrong;
}

static int64_t run_trial(struct native *native, struct trial *t)
{
	int64_t wrong = 0;
	const char *error = NULL;
	if (!interp_run(t->r.f, t->inputs, t->weights, &t->r.sym_value, 1, t->r.a, t->want, &error)) {
		fprintf(stderr, "%s: interpreter: %s\n", t->r.f->name, error);
		return 1;
	}
	for (uint32_t k = 0; k < VARIANTS; k++)
		wrong += run_variant(native, t, k);
	if (wrong)
		show(t, build(t, t->r.f->name));
	return wrong;
}

static uint64_t number_from(const char *variable, uint64_t otherwise)
{
	const char *text = getenv(variable);
	return text ? strtoull(text, NULL, 10) : otherwise;
}

static void test_random_functions(void **state)
{
	uint64_t first = number_from("TRIB_SEED", 1), count = number_from("TRIB_COUNT", quick(60, 10));
	struct native native;
	struct arena *a = arena_new(0);
	struct trial *trials = ARENA_ARRAY(a, struct trial, count);
	struct buf why = {0};
	assert_true(native_begin(&native));
	for (uint64_t k = 0; k < count; k++) {
		trials[k].r = random_function(a, first + k, arena_printf(a, "seed%lu", (unsigned long)(first + k)));
		fill(&trials[k]);
		if (!ir_verify(trials[k].r.f, &why))
			fail_msg("%s: %s", trials[k].r.f->name, why.at);
		assert_true(add_variants(&native, &trials[k]));
	}
	assert_true(native_link(&native));
	uint64_t failed = 0;
	for (uint64_t k = 0; k < count; k++)
		failed += run_trial(&native, &trials[k]) != 0;
	native_end(&native);
	arena_free(a);
	if (failed)
		fail_msg("%lu of %lu functions differ", (unsigned long)failed, (unsigned long)count);
}

/* ---- elementary functions: the worst error over a sweep of all magnitudes ---- */

static struct random_fn unary_function(struct arena *a, const char *name, enum ir_op op, int64_t n)
{
	struct dims *d = dims_new(a);
	struct hir_type t = {.elem = DT_FLOAT32, .rank = 1, .dims = {dim_const(d, n)}};
	return one_op(a, d, name, op, &t, &t, 1);
}

static double exact_value(enum ir_op op, double x)
{
	switch (op) {
	case OP_EXP: return exp(x);
	case OP_LOG: return log(x);
	case OP_TANH: return tanh(x);
	case OP_ERF: return erf(x);
	case OP_SIN: return sin(x);
	case OP_COS: return cos(x);
	case OP_RSQRT: return (double)(1.0f / sqrtf((float)x));
	default: return sqrt(x);
	}
}

/* In units of approximations.def. */
static double error_of(enum ir_op op, float x, float got)
{
	double want = exact_value(op, (double)x), least = op == OP_SIN || op == OP_COS ? 0.5 : 0;
	if (got == (float)want || (got != got && want != want))
		return 0;
	double unit = ldexp(1, (int)fmax(logb(fmax(fabs(want), least)), -126) - 23);
	return fabs((double)got - want) / unit;
}

/* The greatest error of the operation on a target; without a method it is rounded correctly. */
static double allowed_error(enum ir_op op, const struct target *t)
{
	double error;
	if (t->functions == FUNCTIONS_LOOKUP && method_error(METHOD_LOOKUP, op, &error))
		return error;
	return method_error(METHOD_POLYNOMIAL, op, &error) ? error : 0.5;
}

enum { SWEEP = 1 << 16 };
static void sweep(float *x)
{
	static const float special[] = {0.0f,    -0.0f,   INFINITY, -INFINITY, NAN,  88.72f, 88.73f, -87.33f,
					-103.9f, -104.5f, 1e-45f,   -1e-45f,   1.0f, -1.0f,  3e38f};
	for (uint32_t k = 0; k < SWEEP; k++) {
		uint32_t bits = k * 65536u + (k * 40503u & 65535u);
		memcpy(&x[k], &bits, sizeof bits);
		if (k % 2) /* every other one in the usual range */
			x[k] = (float)((int32_t)(k * 2654435761u)) / 2147483648.0f * 20.0f;
	}
	memcpy(x, special, sizeof special);
}

static void test_elementary(void **state)
{
	static const enum ir_op ops[] = {OP_EXP, OP_LOG, OP_TANH, OP_ERF, OP_SIN, OP_COS, OP_RSQRT, OP_SQRT};
	enum { N = sizeof ops / sizeof *ops };
	struct arena *a = arena_new(0);
	struct native native;
	float *x = ARENA_ARRAY(a, float, SWEEP), *y = ARENA_ARRAY(a, float, SWEEP);
	struct trial trials[N];
	uint32_t bad = 0;
	sweep(x);
	assert_true(native_begin(&native));
	for (uint32_t k = 0; k < N; k++) {
		trials[k] = (struct trial){.r = unary_function(a, arena_printf(a, "test_%s", ir_op_text(ops[k])), ops[k], SWEEP)};
		assert_true(add_variants(&native, &trials[k]));
	}
	assert_true(native_link(&native));
	for (uint32_t k = 0; k < N; k++)
		for (uint32_t v = 0; v < VARIANTS; v++) {
			tri_unit_fn *run;
			double worst = 0, most = allowed_error(ops[k], target_find_cpu(a, variants[v].cpu));
			float at = 0;
			*(void **)&run = dlsym(native.library, trials[k].symbol[v]);
			if (!run)
				continue;
			run(NULL, (void *[]){x, y}, NULL, NULL, NULL);
			for (uint32_t i = 0; i < SWEEP; i++) {
				double off = error_of(ops[k], x[i], y[i]);
				if (!(off <= worst)) {
					worst = off;
					at = x[i];
				}
			}
			if (getenv("TRIB_VERBOSE") || !(worst <= most))
				fprintf(stderr, "%s: worst error %.3g, of at most %g, at %.9g\n", trials[k].symbol[v], worst, most,
					(double)at);
			bad += !(worst <= most);
		}
	native_end(&native);
	arena_free(a);
	assert_int_equal(bad, 0);
}

/* ---- reductions of nothing ---- */

/* Of [N, 4] over the rows, or of [4, N] along them. */
static struct trial one_reduction(struct arena *a, const char *name, enum ir_op op, dtype elem, uint32_t axis, int64_t size)
{
	struct dims *d = dims_new(a);
	dim n = dim_new_sym(d, "N"), four = dim_const(d, 4);
	struct hir_type in = {.elem = elem, .rank = 2, .dims = {axis ? four : n, axis ? n : four}};
	struct hir_type out = {.elem = op == OP_ARGMAX || op == OP_ARGMIN ? DT_INT64 : elem, .rank = 1, .dims = {four}};
	struct trial t = {.r = one_op(a, d, name, op, &out, &in, 1)};
	ir_set_axes(t.r.f, t.r.f->outputs[0], (struct ir_axes){1u << axis});
	t.r.sym_value = size;
	fill(&t);
	return t;
}

/* Fails unless every variant of each function computes what the interpreter does. Frees a. */
static void check_trials(struct arena *a, struct trial *trials, uint32_t n)
{
	struct native native;
	int64_t wrong = 0;
	assert_true(native_begin(&native));
	for (uint32_t k = 0; k < n; k++)
		assert_true(add_variants(&native, &trials[k]));
	assert_true(native_link(&native));
	for (uint32_t k = 0; k < n; k++)
		wrong += run_trial(&native, &trials[k]);
	native_end(&native);
	arena_free(a);
	assert_int_equal(wrong, 0);
}

static void test_empty_reductions(void **state)
{
	static const enum ir_op ops[] = {OP_REDUCE_SUM, OP_REDUCE_MAX, OP_REDUCE_MIN, OP_ARGMAX, OP_ARGMIN};
	static const dtype elems[] = {DT_TRIT, DT_INT8, DT_INT64, DT_FLOAT32};
	enum { N_OPS = sizeof ops / sizeof *ops, N_ELEMS = sizeof elems / sizeof *elems, N = N_OPS * N_ELEMS * 2 };
	struct arena *a = arena_new(0);
	struct trial trials[N];
	for (uint32_t k = 0; k < N; k++) {
		enum ir_op op = ops[k / 2 % N_OPS];
		dtype elem = elems[k / 2 / N_OPS];
		trials[k] = one_reduction(a, arena_printf(a, "empty%u", k), op, elem, k % 2, 0);
	}
	check_trials(a, trials, N);
}

/* ---- not a number ---- */

/* Of several in a row the first counts, in whatever lane of a vector it is. */
static void test_first_nan(void **state)
{
	enum { N = 8, LONG = 53, ROWS = 4 };
	static const int64_t nans[ROWS][3] = {{41, 18, 50}, {16, 15, 33}, {52, 52, 52}, {1, 0, 34}};
	struct arena *a = arena_new(0);
	struct trial trials[N];
	for (uint32_t k = 0; k < N; k++) {
		uint32_t axis = k % 2;
		dtype elem = k / 4 ? DT_FLOAT64 : DT_FLOAT32;
		trials[k] = one_reduction(a, arena_printf(a, "nan%u", k), k / 2 % 2 ? OP_ARGMAX : OP_ARGMIN, elem, axis, LONG);
		for (int64_t row = 0; row < ROWS; row++)
			for (uint32_t i = 0; i < 3; i++)
				elem_put_float(elem, trials[k].inputs[0].data, axis ? row * LONG + nans[row][i] : nans[row][i] * ROWS + row,
					       NAN);
	}
	check_trials(a, trials, N);
}

/* ---- integers at the ends of their types ---- */

enum { ENDS = 8 };

/* Every pair of numbers that divisions and powers could trip over. */
static struct trial pairs_trial(struct arena *a, const char *name, enum ir_op op, dtype elem)
{
	int64_t most = (int64_t)(UINT64_MAX >> (65 - 8 * dtype_size(elem)));
	const int64_t ends[ENDS] = {-most - 1, -most, -2, -1, 0, 1, 2, most};
	struct dims *d = dims_new(a);
	struct hir_type in = {.elem = elem, .rank = 1, .dims = {dim_const(d, ENDS * ENDS)}}, type[2] = {in, in};
	struct trial t = {.r = one_op(a, d, name, op, type, type, 2)};
	fill(&t);
	for (int64_t k = 0; k < ENDS * ENDS; k++) {
		elem_put_int(elem, t.inputs[0].data, k, ends[k / ENDS]);
		elem_put_int(elem, t.inputs[1].data, k, ends[k % ENDS]);
	}
	return t;
}

static void test_ends_of_integers(void **state)
{
	static const enum ir_op ops[] = {OP_FLOORDIV, OP_MOD, OP_POW, OP_MUL};
	static const dtype elems[] = {DT_UINT8, DT_INT8, DT_INT16, DT_INT32, DT_INT64};
	enum { ELEMS = sizeof elems / sizeof *elems, N = 4 * ELEMS };
	struct arena *a = arena_new(0);
	struct trial trials[N];
	for (uint32_t k = 0; k < N; k++)
		trials[k] = pairs_trial(a, arena_printf(a, "ends%u", k), ops[k / ELEMS], elems[k % ELEMS]);
	check_trials(a, trials, N);
}

/* ---- checked indices and calls ---- */

/* rows(table[V, 3], index[N]): values outside the table are reported and read row 0. */
static struct loop_fn *rows_function(struct arena *a)
{
	struct dims *d = dims_new(a);
	dim n = dim_new_sym(d, "N"), v = dim_new_sym(d, "V"), three = dim_const(d, 3);
	struct hir_type in[2] = {{.elem = DT_FLOAT32, .rank = 2, .dims = {v, three}}, {.elem = DT_INT32, .rank = 1, .dims = {n}}};
	struct hir_type out = {.elem = DT_FLOAT32, .rank = 2, .dims = {n, three}};
	struct random_fn r = one_op(a, d, "rows", OP_GATHER, &out, in, 2);
	ir_set_gather(r.f, r.f->outputs[0], (struct ir_gather){.mask = 1});
	return plan_loops(a, &r.plan);
}

/* caller(x[N]) = -leaf(x), where leaf has scratch of its own and one symbol. */
static struct loop_fn *caller_function(struct arena *a)
{
	struct hir_unit *leaf = ARENA_NEW(a, struct hir_unit);
	struct random_fn r = {.a = a, .f = ir_fn_new(a, "caller", dims_new(a))};
	dim n = dim_new_sym(r.f->dims, "N");
	*leaf = (struct hir_unit){.name = "leaf", .symbol = "leaf", .dims = dims_new(a), .n_outputs = 1, .n_nodes = 1};
	leaf->outputs = ARENA_ARRAY(a, struct hir_output, 1);
	leaf->nodes = ARENA_ARRAY(a, struct hir_node, 1);
	leaf->nodes[0].type = (struct hir_type){.elem = DT_FLOAT32, .rank = 1, .dims = {dim_new_sym(leaf->dims, "M")}};
	struct hir_type t = {.elem = DT_FLOAT32, .rank = 1, .dims = {n}};
	r.f->inputs = ARENA_ARRAY(a, struct hir_type, 1);
	ir_ref x = add_input(&r, &t), abs = emit(&r, OP_ABS, &t, &x, 1, true), call = emit(&r, OP_CALL, &t, &abs, 1, true);
	dim *syms = ARENA_ARRAY(a, dim, 1);
	*syms = n;
	ir_set_call(r.f, call, (struct ir_call){leaf, syms, NULL});
	ir_ref result = emit(&r, OP_RESULT, &t, &call, 1, true);
	ir_set_number(r.f, result, (struct ir_number){0});
	r.f->outputs = ARENA_ARRAY(a, ir_ref, 1);
	r.f->outputs[0] = emit(&r, OP_NEG, &t, &result, 1, true);
	r.f->n_outputs = 1;
	struct plan p = {.options.target = target_get(TARGET_X86_64_V3), .run_fn = r.f};
	return plan_loops(a, &p);
}

static const char leaf_source[] =
	"#include <stdint.h>\n"
	"char *leaf_scratch_at;\n"
	"void leaf(void *c, void *const *b, const void *const *w, const int64_t *d, char *s) { (void)c; (void)w;\n"
	"  leaf_scratch_at = s; for (int64_t i = 0; i < d[0]; i++) ((float *)b[1])[i] = 2 * ((float *)b[0])[i]; }\n"
	"int64_t leaf_scratch(const int64_t *d) { return 1000 * d[0]; }\n";

static void test_call_and_check(void **state)
{
	struct arena *a = arena_new(0);
	struct native native;
	char path[128];
	float table[6] = {1, 2, 3, 4, 5, 6}, out[12], x[4] = {1, -2, 3, -4};
	int32_t index[4] = {1, 0, 2, -1};
	int64_t rows_dims[2] = {4, 2}, n = 4;
	assert_true(native_begin(&native));
	struct codegen_target ct = codegen_target_for(target_get(TARGET_X86_64_V2), 1, false, false);
	assert_true(native_add(&native, &ct, rows_function(a)) && native_add(&native, &ct, caller_function(a)));
	snprintf(path, sizeof path, "%s/leaf.c", native.dir);
	assert_true(native_write(path, leaf_source, sizeof leaf_source - 1));
	snprintf(path, sizeof path, "cd %s && cc -fPIC -c leaf.c", native.dir);
	assert_int_equal(system(path), 0);
	assert_true(native_link(&native));
	tri_unit_fn *rows, *caller;
	tri_scratch_fn *scratch;
	*(void **)&rows = dlsym(native.library, "rows");
	*(void **)&caller = dlsym(native.library, "caller");
	*(void **)&scratch = dlsym(native.library, "caller_scratch");
	rows(NULL, (void *[]){table, index, out}, NULL, rows_dims, NULL);
	assert_true(out[0] == 4 && out[2] == 6 && out[3] == 1 && out[6] == 1 && out[9] == 1);
	assert_true(*(int64_t *)dlsym(native.library, "fails") >= 2);
	assert_true(*(int64_t *)dlsym(native.library, "fail_value") == 2 || *(int64_t *)dlsym(native.library, "fail_value") == -1);
	assert_int_equal(*(int64_t *)dlsym(native.library, "fail_bound"), 2);
	assert_int_equal(scratch(&n), 128 + 4000);
	char *own = arena_alloc(a, 128 + 4000, 64);
	caller(NULL, (void *[]){x, out}, NULL, &n, own);
	assert_true(out[0] == -2 && out[1] == -4 && out[2] == -6 && out[3] == -8);
	assert_ptr_equal(*(char **)dlsym(native.library, "leaf_scratch_at"), own + 128);
	native_end(&native);
	arena_free(a);
}

static void test_targets(void **state)
{
	struct arena *a = arena_new(0);
	for (const char *const *name = target_cpu_names(); *name; name++)
		assert_non_null(target_find_cpu(a, *name));
	assert_true(target_runs_here(target_find_cpu(a, "native")));
	assert_null(target_find_cpu(a, "pentium"));
	assert_ptr_equal(target_find_cpu(a, "x86-64-v3"), target_get(TARGET_X86_64_V3));
	assert_int_equal(target_get(TARGET_X86_64_V3)->vector_bytes, 32);
	for (int i = 0; i < TARGET_COUNT; i++)
		for (int k = 0; k < i; k++)
			assert_false(hash_eq(target_hash(target_get((enum target_id)i)), target_hash(target_get((enum target_id)k))));
	assert_false(target_runs_here(target_get(TARGET_OPENCL)));
	arena_free(a);
}

int test_codegen(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_targets),          cmocka_unit_test(test_elementary),
					   cmocka_unit_test(test_empty_reductions), cmocka_unit_test(test_first_nan),
					   cmocka_unit_test(test_ends_of_integers), cmocka_unit_test(test_call_and_check),
					   cmocka_unit_test(test_random_functions)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
