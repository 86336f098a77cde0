#include "builder/reference.h"
#include <stdio.h>
#include <string.h>
#include "backend/interp.h"
#include "backend/lower.h"
#include "base/arena.h"
#include "base/diag.h"
#include "builder/build_state.h"
#include "builder/options.h"
#include "builder/run.h"
#include "frontend/core.h"

_Static_assert((int)DIM_PUSH_CONST == (int)TRI_DIM_CONST && (int)DIM_OP_MOD == (int)TRI_DIM_MOD, "the same programs");

static void describe_dim(struct arena *a, const struct dims *d, dim x, tri_dim_desc *out)
{
	uint32_t n = dim_program(d, x, NULL, 0);
	struct dim_step *from = ARENA_ARRAY(a, struct dim_step, n + 1);
	tri_dim_step *steps = ARENA_ARRAY(a, tri_dim_step, n + 1);
	dim_program(d, x, from, n);
	for (uint32_t i = 0; i < n; i++)
		steps[i] = (tri_dim_step){.op = (int32_t)from[i].op, .value = from[i].value};
	*out = (tri_dim_desc){.steps = steps, .n_steps = (int32_t)n};
}

static void describe_tensor(struct arena *a, const struct dims *d, const char *name, const struct core_type *t, tri_io_desc *out)
{
	*out = (tri_io_desc){.name = name, .dtype = (int32_t)t->elem, .rank = t->rank};
	for (uint32_t k = 0; k < t->rank; k++)
		describe_dim(a, d, t->dims[k], &out->dims[k]);
}

/* What the compiled library's descriptor would say of this entry. */
static tri_entry_desc describe_entry(struct arena *a, const struct core_entry *e)
{
	const struct core_unit *u = e->unit;
	tri_io_desc *in = ARENA_ARRAY(a, tri_io_desc, u->n_inputs + 1), *out = ARENA_ARRAY(a, tri_io_desc, u->n_outputs + 1);
	uint32_t n = dims_syms(u->dims);
	const char **names = ARENA_ARRAY(a, const char *, n + 1);
	tri_entry_desc d = {.name = e->name,
			    .inputs = in,
			    .outputs = out,
			    .n_outputs = (int32_t)u->n_outputs,
			    .dim_names = names,
			    .n_dims = (int32_t)n};
	for (uint32_t i = 0; i < n; i++)
		names[i] = dims_sym_name(u->dims, i);
	for (uint32_t i = 0; i < u->n_inputs; i++)
		if (e->params[i] == CORE_NONE)
			describe_tensor(a, u->dims, u->inputs[i].name, &u->inputs[i].type, &in[d.n_inputs++]);
	for (uint32_t i = 0; i < u->n_outputs; i++)
		describe_tensor(a, u->dims, u->outputs[i].name, &u->nodes[u->outputs[i].node].type, &out[i]);
	return d;
}

static void to_stderr(void *ctx, const char *text, size_t n)
{
	(void)ctx;
	fwrite(text, 1, n, stderr);
}

static bool interpret(struct arena *a, const struct model_job *m, const struct core_entry *e, struct run_io *io, const char **error)
{
	const struct core_unit *u = e->unit;
	struct tensor *in = ARENA_ARRAY(a, struct tensor, u->n_inputs + 1), *weights = ARENA_ARRAY(a, struct tensor, u->n_inputs + 1);
	struct tensor *out = ARENA_ARRAY(a, struct tensor, u->n_outputs + 1);
	uint32_t n_in = 0, n_weights = 0;
	struct diags *diags = diags_new(0);
	for (uint32_t i = 0; i < u->n_inputs; i++) {
		if (e->params[i] != CORE_NONE) {
			if (!build_load_param((void *)(uintptr_t)m, a, e->params[i], &weights[n_weights++], error))
				return false;
			continue;
		}
		const tri_tensor *t = &io->tensors[n_in];
		in[n_in] = (struct tensor){.elem = (dtype)t->dtype, .rank = (uint8_t)t->rank, .data = t->data};
		memcpy(in[n_in++].dims, t->shape, sizeof t->shape);
	}
	struct ir_fn *f = lower_unit(a, u, diags);
	struct interp_error failure = {.text = "it cannot be lowered", .at = SPAN_NONE};
	static const struct interp_sink sink = {to_stderr, NULL}; /* as compiled code does */
	bool ok = f && interp_program(f, in, weights, io->dims, &sink, a, out, &failure);
	*error = failure.text;
	if (!ok && failure.at.source != SPAN_NO_SOURCE)
		*error = arena_printf(a, "%s:%u: %s", sources_get(m->build->sources, failure.at.source)->path,
				      source_position(m->build->sources, failure.at.source, failure.at.start).line, failure.text);
	for (uint32_t i = 0; ok && i < u->n_outputs; i++)
		io->tensors[n_in + i].data = out[i].data;
	diags_free(diags);
	return ok;
}

static enum status complain(const char *text, enum status s)
{
	fprintf(stderr, "trib: %s\n", text);
	return s;
}

static enum status visit(struct build *b, void *ctx)
{
	(void)ctx;
	const struct model_job *m = &b->models[0];
	struct arena *a = b->session;
	struct buf why = {0};
	const char *error;
	const char **names = ARENA_ARRAY(a, const char *, m->program->n_entries + 1);
	for (uint32_t i = 0; i < m->program->n_entries; i++)
		names[i] = m->program->entries[i].name;
	int at = run_find_entry(a, names, m->program->n_entries, b->options->entry, &why);
	if (at < 0) {
		enum status usage = complain(why.at, STATUS_USAGE);
		buf_free(&why);
		return usage;
	}
	const struct core_entry *e = &m->program->entries[at];
	tri_entry_desc d = describe_entry(a, e);
	struct run_io io;
	enum status s = STATUS_OK;
	if (!run_check_names(a, &d, b->options, &why))
		s = complain(why.at, STATUS_USAGE);
	else if (!run_prepare(a, &d, b->options, &io, &why))
		s = complain(why.at, STATUS_FAILED);
	else if (!interpret(a, m, e, &io, &error))
		s = complain(arena_printf(a, "the interpreter failed: %s", error), STATUS_FAILED);
	else if (!run_publish(&io, b->options, &why))
		s = complain(why.at, STATUS_ENVIRONMENT);
	else
		run_print_outputs(&io);
	buf_free(&why);
	return s;
}

enum status reference_run(const struct options *o) { return build_visit(o, visit, NULL); }
