#include "builder/run/bench_check.h"
#include <string.h>
#include "backend/ir/tensor.h"
#include "base/arena.h"
#include "base/buf.h"
#include "builder/manifest/options.h"
#include "builder/run/run_input.h"
#include "builder/run/test_case.h"

/* One run of the entry. */
struct side {
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

enum status bench_check(struct arena *a, const struct options *o, const char *library, struct buf *report)
{
	struct side compiled = {.o = o, .arena = a, .error = report}, reference = compiled;
	enum status s = run_visit_library(a, library, NULL, o, run_side, &compiled);
	if (s == STATUS_OK)
		s = reference_visit(o, reference_interpret, run_side, &reference);
	for (int32_t i = 0; s == STATUS_OK && i < compiled.n_outputs; i++)
		if (!compare_output(&compiled, &reference, i, report))
			s = STATUS_FAILED;
	if (s == STATUS_OK)
		buf_puts(report, "equal to the reference interpreter");
	return s;
}
