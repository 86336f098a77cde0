#include "builder/run/bench_check.h"
#include <math.h>
#include <string.h>
#include "backend/ir/tensor.h"
#include "base/arena.h"
#include "base/buf.h"
#include "builder/manifest/options.h"
#include "builder/run/run_input.h"
#include "builder/run/test_case.h"

#define MOST_DISTANCE 3 /* of results, in distances that rounding makes */

/* One run of the entry. */
struct side {
	bool changed; /* float inputs are changed by 1e-6 */
	const struct options *o;
	struct arena *arena;
	struct tensor *outputs;
	const char **names;
	int32_t n_outputs;
	struct buf *error;
};

static const char *const *made_inputs(const struct side *s, const tri_entry_desc *e)
{
	const char **inputs = ARENA_ARRAY(s->arena, const char *, e->n_inputs + 1);
	for (int32_t i = 0; i < e->n_inputs; i++) {
		const char *given = run_file_for(s->o->inputs, s->o->n_inputs, e->inputs[i].name);
		inputs[i] = arena_printf(s->arena, "%s=%s", e->inputs[i].name, given ? given : "random");
	}
	return inputs;
}

static void change_slightly(tri_tensor *t)
{
	int64_t n = 1;
	for (int32_t k = 0; k < t->rank; k++)
		n *= t->shape[k];
	for (int64_t i = 0; dtype_class((dtype)t->dtype) == DTC_FLOAT && i < n; i++)
		elem_put_float((dtype)t->dtype, t->data, i, elem_float((dtype)t->dtype, t->data, i) * (1 + (i % 2 ? 1e-6 : -1e-6)));
}

/* A run_visitor; the model lives shorter than the outputs. */
static enum status run_side(struct arena *a, const struct run_model *m, void *ctx)
{
	struct side *s = ctx;
	struct options with = *s->o;
	struct run_io io;
	int entry = run_find_entry(a, m, s->o->entry, s->error);
	if (entry < 0)
		return STATUS_USAGE;
	const tri_entry_desc *e = &m->entries[entry];
	with.inputs = made_inputs(s, e);
	with.n_inputs = (uint32_t)e->n_inputs;
	with.batch_size = 0;
	if (!run_prepare(s->arena, e, &with, &io, s->error))
		return STATUS_FAILED;
	for (int32_t i = 0; i < e->n_inputs && s->changed; i++)
		change_slightly(&io.tensors[i]);
	m->reset(m->ctx);
	enum status status = m->run(m->ctx, (uint32_t)entry, io.tensors, s->error);
	s->n_outputs = e->n_outputs;
	s->outputs = ARENA_ARRAY(s->arena, struct tensor, e->n_outputs + 1);
	s->names = ARENA_ARRAY(s->arena, const char *, e->n_outputs + 1);
	for (int32_t i = 0; i < e->n_outputs; i++) {
		const tri_tensor *t = &io.tensors[e->n_inputs + i];
		s->names[i] = arena_strdup(s->arena, e->outputs[i].name);
		s->outputs[i] = (struct tensor){.elem = (dtype)t->dtype, .rank = (uint8_t)t->rank, .data = t->data};
		memcpy(s->outputs[i].dims, t->shape, sizeof s->outputs[i].dims);
	}
	return status;
}

static bool compare_output(const struct side *got, const struct side *want, int32_t i, struct buf *report)
{
	struct comparison c;
	struct tolerance t = tolerance_of(got->outputs[i].elem, -1, -1);
	if (!compare_tensors(&got->outputs[i], &want->outputs[i], t, &c, report))
		return false;
	if (c.n_wrong == 0)
		return true;
	buf_printf(report, "output `%s` differs from the reference interpreter in %lld of %lld elements: element %lld is %g, not %g",
		   got->names[i], (long long)c.n_wrong, (long long)c.n, (long long)c.worst, c.got, c.want);
	return false;
}

/* Returns the distance of all float outputs of two runs: the square root of the sum of the squares of their differences. */
static double distance(const struct side *x, const struct side *y)
{
	double sum = 0;
	for (int32_t i = 0; i < x->n_outputs; i++) {
		const struct tensor *a = &x->outputs[i], *b = &y->outputs[i];
		int64_t n = dtype_class(a->elem) == DTC_FLOAT ? tensor_count(a) : 0;
		for (int64_t k = 0; k < n; k++) {
			double d = elem_float(a->elem, a->data, k) - elem_float(b->elem, b->data, k);
			sum += d * d;
		}
	}
	return sqrt(sum);
}

/* True if the results differ no more than those of the interpreter for an input that is changed by rounding errors: int8 activations between two steps may
 * round either way, which changes all that follows. */
static bool differs_by_rounding(const struct options *o, const struct side *compiled, const struct side *reference, enum status *s)
{
	struct buf error = {0};
	struct side changed = {.changed = true, .o = o, .arena = compiled->arena, .error = &error};
	*s = reference_visit(o, reference_interpret, run_side, &changed);
	buf_free(&error);
	return *s == STATUS_OK && distance(compiled, reference) <= MOST_DISTANCE * distance(&changed, reference);
}

enum status bench_check(struct arena *a, const struct options *o, const char *library, bool is_ternary, struct buf *report)
{
	struct buf difference = {0};
	struct side compiled = {.o = o, .arena = a, .error = report}, reference = compiled;
	enum status s = run_visit_library(a, library, NULL, o, run_side, &compiled);
	bool equal = true;
	if (s == STATUS_OK)
		s = reference_visit(o, reference_interpret, run_side, &reference);
	for (int32_t i = 0; s == STATUS_OK && equal && i < compiled.n_outputs; i++)
		equal = compare_output(&compiled, &reference, i, &difference);
	if (s == STATUS_OK && equal)
		buf_puts(report, "equal to the reference interpreter");
	else if (s == STATUS_OK && is_ternary && differs_by_rounding(o, &compiled, &reference, &s))
		buf_puts(report,
			 "differ from the reference interpreter by no more than rounding does: int8 activations may round either way");
	else if (s == STATUS_OK) {
		buf_puts(report, difference.at);
		s = STATUS_FAILED;
	}
	buf_free(&difference);
	return s;
}
