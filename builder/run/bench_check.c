#include "builder/run/bench_check.h"
#include <string.h>
#include "backend/ir/tensor.h"
#include "base/arena.h"
#include "base/buf.h"
#include "builder/manifest/options.h"
#include "builder/run/rounding.h"
#include "builder/run/run_input.h"

/* One run of the entry. */
struct side {
	struct options options; /* with its inputs */
	struct arena *arena;
	uint32_t entry;
	struct run_io io; /* its entry lives as long as the model */
	struct tensor *outputs;
	const char **names;
	int32_t n_outputs;
	double *rounding; /* of each output; NULL: not measured */
	struct buf *error;
};

static const char *const *made_inputs(const struct side *s, const tri_entry_desc *e)
{
	const struct options *o = &s->options;
	const char **inputs = ARENA_ARRAY(s->arena, const char *, e->n_inputs + 1);
	for (int32_t i = 0; i < e->n_inputs; i++) {
		const char *given = run_file_for(o->inputs, o->n_inputs, e->inputs[i].name);
		inputs[i] = arena_printf(s->arena, "%s=%s", e->inputs[i].name, given ? given : "random");
	}
	return inputs;
}

static void set_outputs(struct side *s, const tri_entry_desc *e)
{
	s->n_outputs = e->n_outputs;
	s->outputs = ARENA_ARRAY(s->arena, struct tensor, e->n_outputs + 1);
	s->names = ARENA_ARRAY(s->arena, const char *, e->n_outputs + 1);
	for (int32_t i = 0; i < e->n_outputs; i++) {
		const tri_tensor *t = &s->io.tensors[e->n_inputs + i];
		s->names[i] = arena_strdup(s->arena, e->outputs[i].name);
		s->outputs[i] = (struct tensor){.elem = (dtype)t->dtype, .rank = (uint8_t)t->rank, .data = t->data};
		memcpy(s->outputs[i].dims, t->shape, sizeof s->outputs[i].dims);
	}
}

/* A run_visitor; the model lives shorter than the outputs. */
static enum status run_side(struct arena *a, const struct run_model *m, void *ctx)
{
	struct side *s = ctx;
	int entry = run_find_entry(a, m, s->options.entry, s->error);
	if (entry < 0)
		return STATUS_USAGE;
	const tri_entry_desc *e = &m->entries[entry];
	s->entry = (uint32_t)entry;
	s->options.inputs = made_inputs(s, e);
	s->options.n_inputs = (uint32_t)e->n_inputs;
	s->options.batch_size = 0;
	if (!run_prepare(s->arena, e, &s->options, &s->io, s->error))
		return STATUS_FAILED;
	m->reset(m->ctx);
	enum status status = m->run(m->ctx, s->entry, s->io.tensors, s->error);
	set_outputs(s, e);
	return status;
}

/* Finds what rounding changes in a model that has run. A run_visitor. */
static enum status measure_rounding(struct arena *a, const struct run_model *m, void *ctx)
{
	struct side *s = ctx;
	(void)a;
	s->io.entry = &m->entries[s->entry];
	s->rounding = rounding_measure(s->arena, m, s->entry, &s->io, &s->options, s->error);
	return s->rounding ? STATUS_OK : STATUS_FAILED;
}

/* True if all outputs are within the tolerance. *report: the largest difference of the first one that is not. */
static bool compare_sides(const struct side *got, const struct side *want, struct buf *report)
{
	for (int32_t i = 0; i < got->n_outputs; i++) {
		struct comparison c;
		struct tolerance t = tolerance_of(got->outputs[i].elem, -1, -1);
		if (got->rounding)
			t = rounding_widen(t, got->rounding[i], &want->outputs[i]);
		if (!compare_tensors(&got->outputs[i], &want->outputs[i], t, &c, report))
			return false;
		if (c.n_wrong == 0)
			continue;
		buf_printf(report,
			   "output `%s` differs from the reference interpreter in %lld of %lld elements: element %lld is %g, not %g",
			   got->names[i], (long long)c.n_wrong, (long long)c.n, (long long)c.worst, c.got, c.want);
		if (t.rounding > 0)
			buf_printf(report, " (rtol %g, atol %g, rounding %.3g)", t.rtol, t.atol, t.rounding);
		return false;
	}
	return true;
}

/* Compares again, with a tolerance that is widened by what rounding changes. */
static enum status compare_widened(struct side *got, const struct side *want, const char *library, struct buf *report)
{
	struct options opened = got->options;
	enum status s = run_visit_library(got->arena, library, NULL, &opened, measure_rounding, got);
	if (s != STATUS_OK)
		return s;
	if (!compare_sides(got, want, report))
		return STATUS_FAILED;
	buf_puts(report, "differ from the reference interpreter by no more than rounding does: floats that change by 2^-20 change");
	for (int32_t i = 0; i < got->n_outputs; i++)
		if (got->rounding[i] > 0)
			buf_printf(report, " `%s` by %.2g", got->names[i], got->rounding[i]);
	return STATUS_OK;
}

enum status bench_check(struct arena *a, const struct options *o, const char *library, struct buf *report)
{
	struct buf difference = {0};
	struct side compiled = {.options = *o, .arena = a, .error = report}, reference = compiled;
	enum status s = run_visit_library(a, library, NULL, o, run_side, &compiled);
	if (s == STATUS_OK)
		s = reference_visit(o, reference_interpret, run_side, &reference);
	if (s == STATUS_OK && compare_sides(&compiled, &reference, &difference))
		buf_puts(report, "equal to the reference interpreter");
	else if (s == STATUS_OK)
		s = compare_widened(&compiled, &reference, library, report);
	buf_free(&difference);
	return s;
}
