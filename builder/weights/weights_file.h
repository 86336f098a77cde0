/* An open weights file, private to this folder. */
#ifndef TRIB_BUILDER_WEIGHTS_WEIGHTS_FILE_H
#define TRIB_BUILDER_WEIGHTS_WEIGHTS_FILE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/os.h"
#include "base/source.h"
#include "builder/weights/tensor_list.h"
#include "builder/weights/weights.h"
#include "frontend/hir/dtype.h"

struct arena;
struct buf;
struct diags;
struct hir_param;
struct hir_program;

/* One mapped file: the weights file, or one of those that an index names. */
struct weights_part {
	const char *path;
	struct file_stamp stamp; /* before it was opened */
	const void *bytes;
	size_t len;
};
/* What weights_digest has found of a tensor. */
struct weights_content {
	hash128 hash; /* of its bytes */
	bool is_known, is_finite;
};
struct weights {
	struct arena *arena;
	const char *path;
	span at;
	bool initialize;            /* parameters that are not in the file get their initial values */
	struct weights_part *parts; /* the first is the weights file */
	uint32_t n_parts, cap_parts;
	const struct tensor_list *st;
	struct weights_content *contents; /* of each tensor */
	const char **names;
};

/* Appends "[3, 4]". */
void weights_print_shape(struct buf *b, const int64_t *dims, uint32_t rank);
/* "float32", or the file's own name of an unsupported type. */
const char *weights_type_text(const struct file_tensor *tensor);
/* How to save a tensor whose element type or rank is not supported. `want`: the parameter's type, or DT_COUNT. */
const char *weights_remedy(struct arena *a, const struct file_tensor *tensor, dtype want);

/* The tensor of a parameter: of its name, else of another name that it has in the model. NULL: the file has none, or there is none. */
const struct file_tensor *weights_find(const struct weights *w, const struct hir_param *p);

/* The seed of a parameter's initial value. */
uint64_t weights_seed(const struct hir_param *p);

/* ---- weights_finite.c: Parameters that are quantized at build time must be finite: the trits of NaN and infinity have no meaning. ---- */

/* For each parameter of the program, the quantizer that its value reaches at build time; SPAN_NONE: none. In `a`. */
const span *weights_quantizers(struct arena *a, const struct hir_program *p);
/* True if every element is finite; else *at is the first that is not. `data` may have any alignment. */
bool weights_finite(dtype elem, const void *data, size_t n, size_t *at);

/* ---- weights_missing.c: The diagnostic for parameters that have no tensor in the weights file. ---- */
struct weights_missing {
	const struct hir_program *program;
	const uint32_t *params; /* indexes of the missing ones */
	uint32_t n;
	bool initialized;         /* they take initial values: a warning */
	uint32_t n_without;       /* missing ones without an initial value */
	const char *path;         /* the file; NULL: the model names none */
	const char *const *names; /* of the file's tensors, sorted */
	uint32_t n_names;
	span at;
};
/* Adds one diagnostic that lists all of them, with the nearest names in the file and a likely fix. */
void weights_report_missing(struct arena *a, const struct weights_missing *m, struct diags *diags);
#endif
