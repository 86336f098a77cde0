/* Opening, running and closing any model of one library: the generated NAME_open, NAME_run and NAME_close end up here. */
#ifndef TRI_MODEL_H
#define TRI_MODEL_H
#include <stdbool.h>
#include <stdint.h>
#include "tri.h"
#include "unit.h"
#include "weights.h"

/* tri_entry_desc.code of a CPU library. `table` may be NULL. */
struct tri_entry_code {
	tri_unit_fn *unit;
	tri_scratch_fn *scratch;           /* NULL: needs none */
	const void *const *table;          /* NULL: outside */
	const struct tri_weights *outside; /* the same in all entries; NULL: everything is in the library */
	uint64_t outside_table;            /* index of `table` there */
};

struct tri_model *tri_model_open(const tri_options *opt, tri_error *err, const tri_model_desc *desc);
int tri_model_run(struct tri_model *m, uint32_t entry, tri_tensor *io, tri_error *err);
void tri_model_close(struct tri_model *m); /* NULL is accepted */

#define TRI_HUGE "the sizes of the inputs make intermediate tensors that no memory holds"
/* Fills *err, if there is one, and returns code. */
int tri_error_set(tri_error *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* TRI_ERR_SHAPE: the text of the enum tri_misfit, and the values of the entry's dynamic dimensions. */
int tri_error_misfit(tri_error *err, const tri_entry_desc *e, int64_t kind, const int64_t *dims);
/* Checks io against e and finds the values of its dynamic dimensions. TRI_OK or the error. */
int tri_io_check(const tri_entry_desc *e, const tri_tensor *io, int64_t *dims, tri_error *err);
#endif
