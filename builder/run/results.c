#include "builder/run/results.h"
#include <math.h>
#include <string.h>
#include "backend/ir/tensor.h"
#include "base/arena.h"
#include "base/buf.h"
#include "builder/run/rounding.h"

struct tolerance tolerance_of(dtype t, double rtol, double atol)
{
	static const struct tolerance by_type[DT_COUNT] = {[DT_FLOAT16] = {1e-2, 1e-3, 0},
							   [DT_BFLOAT16] = {2e-2, 1e-2, 0},
							   [DT_FLOAT32] = {1e-4, 1e-5, 0},
							   [DT_FLOAT64] = {1e-7, 1e-9, 0}};
	struct tolerance out = by_type[t];
	if (rtol >= 0)
		out.rtol = rtol;
	if (atol >= 0)
		out.atol = atol;
	return out;
}

static bool results_is_float(const struct tensor *t) { return dtype_class(t->elem) == DTC_FLOAT; }

static double results_number(const struct tensor *t, int64_t i)
{
	if (results_is_float(t))
		return elem_float(t->elem, t->data, i);
	return t->elem == DT_BOOL ? (double)(((const int8_t *)t->data)[i] != 0) : (double)elem_int(t->elem, t->data, i);
}

/* The difference relative to the tolerance: at most 1 is within it. */
static double excess(double got, double want, struct tolerance t)
{
	if (got == want || (isnan(got) && isnan(want)))
		return 0;
	double off = fabs(got - want), allowed = t.atol + t.rounding + t.rtol * fabs(want);
	return isfinite(off) && isfinite(allowed) && allowed > 0 ? off / allowed : INFINITY;
}

/* Integers are compared exactly, because a double does not hold every int64. */
static double excess_at(const struct tensor *got, const struct tensor *want, int64_t i, struct tolerance t)
{
	bool exact = !results_is_float(got) && got->elem != DT_BOOL && want->elem != DT_BOOL;
	if (exact && elem_int(got->elem, got->data, i) == elem_int(want->elem, want->data, i))
		return 0;
	double off = excess(results_number(got, i), results_number(want, i), t);
	return exact && off == 0 ? INFINITY : off;
}

static void results_put_type(struct buf *b, const struct tensor *t)
{
	buf_printf(b, "%s [", dtype_text(t->elem));
	for (uint32_t k = 0; k < t->rank; k++)
		buf_printf(b, "%s%lld", k ? ", " : "", (long long)t->dims[k]);
	buf_putc(b, ']');
}

bool compare_tensors(const struct tensor *got, const struct tensor *want, struct tolerance t, struct comparison *out, struct buf *error)
{
	double worst = 1;
	*out = (struct comparison){.worst = -1};
	if (got->rank != want->rank || memcmp(got->dims, want->dims, got->rank * sizeof *got->dims) != 0 ||
	    results_is_float(got) != results_is_float(want)) {
		buf_puts(error, "is ");
		results_put_type(error, got);
		buf_puts(error, ", want ");
		results_put_type(error, want);
		return false;
	}
	out->n = tensor_count(got);
	for (int64_t i = 0; i < out->n; i++) {
		double off = excess_at(got, want, i, t);
		if (off <= 1)
			continue;
		out->n_wrong++;
		if (out->worst >= 0 && off <= worst)
			continue;
		worst = off;
		out->worst = i;
		out->got = results_number(got, i);
		out->want = results_number(want, i);
	}
	return true;
}

struct tensor results_tensor(const tri_tensor *t)
{
	struct tensor out = {.elem = (dtype)t->dtype, .rank = (uint8_t)t->rank, .data = t->data};
	memcpy(out.dims, t->shape, sizeof out.dims);
	return out;
}

struct results results_take(struct arena *a, const tri_entry_desc *e, const struct run_io *io)
{
	struct results r = {.n = e->n_outputs,
			    .outputs = ARENA_ARRAY(a, struct tensor, e->n_outputs + 1),
			    .names = ARENA_ARRAY(a, const char *, e->n_outputs + 1)};
	for (int32_t i = 0; i < e->n_outputs; i++) {
		r.outputs[i] = results_tensor(&io->tensors[e->n_inputs + i]);
		r.names[i] = arena_strdup(a, e->outputs[i].name);
	}
	return r;
}

bool results_agree(const struct results *got, const struct results *want, struct buf *report)
{
	for (int32_t i = 0; i < got->n; i++) {
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
