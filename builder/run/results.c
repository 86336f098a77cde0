#include "builder/run/results.h"
#include <string.h>
#include "backend/ir/tensor.h"
#include "base/arena.h"
#include "base/buf.h"
#include "builder/run/rounding.h"

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
