#include "builder/run/bench_check.h"
#include <string.h>
#include "backend/ir/tensor.h"
#include "base/arena.h"
#include "base/buf.h"
#include "builder/build/model/unit_entries.h"
#include "builder/manifest/options.h"
#include "builder/run/results.h"
#include "builder/run/rounding.h"

/* ---- the inputs of the calls ---- */

struct trace {
	struct arena *arena;
	uint32_t entry;
	struct run_io io;
	struct unit_inputs *out;
	struct buf *error;
};

static hir_ref unit_check_argument(const struct hir_unit *u, const struct hir_node *call, uint32_t input)
{
	return u->args[call->args + input].u.tensor;
}

/* The unit with further outputs: the run-time arguments of its calls. */
static struct hir_unit with_arguments(struct arena *a, const struct hir_unit *u)
{
	struct hir_unit out = *u;
	out.outputs = ARENA_ARRAY(a, struct hir_output, u->n_outputs + u->n_args + 1);
	memcpy(out.outputs, u->outputs, u->n_outputs * sizeof *u->outputs);
	for (uint32_t k = 0; k < u->n_nodes; k++) {
		const struct hir_node *call = &u->nodes[k];
		for (uint32_t i = 0; unit_entries_has(u, call) && i < call->callee->n_inputs; i++)
			if (!call->callee->inputs[i].build_time)
				out.outputs[out.n_outputs++] =
					(struct hir_output){.name = "argument", .node = unit_check_argument(u, call, i)};
	}
	return out;
}

/* "layers.3.attention": of a call in the layer `path`. */
static const char *unit_check_path_of(struct arena *a, const char *path, const struct hir_node *call)
{
	const char *own = call->layer ? call->layer : "";
	return arena_printf(a, "%s%s%s", path, *path && *own ? "." : "", own);
}

/* Copies the arguments of a call. They outlive the model. */
static void unit_check_keep(struct trace *t, const char *path, const struct hir_unit *callee, const struct tensor *arguments, uint32_t n)
{
	struct unit_input *x = &t->out->calls[t->out->n++];
	x->name = arena_printf(t->arena, "%s%s%s", path, *path ? " " : "", callee->name);
	x->tensors = ARENA_ARRAY(t->arena, tri_tensor, n + 1);
	for (uint32_t i = 0; i < n; i++) {
		size_t bytes = (size_t)tensor_bytes(&arguments[i]);
		x->tensors[i] = (tri_tensor){.rank = arguments[i].rank, .dtype = (int32_t)arguments[i].elem};
		memcpy(x->tensors[i].shape, arguments[i].dims, sizeof arguments[i].dims);
		x->tensors[i].data = arena_alloc(t->arena, bytes + 1, 64);
		if (bytes)
			memcpy(x->tensors[i].data, arguments[i].data, bytes);
	}
}

static uint32_t count_arguments(const struct hir_unit *callee)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < callee->n_inputs; i++)
		n += !callee->inputs[i].build_time;
	return n;
}

/* The run of a callee, by that of its caller. */
static struct reference_call unit_check_call_of(struct arena *a, const struct reference_call *reference_call, const struct hir_node *call,
						const struct tensor *arguments)
{
	const struct hir_unit *u = reference_call->unit;
	uint32_t *weight_of = ARENA_ARRAY(a, uint32_t, u->n_inputs + 1), n = 0, syms = dims_syms(call->callee->dims);
	struct tensor *weights = ARENA_ARRAY(a, struct tensor, call->callee->n_inputs + 1);
	int64_t *dims = ARENA_ARRAY(a, int64_t, syms + 1);
	struct reference_call out = *reference_call;
	for (uint32_t i = 0; i < u->n_inputs; i++)
		weight_of[i] = u->inputs[i].build_time ? n++ : 0;
	out.n_weights = 0;
	for (uint32_t i = 0; i < call->callee->n_inputs; i++)
		if (call->callee->inputs[i].build_time)
			weights[out.n_weights++] = reference_call->weights[weight_of[u->nodes[unit_check_argument(u, call, i)].index]];
	for (uint32_t i = 0; i < syms; i++)
		dims[i] = dim_eval(u->dims, call->callee_syms[i], reference_call->dims);
	out.unit = call->callee;
	out.inputs = arguments;
	out.weights = weights;
	out.dims = dims;
	return out;
}

/* Runs a unit, and keeps the arguments of its calls, in the order of unit_entries_make. `out` gets its outputs. */
static bool execute_unit(const struct reference_call *reference_call, const char *path, struct arena *a, struct tensor *out,
			 struct buf *error)
{
	struct trace *t = reference_call->user;
	const struct hir_unit *u = reference_call->unit;
	struct hir_unit more = with_arguments(a, u);
	struct tensor *all = ARENA_ARRAY(a, struct tensor, more.n_outputs + 1), *next = all + u->n_outputs;
	struct reference_call traced = *reference_call;
	traced.unit = &more;
	if (!reference_interpret(&traced, a, all, error))
		return false;
	memcpy(out, all, u->n_outputs * sizeof *out);
	for (uint32_t k = 0; k < u->n_nodes && t->out->n < UNIT_ENTRIES_MOST; k++) {
		const struct hir_node *call = &u->nodes[k];
		if (!unit_entries_has(u, call))
			continue;
		uint32_t n = count_arguments(call->callee);
		struct reference_call inner = unit_check_call_of(a, reference_call, call, next);
		const char *its = unit_check_path_of(a, path, call);
		if (!unit_entries_expands(call->callee))
			unit_check_keep(t, its, call->callee, next, n);
		else if (!execute_unit(&inner, its, a, ARENA_ARRAY(a, struct tensor, call->callee->n_outputs + 1), error))
			return false;
		next += n;
	}
	return true;
}

/* A reference_execute. */
static bool unit_check_execute(const struct reference_call *call, struct arena *a, struct tensor *out, struct buf *error)
{
	struct trace *t = call->user;
	t->out->calls = ARENA_ARRAY(t->arena, struct unit_input, UNIT_ENTRIES_MOST);
	return execute_unit(call, "", a, out, error);
}

static enum status trace(struct arena *a, const struct run_model *m, void *ctx)
{
	struct trace *t = ctx;
	(void)a;
	m->reset(m->ctx);
	return m->run(m->ctx, t->entry, t->io.tensors, t->error);
}

enum status unit_check_trace(struct arena *a, const struct options *o, uint32_t entry, const struct run_io *io, struct unit_inputs *out,
			     struct buf *error)
{
	struct trace t = {a, entry, *io, out, error};
	*out = (struct unit_inputs){0};
	return reference_visit(o, unit_check_execute, trace, &t);
}

/* ---- their results ---- */

struct units {
	struct arena *arena;
	const struct options *o;
	const struct unit_inputs *calls;
	struct results *want; /* of each call; n < 0: it cannot be run alone */
	uint32_t compared;
	struct buf *error;
	struct buf *report;
};

/* Runs call `k` on its inputs. */
static bool run_call(const struct units *u, const struct run_model *m, uint32_t k, struct run_io *io)
{
	if (!run_prepare_tensors(u->arena, &m->entries[k], u->calls->calls[k].tensors, io, u->error))
		return false;
	m->reset(m->ctx);
	return m->run(m->ctx, k, io->tensors, u->error) == STATUS_OK;
}

static enum status interpret_all(struct arena *a, const struct run_model *m, void *ctx)
{
	struct units *u = ctx;
	(void)a;
	for (uint32_t k = 0; k < u->calls->n; k++) {
		struct run_io io;
		u->want[k].n = -1;
		if (m->n_entries == u->calls->n && run_call(u, m, k, &io))
			u->want[k] = results_take(u->arena, &m->entries[k], &io);
	}
	return STATUS_OK;
}

static bool call_agrees(struct units *u, const struct run_model *m, uint32_t k)
{
	struct run_io io;
	struct buf difference = {0};
	if (!run_call(u, m, k, &io)) {
		buf_printf(u->report, "unit `%s` fails: %s", u->calls->calls[k].name, u->error->at ? u->error->at : "");
		return false;
	}
	struct results got = results_take(u->arena, &m->entries[k], &io);
	bool equal = results_agree(&got, &u->want[k], &difference);
	if (!equal && (got.rounding = rounding_measure(u->arena, m, k, &io, u->o, u->error))) {
		buf_clear(&difference);
		equal = results_agree(&got, &u->want[k], &difference);
	}
	if (!equal)
		buf_printf(u->report, "unit `%s`, given the reference's inputs: %s", u->calls->calls[k].name, difference.at);
	buf_free(&difference);
	return equal;
}

static enum status compare_all(struct arena *a, const struct run_model *m, void *ctx)
{
	struct units *u = ctx;
	(void)a;
	for (uint32_t k = 0; k < u->calls->n && m->n_entries == u->calls->n; k++) {
		if (u->want[k].n < 0)
			continue;
		if (!call_agrees(u, m, k))
			return STATUS_FAILED;
		u->compared++;
	}
	return STATUS_OK;
}

enum status unit_check(struct arena *a, const struct options *o, const struct unit_inputs *calls, const char *library, struct buf *report)
{
	struct buf error = {0};
	struct units u = {.arena = a, .o = o, .calls = calls, .error = &error, .report = report};
	u.want = ARENA_ARRAY(a, struct results, calls->n + 1);
	enum status s = reference_visit(o, reference_interpret, interpret_all, &u);
	if (s == STATUS_OK)
		s = run_visit_library(a, library, NULL, o, compare_all, &u);
	if (s == STATUS_OK)
		buf_printf(report, "%u of its %u units agree with it when each gets the reference's inputs", u.compared, calls->n);
	buf_free(&error);
	return s;
}
