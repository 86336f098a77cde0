#include "builder/run/rounding.h"
#include <float.h>
#include <math.h>
#include "backend/ir/tensor.h"
#include "base/arena.h"
#include "base/hash.h"
#include "builder/manifest/options.h"
#include "builder/run/results.h"
#include "frontend/hir/hir.h"

#define CHANGE 0x1p-20
#define FACTOR 4
enum { CHANGED_INPUTS = 8, CHANGED_PARAMETERS = 4, MOST_RUNS = 1 + CHANGED_INPUTS }; /* the interpreter is slow */

static bool rounding_is_float(int32_t type) { return dtype_class((dtype)type) == DTC_FLOAT; }

/* The relative distance of neighbours. */
static double last_bit(dtype t) { return t == DT_BFLOAT16 ? 0x1p-7 : t == DT_FLOAT16 ? 0x1p-10 : 0; }

/* A copy with changed elements. */
static void *rounding_change(struct arena *a, const struct tensor *t, uint64_t run)
{
	int64_t n = tensor_count(t);
	double by = fmax(CHANGE, last_bit(t->elem));
	void *data = arena_alloc(a, (size_t)tensor_bytes(t) + 1, 64);
	for (int64_t i = 0; i < n; i++) {
		uint64_t key[2] = {run, (uint64_t)i};
		double sign = hash64_bytes(key, sizeof key) & 1 ? 1 : -1;
		elem_put_float(t->elem, data, i, elem_float(t->elem, t->data, i) * (1 + sign * by));
	}
	return data;
}

/* ---- runs: each has inputs of its own and outputs of its own ---- */

static tri_tensor *copy_tensors(struct arena *a, const struct run_io *io, uint64_t run, bool changed)
{
	const tri_entry_desc *e = io->entry;
	tri_tensor *out = ARENA_ARRAY(a, tri_tensor, e->n_inputs + e->n_outputs + 1);
	for (int32_t i = 0; i < e->n_inputs + e->n_outputs; i++) {
		struct tensor t = results_tensor(&io->tensors[i]);
		out[i] = io->tensors[i];
		if (i >= e->n_inputs)
			out[i].data = arena_alloc(a, (size_t)tensor_bytes(&t) + 1, 64);
		else if (changed && rounding_is_float(out[i].dtype))
			out[i].data = rounding_change(a, &t, run);
	}
	return out;
}

static enum status run_again(struct arena *a, const struct run_model *m, uint32_t entry, const struct run_io *io, const struct options *o,
			     struct buf *error)
{
	m->reset(m->ctx);
	return run_execute(a, m, entry, io, &o->run, error);
}

static bool run_changed_inputs(struct arena *a, const struct run_model *m, uint32_t entry, const struct run_io *io, const struct options *o,
			       tri_tensor **runs, struct buf *error)
{
	runs[0] = io->tensors;
	for (uint64_t k = 1; k <= CHANGED_INPUTS; k++) {
		struct run_io other = *io;
		other.tensors = runs[k] = copy_tensors(a, io, k, true);
		if (run_again(a, m, entry, &other, o, error) != STATUS_OK)
			return false;
	}
	return true;
}

/* ---- changed parameters ---- */

static bool has_vector(const struct reference_call *call)
{
	for (uint32_t i = 0; i < call->n_weights; i++)
		if (call->weights[i].rank == 1 && rounding_is_float((int32_t)call->weights[i].elem))
			return true;
	return false;
}

/* Runs on a model that is opened once for all. */
struct visit {
	uint32_t entry;
	const struct run_io *io;
	const struct options *o;
	tri_tensor **runs;
	uint64_t run; /* the present one; 0: nothing is changed */
	struct buf *error;
};

static bool interpret_changed(const struct reference_call *call, struct arena *a, struct tensor *out, struct buf *error)
{
	const struct visit *v = call->user;
	struct tensor *weights = ARENA_ARRAY(a, struct tensor, call->n_weights + 1);
	bool vectors = has_vector(call);
	for (uint32_t i = 0; i < call->n_weights; i++) {
		weights[i] = call->weights[i];
		if (v->run && rounding_is_float((int32_t)weights[i].elem) && (weights[i].rank == 1 || !vectors))
			weights[i].data = rounding_change(a, &weights[i], v->run << 32 | i);
	}
	struct reference_call changed = *call;
	changed.weights = weights;
	return reference_interpret(&changed, a, out, error);
}

static enum status rounding_visit(struct arena *a, const struct run_model *m, void *ctx)
{
	struct visit *v = ctx;
	struct run_io io = *v->io;
	enum status s = STATUS_OK;
	io.entry = &m->entries[v->entry];
	for (v->run = 0; v->run <= CHANGED_PARAMETERS && s == STATUS_OK; v->run++) {
		io.tensors = v->runs[v->run];
		s = run_again(a, m, v->entry, &io, v->o, v->error);
	}
	return s;
}

static bool run_changed_parameters(struct arena *a, uint32_t entry, const struct run_io *io, const struct options *o, tri_tensor **runs,
				   struct buf *error)
{
	struct visit v = {.entry = entry, .io = io, .o = o, .runs = runs, .error = error};
	for (uint64_t k = 0; k <= CHANGED_PARAMETERS; k++)
		runs[k] = copy_tensors(a, io, k, false);
	return reference_visit(o, interpret_changed, rounding_visit, &v) == STATUS_OK;
}

/* ---- differences ---- */

static double largest_difference(const tri_tensor *x, const tri_tensor *y)
{
	struct tensor a = results_tensor(x), b = results_tensor(y);
	double most = 0;
	for (int64_t i = 0, n = tensor_count(&a); i < n; i++) {
		double d = fabs(elem_float(a.elem, a.data, i) - elem_float(b.elem, b.data, i));
		most = isfinite(d) && d > most ? d : most;
	}
	return most;
}

double *rounding_measure(struct arena *a, const struct run_model *m, uint32_t entry, const struct run_io *io, const struct options *o,
			 struct buf *error)
{
	const tri_entry_desc *e = io->entry;
	double *out = ARENA_ARRAY(a, double, e->n_outputs + 1);
	tri_tensor *runs[MOST_RUNS];
	bool floats = false;
	for (int32_t i = 0; i < e->n_inputs; i++)
		floats |= rounding_is_float(io->tensors[i].dtype);
	int n = 1 + (floats ? CHANGED_INPUTS : CHANGED_PARAMETERS);
	if (!(floats ? run_changed_inputs(a, m, entry, io, o, runs, error) : run_changed_parameters(a, entry, io, o, runs, error)))
		return NULL;
	for (int32_t i = 0; i < e->n_outputs; i++)
		for (int k = 1; k < n && rounding_is_float(e->outputs[i].dtype); k++)
			for (int l = 0; l < k; l++)
				out[i] = fmax(out[i], largest_difference(&runs[k][e->n_inputs + i], &runs[l][e->n_inputs + i]));
	return out;
}

struct tolerance rounding_widen(struct tolerance t, double difference, const struct tensor *want)
{
	double most = 0;
	for (int64_t i = 0, n = rounding_is_float((int32_t)want->elem) ? tensor_count(want) : 0; i < n; i++) {
		double v = fabs(elem_float(want->elem, want->data, i));
		most = isfinite(v) && v > most ? v : most;
	}
	t.rounding = fmin(FACTOR * difference, most / 2);
	return t;
}
