/* Reads the pickles of torch.save without executing them: only dictionaries, lists, numbers, texts and tensors are built. */
#ifndef TRIB_BUILDER_WEIGHTS_PICKLE_H
#define TRIB_BUILDER_WEIGHTS_PICKLE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "frontend/hir/dtype.h"

struct arena;

enum pickle_kind {
	PICKLE_OTHER, /* None, a bool or a float: of no interest */
	PICKLE_INT,
	PICKLE_TEXT,
	PICKLE_LIST, /* also a tuple */
	PICKLE_DICT,
	PICKLE_GLOBAL,
	PICKLE_STORAGE,
	PICKLE_TENSOR,
	PICKLE_MARK,
};
struct pickle {
	enum pickle_kind kind;
	int64_t number;     /* INT. GLOBAL: which one. STORAGE: its number of elements. TENSOR: its first element in the storage */
	const char *text;   /* TEXT. STORAGE: its key. GLOBAL: its name */
	struct pickle **at; /* LIST: its elements. DICT: keys and values in turn. TENSOR: storage, shape, strides */
	uint32_t n, cap;
	dtype elem;       /* STORAGE; DT_COUNT: not supported */
	const char *type; /* STORAGE: "FloatStorage" */
};
/* Returns what the pickle describes, in `a`. NULL: *error (in `a`) says why. */
const struct pickle *pickle_read(struct arena *a, const void *bytes, size_t len, const char **error);
#endif
