#include <stdio.h>
#include <string.h>
#include "backend/interp/interp.h"
#include "backend/lower/lower.h"
#include "backend/runtime/dims.h"
#include "backend/runtime/states.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/os.h"
#include "base/print.h"
#include "builder/build/load.h"
#include "builder/build/model/model.h"
#include "builder/build/session/context.h"
#include "builder/build/session/status.h"
#include "builder/build/sources/params.h"
#include "builder/manifest/options.h"
#include "builder/run/results.h"
#include "frontend/hir/hir.h"

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

static void describe_tensor(struct arena *a, const struct dims *d, const char *name, const struct hir_type *t, tri_io_desc *out)
{
	*out = (tri_io_desc){.name = name, .dtype = (int32_t)t->elem, .rank = t->rank};
	for (uint32_t k = 0; k < t->rank; k++)
		describe_dim(a, d, t->dims[k], &out->dims[k]);
}

/* The same as the compiled library's descriptor has for this entry. */
static tri_entry_desc describe_entry(struct arena *a, const struct hir_entry *entry)
{
	const struct hir_unit *u = entry->unit;
	tri_io_desc *in = ARENA_ARRAY(a, tri_io_desc, u->n_inputs + 1), *out = ARENA_ARRAY(a, tri_io_desc, u->n_outputs + 1);
	uint32_t n = dims_syms(u->dims);
	const char **names = ARENA_ARRAY(a, const char *, n + 1);
	tri_entry_desc d = {.name = entry->name,
			    .inputs = in,
			    .outputs = out,
			    .n_outputs = (int32_t)(u->n_outputs - entry->n_states_out),
			    .dim_names = names,
			    .n_dims = (int32_t)n,
			    .states_in = entry->states_in,
			    .states_out = entry->states_out,
			    .n_states_in = (int32_t)entry->n_states_in,
			    .n_states_out = (int32_t)entry->n_states_out};
	for (uint32_t i = 0; i < n; i++)
		names[i] = dims_sym_name(u->dims, i);
	for (uint32_t i = 0; i < u->n_inputs; i++)
		if (entry->params[i] == HIR_NONE)
			describe_tensor(a, u->dims, u->inputs[i].name, &u->inputs[i].type, &in[d.n_inputs++]);
	d.n_inputs -= d.n_states_in;
	for (uint32_t i = 0; i < u->n_outputs; i++)
		describe_tensor(a, u->dims, u->outputs[i].name, hir_output_type(u, i), &out[i]);
	return d;
}

static void to_stderr(void *ctx, const char *text, size_t n)
{
	(void)ctx;
	print_bytes(stderr, text, n);
}

struct interpreted {
	struct build_context *context;
	struct model_job *job;
	tri_entry_desc *entries;
	struct tri_states *states; /* NULL: none */
	reference_execute *execute;
	void *user;
};

/* With the place in the source. */
static void put_failure(const struct sources *sources, const struct interp_error *interp_error, struct buf *error)
{
	buf_puts(error, "the interpreter failed: ");
	if (interp_error->at.source != SPAN_NO_SOURCE)
		buf_printf(error, "%s:%u: ", sources_get(sources, interp_error->at.source)->path,
			   source_position(sources, interp_error->at.source, interp_error->at.start).line);
	buf_puts(error, interp_error->text);
}

bool reference_interpret(const struct reference_call *call, struct arena *a, struct tensor *out, struct buf *error)
{
	static const struct interp_sink sink = {to_stderr, NULL}; /* like compiled code */
	struct interp_error failure = {.text = "it cannot be lowered", .at = SPAN_NONE};
	struct diags *diags = diags_new(0);
	struct ir_fn *f = lower_unit(a, call->unit, diags);
	bool ok = f && interp_program(f, call->inputs, call->weights, call->dims, call->no_print ? NULL : &sink, a, out, &failure);
	if (!ok)
		put_failure(call->sources, &failure, error);
	diags_free(diags);
	return ok;
}

/* The inputs and parameters of the entry, in the order of the interpreter. */
static bool reference_bind(const struct interpreted *m, const struct hir_entry *entry, const tri_tensor *io, struct tensor *in,
			   struct tensor *weights, uint32_t *n_weights, struct buf *error)
{
	struct arena *a = m->context->arena;
	uint32_t n_in = 0;
	*n_weights = 0;
	const char *why;
	for (uint32_t i = 0; i < entry->unit->n_inputs; i++) {
		if (entry->params[i] != HIR_NONE) {
			if (params_load(&m->context->stores, m->job, a, entry->params[i], &weights[(*n_weights)++], &why))
				continue;
			buf_printf(error, "the interpreter failed: %s", why);
			return false;
		}
		in[n_in] = results_tensor(&io[n_in]);
		n_in++;
	}
	return true;
}

/* Copies the outputs to where `io` has them. */
static void copy_outputs(const tri_entry_desc *d, const struct tensor *out, const tri_tensor *io)
{
	for (int32_t i = 0; i < d->n_outputs + d->n_states_out; i++)
		if (tensor_bytes(&out[i]))
			memcpy(io[d->n_inputs + d->n_states_in + i].data, out[i].data, (size_t)tensor_bytes(&out[i]));
}

static enum status reference_run(void *ctx, uint32_t entry, tri_tensor *io, struct buf *error)
{
	const struct interpreted *m = ctx;
	const tri_entry_desc *d = &m->entries[entry];
	const struct hir_entry *e = &m->job->program->entries[entry];
	const struct hir_unit *u = e->unit;
	struct arena *a = m->context->arena;
	struct tensor *in = ARENA_ARRAY(a, struct tensor, u->n_inputs + 1), *weights = ARENA_ARRAY(a, struct tensor, u->n_inputs + 1);
	struct tensor *out = ARENA_ARRAY(a, struct tensor, u->n_outputs + 1);
	int64_t *dims = ARENA_ARRAY(a, int64_t, d->n_dims + 1);
	const tri_tensor *all;
	tri_error why = {0};
	if (tri_states_begin(m->states, d, io, dims, &all, &why) != TRI_OK) {
		buf_printf(error, "the model failed: %s", why.message);
		return STATUS_FAILED;
	}
	uint32_t n_weights;
	if (!reference_bind(m, e, all, in, weights, &n_weights, error))
		return STATUS_FAILED;
	os_end_at_interrupt(RUN_INTERRUPTED);
	bool ok = m->execute(&(struct reference_call){m->job, m->context->sources, u, in, weights, n_weights, dims,
						      m->context->request.options->run.no_print, m->user},
			     a, out, error);
	os_end_at_interrupt(NULL);
	if (!ok)
		return STATUS_FAILED;
	copy_outputs(d, out, all);
	tri_states_commit(m->states, d);
	return STATUS_OK;
}

/* The states and capacities as the compiled library's descriptor has them. */
static tri_model_desc reference_describe_states(struct arena *a, const struct interpreted *m)
{
	const struct hir_program *p = m->job->program;
	tri_state_desc *states = ARENA_ARRAY(a, tri_state_desc, p->n_states + 1);
	tri_capacity *capacities = ARENA_ARRAY(a, tri_capacity, p->n_capacities + 1);
	for (uint32_t i = 0; i < p->n_states; i++) {
		const struct hir_state *s = &p->states[i];
		const struct tensor *t = &m->job->params.initial_states[i];
		states[i] = (tri_state_desc){.name = s->name,
					     .dtype = (int32_t)t->elem,
					     .rank = t->rank,
					     .axis = (int32_t)s->axis,
					     .capacity = (int32_t)s->capacity,
					     .initial = t->data};
		memcpy(states[i].shape, t->dims, t->rank * sizeof *t->dims);
	}
	for (uint32_t i = 0; i < p->n_capacities; i++)
		capacities[i] = (tri_capacity){p->capacities[i].name, m->job->params.capacities[i]};
	return (tri_model_desc){.entries = m->entries,
				.n_entries = p->n_entries,
				.states = states,
				.n_states = p->n_states,
				.capacities = capacities,
				.n_capacities = p->n_capacities};
}

static void reference_reset(void *ctx) { tri_states_reset(((const struct interpreted *)ctx)->states, NULL); }

static enum status visit_model(struct loaded_project *project, reference_execute *execute, run_visitor *visit, void *ctx)
{
	struct arena *a = project->context.arena;
	struct interpreted m = {.context = &project->context, .job = &project->project.models[0], .execute = execute, .user = ctx};
	const struct hir_program *p = m.job->program;
	m.entries = ARENA_ARRAY(a, tri_entry_desc, p->n_entries + 1);
	for (uint32_t i = 0; i < p->n_entries; i++)
		m.entries[i] = describe_entry(a, &p->entries[i]);
	tri_model_desc desc = reference_describe_states(a, &m);
	tri_error error = {0};
	if (tri_states_open(&desc, NULL, NULL, &m.states, &error) != TRI_OK) {
		print(stderr, "trib: the model failed: %s\n", error.message);
		return STATUS_FAILED;
	}
	enum status s = visit(a, &(struct run_model){m.job->spec->name, m.entries, p->n_entries, reference_run, reference_reset, &m}, ctx);
	tri_states_close(m.states);
	return s;
}

enum status reference_visit(const struct options *o, reference_execute *execute, run_visitor *visit, void *ctx)
{
	struct loaded_project l;
	enum status s = project_load(&l, o, LOAD_BOUND);
	if (s == STATUS_OK)
		s = visit_model(&l, execute, visit, ctx);
	return project_unload(&l, s);
}
