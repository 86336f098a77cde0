/* The code generator against the reference interpreter: random functions over all operations, every vector width and optimisation level. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "backend/interp.h"
#include "backend/loops.h"
#include "backend/runtime/unit.h"
#include "backend/target.h"
#include "backend/tensor.h"
#include "codegen_native.h"
#include "codegen_random.h"

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

static struct tensor make_tensor(struct random_fn *r, const struct core_type *t)
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
		bool same = is_float(w->elem) ? same_float(elem_float(w->elem, got, k), elem_float(w->elem, w->data, k), exact, w->elem, exact ? 0 : scale)
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
	struct loop_fn *loops = loops_build(t->r.a, &t->r.plan);
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
		struct target target;
		t->symbol[k] = arena_printf(t->r.a, "%s_%u", t->r.f->name, k);
		if (!target_resolve(variants[k].cpu, &target) || !target_runs_here(&target))
			continue;
		struct codegen_target ct = {target.cpu, target.features, target.vector_bytes, variants[k].opt, false};
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
	(void)state;
	uint64_t first = number_from("TRIB_SEED", 1), count = number_from("TRIB_COUNT", 60);
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

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_functions)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
