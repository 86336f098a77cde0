#include "backend/buildtime/buildtime.h"
#include "backend/buildtime/operations.h"
#include "backend/interp/interp.h"

bool buildtime_run(const struct ir_fn *f, const struct tensor *weights, const int64_t *syms, uint64_t seed, struct arena *out,
		   struct tensor *outputs, const char **error)
{
	static const struct interp_operations operations = {buildtime_ewise, buildtime_random};
	return interp_run_with(&operations, f, NULL, weights, syms, seed, out, outputs, error);
}
