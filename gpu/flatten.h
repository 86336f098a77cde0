/* An entry as a list of steps: calls of units are expanded, dims are those of the entry's unit. */
#ifndef TRIB_GPU_FLATTEN_H
#define TRIB_GPU_FLATTEN_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/link/model/model.h"
#include "backend/loops/ir/cost.h"
#include "base/map.h"
#include "base/vec.h"
#include "gpu/runtime/launch.h"

struct flat_arg {
	enum tri_cl_arg_kind kind;
	uint32_t index; /* of the input, output or blob; constants follow the blobs of the model */
	dim offset;     /* bytes in the scratch */
};
/* As struct tri_cl_step. */
struct flat_step {
	enum tri_cl_step_kind kind;
	const char *kernel;
	const struct loop_effect *effect;
	struct flat_arg *args;
	dim *dims;
	uint32_t n_args, n_dims, group, to;
	bool fails;
	dim items;
	dim cost[LOOP_COSTS];     /* backend/loops/ir/cost.h */
	uint32_t unit, statement; /* where it comes from: an index in program->units, and a statement of its loops */
	uint64_t place;           /* the same, as in tri_fail_at */
};
/* As struct loop_check. */
struct flat_check {
	dim least;
	enum tri_size_error kind;
	uint64_t place; /* as in tri_fail_at */
};
struct flat_entry {
	struct dims *dims; /* symbols: those of the entry's unit */
	VEC(struct flat_step) steps;
	VEC(dim) scratch;                    /* the largest is the number of bytes */
	VEC(struct flat_check) checks, some; /* some: those that steps refer to */
};

/* Constants that are too large for the program text; shared by all entries. */
struct flat_const {
	const void *bytes;
	size_t len;
};
struct flatten {
	struct arena *arena;
	const struct model_input *in;
	const struct model_weights *weights;
	enum tri_cl_variant variant;
	const struct loop_fn *const *units; /* of the variant, for each of program->units */
	struct map by_symbol;               /* of units to their index */
	const struct live_buffers *live;    /* of each unit, to count costs of launches; NULL: they are not counted */
	VEC(struct flat_const) consts;
};

/* Flattens entry `index` of the program. The caller frees the vectors of *out. */
void flatten_entry(struct flatten *f, uint32_t index, struct flat_entry *out);
#endif
