/* An open weights file, private to this folder. */
#ifndef TRIB_BUILDER_WEIGHTS_WEIGHTS_FILE_H
#define TRIB_BUILDER_WEIGHTS_WEIGHTS_FILE_H
#include <stdbool.h>
#include <stddef.h>
#include "base/os.h"
#include "builder/weights/safetensors.h"
#include "builder/weights/weights.h"

struct buf;

struct weights {
	const char *path;
	span at;
	bool initialize;         /* parameters that are not in the file get their initial values */
	struct file_stamp stamp; /* before it was opened */
	const void *bytes;
	size_t len;
	const struct safetensors *st;
	const char **names;
};

/* Appends "[3, 4]". */
void weights_print_shape(struct buf *b, const int64_t *dims, uint32_t rank);
/* "float32", or the file's own name of an unsupported type. */
const char *weights_type_text(const struct st_tensor *s);
/* How to save a tensor whose element type or rank is not supported. `want`: the parameter's type, or DT_COUNT. */
const char *weights_remedy(struct arena *a, const struct st_tensor *s, dtype want);
#endif
