/* One input of a run: a .npy file, or made values (`random:4x16`). */
#ifndef TRIB_BUILDER_RUN_RUN_INPUT_H
#define TRIB_BUILDER_RUN_RUN_INPUT_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/runtime/abi/tri.h"

struct arena;
struct buf;
struct tensor;

enum run_source_kind { SOURCE_FILE, SOURCE_RANDOM, SOURCE_ZEROS, SOURCE_ONES };
struct run_source {
	enum run_source_kind kind;
	const char *path; /* SOURCE_FILE */
	bool has_shape;   /* of the other kinds */
	int32_t rank;
	int64_t dims[TRI_MAX_RANK];
};
/* The text after `name=` in a list of options, or NULL. */
const char *run_file_for(const char *const *list, uint32_t n, const char *name);
/* Appends "float32 [4, 16]". */
void run_print_type(struct buf *b, const tri_tensor *t);
/* FILE, or `random`, `zeros` or `ones` with or without `:2x16`. False: *error. */
bool run_source_parse(const char *text, struct run_source *out, struct buf *error);
const char *run_source_text(enum run_source_kind kind); /* "random" */
/* The array in a .npy file, in `a`. False: *error. */
bool run_read_npy(struct arena *a, const char *path, struct tensor *out, struct buf *error);
/* Reads a file as values for the input. */
bool run_read_input(struct arena *a, const tri_io_desc *d, const char *path, tri_tensor *out, struct buf *error);
/* Fills a tensor. Random values depend only on the input's name, type and shape: floats are about normal, integers 0 to 9. */
void run_make_input(const char *name, enum run_source_kind kind, tri_tensor *t);
#endif
