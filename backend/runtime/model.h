/* Opens, runs and closes a model. NAME_open, NAME_run and NAME_close call these functions. */
#ifndef TRI_MODEL_H
#define TRI_MODEL_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "backend/runtime/abi/tri.h"
#include "backend/runtime/abi/unit.h"
#include "backend/runtime/weights.h"

/* tri_entry_desc.code of a CPU library. `table` may be NULL. */
struct tri_entry_code {
	tri_unit_fn *unit;
	tri_scratch_fn *scratch;           /* NULL: no scratch */
	const void *const *table;          /* NULL: in the weight file */
	const struct tri_weights *outside; /* the weight file, the same in all entries; NULL: none */
	uint64_t outside_table;            /* index of its table in `outside` */
};

struct tri_model *tri_model_open(const tri_options *opt, tri_error *err, const tri_model_desc *desc);
int tri_model_run(struct tri_model *m, uint32_t entry, tri_tensor *io, tri_error *err);
int tri_model_run_async(struct tri_model *m, uint32_t entry, tri_tensor *io, tri_done *done, void *user, tri_error *err);
void tri_model_close(struct tri_model *m); /* NULL is accepted */
const tri_device *tri_model_device(struct tri_model *m);
int tri_model_reset(struct tri_model *m, tri_error *err);
int tri_model_state_save(struct tri_model *m, void *to, uint64_t *size, tri_error *err);
/* Of libraries that were built with `profile = true`. */
const tri_profile *tri_model_profile(struct tri_model *m, tri_error *err);
int tri_model_profile_reset(struct tri_model *m, tri_error *err);
int tri_model_state_load(struct tri_model *m, const void *from, uint64_t size, tri_error *err);

/* A member of the options; 0 if they are NULL, or of a program that does not know it. */
#define TRI_OPTION(opt, member) ((opt) && (opt)->size >= offsetof(tri_options, member) + sizeof(opt)->member ? (opt)->member : 0)

/* The size of an element. */
static inline int64_t tri_dtype_bytes(int32_t t)
{
	static const int8_t bytes[] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8, 1};
	return bytes[t];
}

#define TRI_HUGE "for these input sizes the intermediate tensors are larger than any memory"
/* Fills *err, unless err is NULL, and returns code. */
int tri_error_set(tri_error *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Sets TRI_ERR_SHAPE with the message of an enum tri_size_error and the values of the entry's dynamic dimensions; returns it. line: of
 * tri_place_line, or "". */
int tri_error_sizes(tri_error *err, const char *line, const tri_entry_desc *e, int64_t kind, const int64_t *dims);
/* Checks io against e and finds the values of its dynamic dimensions. Returns TRI_OK or the error. */
int tri_io_check(const tri_entry_desc *e, const tri_tensor *io, int64_t *dims, tri_error *err);
#endif
