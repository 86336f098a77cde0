/* The launches of one entry as a flat list: calls of units are expanded, everything is expressed in the entry's dimensions. */
#ifndef TRIB_GPU_FLATTEN_H
#define TRIB_GPU_FLATTEN_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/link/model.h"
#include "backend/loops/loops.h"
#include "base/vec.h"

enum flat_place_kind { FLAT_INPUT, FLAT_OUTPUT, FLAT_BLOB, FLAT_SCRATCH };
struct flat_place {
	enum flat_place_kind kind;
	uint32_t index; /* input, output, blob: the model's, then the constants' */
	dim offset;     /* bytes in the scratch */
};
struct flat_launch {
	const char *kernel;
	struct flat_place *places;
	dim *dims;
	uint32_t n_places, n_dims;
	bool fails;
	dim items;
};
struct flat_entry {
	struct dims *dims; /* symbols: those of the entry's unit */
	VEC(struct flat_launch) launches;
	VEC(dim) scratch; /* bytes needed: the largest of them */
	VEC(struct loop_check) checks;
};

/* Constants too large to stand in the program text; shared by all entries. */
struct flat_const {
	const void *bytes;
	size_t len;
};
struct flatten {
	struct arena *arena;
	const struct model_input *in;
	const struct model_weights *weights;
	const struct loop_fn *const *units; /* per program->units */
	VEC(struct flat_const) consts;
};

/* Entry `index` of the program. Its vectors are the caller's to free. */
void flatten_entry(struct flatten *f, uint32_t index, struct flat_entry *out);
#endif
