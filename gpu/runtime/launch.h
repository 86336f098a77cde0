/* The binary interface between the data of an OpenCL library (gpu/model.c) and its host runtime. An entry is a list of steps: kernel launches,
 * and what decides which of them run. Offsets and extents are programs over the entry's dynamic dimensions. */
#ifndef TRI_LAUNCH_H
#define TRI_LAUNCH_H
#include <stdint.h>
#include "backend/runtime/abi/tri.h"

/* The kinds of devices that a library has kernels for: those whose work groups share memory, and processors, whose work items have vectors. */
enum tri_cl_variant { TRI_CL_GROUPS, TRI_CL_WIDE, TRI_CL_VARIANTS };

enum tri_cl_arg_kind { TRI_CL_INPUT, TRI_CL_OUTPUT, TRI_CL_BLOB, TRI_CL_SCRATCH };
struct tri_cl_arg {
	int32_t kind, index; /* input, output or blob number */
	tri_dim_desc offset; /* bytes; no steps: 0 */
};

/* A statement that prints or asserts. */
struct tri_cl_effect {
	const char *text, *where; /* where: NULL for a print */
	const uint8_t *kinds;     /* of the values, as in tri_print */
};

enum tri_cl_step_kind {
	TRI_CL_LAUNCH,        /* launches the kernel */
	TRI_CL_COPY,          /* copies dims[0] bytes to args[0] from args[1] */
	TRI_CL_JUMP,          /* goes on at step `to` */
	TRI_CL_JUMP_IF_FALSE, /* … if the bool at args[0] is false */
	TRI_CL_JUMP_IF_TRUE,
	TRI_CL_EFFECT, /* prints or asserts: the values are args, their sizes dims */
	TRI_CL_CHECK,  /* fails as check `to` says, unless its value is at least 0 */
	/* For the profile hook, around the steps of a statement that calls units. */
	TRI_CL_BEGIN,
	TRI_CL_END
};

/* Kernel arguments: for each memory argument a buffer and a byte offset; for each dim its value; if `fails`, the error buffer: four
 * int64, which are taken, value, bound and place. */
struct tri_cl_step {
	const char *kernel;
	const struct tri_cl_arg *args;
	const tri_dim_desc *dims;
	const struct tri_cl_effect *effect;
	uint64_t place; /* where it comes from, as in tri_fail_at */
	int32_t kind;   /* enum tri_cl_step_kind */
	int32_t n_args, n_dims, fails;
	uint32_t group;           /* work items of a group; a kernel may need exactly so many */
	uint32_t to;              /* a step or check */
	uint32_t unit, statement; /* for the profile hook: a unit of the descriptor, and its statement. TRI_NONE: built without the hook */
	tri_dim_desc items;       /* number of work items; the host rounds it up to complete groups, and the kernel ignores more */
	tri_dim_desc bytes, operations, memory; /* for the profile hook */
};

struct tri_cl_blob {
	const void *bytes;
	uint64_t size;
};

struct tri_cl_program {
	const char *text;
	uint64_t text_size;
	const struct tri_cl_blob *blobs;
	int32_t n_blobs;
	int32_t fp64; /* 1: the program uses float64 */
};

/* What is reported if a size is negative: enum tri_size_error, and a place as in tri_fail_at. */
struct tri_cl_check {
	int64_t kind;
	uint64_t place;
};

/* An entry for the devices of one variant. */
struct tri_cl_code {
	const struct tri_cl_program *program; /* the same for all entries */
	const struct tri_cl_step *steps;
	int64_t n_steps;
	const tri_dim_desc *scratch; /* the largest is the number of bytes */
	int64_t n_scratch;
	const tri_dim_desc *checks; /* if one is negative: TRI_ERR_SHAPE */
	const struct tri_cl_check *check_errors;
	int64_t n_checks; /* the first ones are always checked, further ones by steps */
};

/* tri_entry_desc.code of an OpenCL library. */
struct tri_cl_entry {
	const struct tri_cl_code *of[TRI_CL_VARIANTS];
};
#endif
