#include "builder/run/bench_check.h"
#include "base/arena.h"
#include "base/buf.h"
#include "builder/manifest/options.h"
#include "builder/run/results.h"
#include "builder/run/rounding.h"
#include "builder/run/run_input.h"

/* One run of the entry. */
struct side {
	struct options options; /* with its inputs */
	struct arena *arena;
	uint32_t entry;
	struct run_io io; /* its entry lives as long as the model */
	struct results results;
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
	s->options.run.batch_size = 0;
	if (!run_prepare(s->arena, e, &s->options, &s->io, s->error))
		return STATUS_FAILED;
	m->reset(m->ctx);
	enum status status = m->run(m->ctx, s->entry, s->io.tensors, s->error);
	s->results = results_take(s->arena, e, &s->io);
	return status;
}

/* Finds what rounding changes in a model that has run. A run_visitor. */
static enum status measure_rounding(struct arena *a, const struct run_model *m, void *ctx)
{
	struct side *s = ctx;
	(void)a;
	s->io.entry = &m->entries[s->entry];
	s->results.rounding = rounding_measure(s->arena, m, s->entry, &s->io, &s->options, s->error);
	return s->results.rounding ? STATUS_OK : STATUS_FAILED;
}

static enum status compare_units(struct side *got, const struct side *want, bench_build *build, void *ctx, struct buf *report)
{
	struct unit_inputs calls;
	struct options of_units = got->options;
	enum status s = unit_check_trace(got->arena, &want->options, want->entry, &want->io, &calls, report);
	if (s != STATUS_OK || !calls.n)
		return s;
	of_units.unit_entries = want->entry + 1;
	const char *library = build(ctx, of_units.unit_entries, &s);
	buf_puts(report, "; ");
	return library ? unit_check(got->arena, &of_units, &calls, library, report) : s;
}

/* A difference may be rounding that the network amplifies. */
static enum status compare_closely(struct side *got, const struct side *want, const char *library, bench_build *build, void *ctx,
				   struct buf *report)
{
	enum status s = run_visit_library(got->arena, library, NULL, &got->options, measure_rounding, got);
	if (s != STATUS_OK)
		return s;
	bool equal = results_agree(&got->results, &want->results, report);
	if (equal)
		buf_puts(report, "differ from the reference interpreter by no more than rounding does: floats that change by 2^-20 change");
	for (int32_t i = 0; equal && i < got->results.n; i++)
		if (got->results.rounding[i] > 0)
			buf_printf(report, " `%s` by %.2g", got->results.names[i], got->results.rounding[i]);
	s = compare_units(got, want, build, ctx, report);
	return equal ? s : STATUS_FAILED;
}

enum status bench_check(struct arena *a, const struct options *o, const char *library, bench_build *build, void *ctx, struct buf *report)
{
	struct buf difference = {0};
	struct side compiled = {.options = *o, .arena = a, .error = report}, reference = compiled;
	enum status s = run_visit_library(a, library, NULL, o, run_side, &compiled);
	if (s == STATUS_OK)
		s = reference_visit(o, reference_interpret, run_side, &reference);
	if (s == STATUS_OK && results_agree(&compiled.results, &reference.results, &difference))
		buf_puts(report, "equal to the reference interpreter");
	else if (s == STATUS_OK)
		s = compare_closely(&compiled, &reference, library, build, ctx, report);
	buf_free(&difference);
	return s;
}
