/* Sums what the statements of an opened model cost: libraries that were built with `profile = true`. Others have no code of it, because
 * they reach it only through tri_model_desc.profiling. */
#ifndef TRI_COLLECT_H
#define TRI_COLLECT_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/runtime/model.h"

struct tri_collector;
struct tri_profile_clock;
struct tri_profiling {
	/* NULL: out of memory. Events go on to opt->profile. */
	struct tri_collector *(*open)(const tri_model_desc *desc, const tri_options *opt);
	void (*close)(struct tri_collector *c);
	void (*event)(void *collector, const tri_profile_event *event); /* a tri_options.profile */
	/* Tensors were copied to an OpenCL device, or from it. */
	void (*transfer)(struct tri_collector *c, bool to_device, int64_t ns, uint64_t bytes);
	void (*begin_run)(struct tri_collector *c);
	/* memory: of the intermediate tensors. clock: what timed it; NULL: the device measured it. After a run that failed, statements whose callers did not
	 * end are dropped. */
	void (*end_run)(struct tri_collector *c, bool ok, uint64_t memory, const struct tri_profile_clock *clock);
	const tri_profile *(*result)(struct tri_collector *c, uint32_t threads); /* NULL: out of memory */
	void (*reset)(struct tri_collector *c);
};
extern const struct tri_profiling tri_profiling;
/* NULL: the model was built without `profile = true`, or the options switch it off. */
static inline const struct tri_profiling *tri_wanted_profiling(const tri_model_desc *desc, const tri_options *opt)
{
	return TRI_OPTION(opt, no_profile) ? NULL : desc->profiling;
}
#define TRI_NO_PROFILE "this model measures nothing: build it with `profile = true`, and open it without `no_profile`"

/* What NAME_profile and NAME_profile_reset do, on an opened model that nothing else uses. `p`, `c`: NULL if it measures nothing. */
static inline int tri_profile_result(const struct tri_profiling *p, struct tri_collector *c, uint32_t threads, const tri_profile **out,
				     tri_error *err)
{
	if (!c)
		return tri_error_set(err, TRI_ERR_ARGUMENT, TRI_NO_PROFILE);
	*out = p->result(c, threads);
	return *out ? TRI_OK : tri_error_set(err, TRI_ERR_MEMORY, "out of memory");
}
static inline int tri_profile_restart(const struct tri_profiling *p, struct tri_collector *c, tri_error *err)
{
	if (!c)
		return tri_error_set(err, TRI_ERR_ARGUMENT, TRI_NO_PROFILE);
	p->reset(c);
	return TRI_OK;
}
#endif
