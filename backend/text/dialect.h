/* What differs between the languages that loop IR is printed in: C, and languages like it. A dialect is one record. */
#ifndef TRIB_BACKEND_TEXT_DIALECT_H
#define TRIB_BACKEND_TEXT_DIALECT_H
#include <stdbool.h>
#include <stdint.h>
#include "frontend/hir/dtype.h"

/* A kernel executes its work item's iteration of the parallel loops; all iterations one after the other; or those of its work item's chunk. */
enum dialect_launch { LAUNCH_ITEMS, LAUNCH_LOOPS, LAUNCH_CHUNKS };

/* How vectors are written: formats, with their arguments in order. */
struct dialect_vectors {
	const char *type;              /* element and lanes */
	const char *splat, *steps;     /* type of the vector and a scalar; type of the vector and lanes: 0, 1, 2 … */
	const char *load, *store;      /* neighbours: address space, type and pointer; then the value, a statement */
	const char *strided, *indexed; /* type, lanes, pointer and stride; then the vector of indices and their factor */
	const char *store_strided;     /* lanes, pointer, stride and value, a statement */
	const char *convert;           /* type and vector: integers wrap */
	const char *name;              /* of a helper for vectors: its scalar name and lanes */
	const char *fma;               /* three vectors */
	const char *epilogue;          /* defines the macro with which a micro-kernel stores neighbours, up to its body */
	uint32_t epilogue_lanes;
};

struct dialect {
	enum dialect_launch launch;
	const char *values[DT_COUNT], *memory[DT_COUNT]; /* the type of an element in a variable, and in memory */
	/* Qualifiers; each ends with a space unless it is empty. */
	const char *kernel, *group_kernel;     /* of kernels; with the size of the work group as %u */
	const char *function;                  /* of functions that kernels call */
	const char *global, *local, *constant; /* of pointers to the memory of the device, of a work group, and to arrays in the text */
	const char *shared;                    /* of arrays in the memory of a work group */
	const char *baked, *aligned;           /* of arrays in the text; after their names, so that vectors of them are aligned */
	const char *read_only;                 /* of pointers through which nothing is written */
	/* How kernels take a buffer: pointer and offset as a parameter with the buffer's number twice, and as an argument; the typed pointer. */
	const char *buffer, *buffer_argument, *address;
	const char *frame; /* of a block: where loops are launched a parameter, else its declaration, with its bytes as %lld */
	const char *part;  /* the type of a partial result of any type */
	const char *fail;  /* the parameter for run-time errors */
	/* LAUNCH_ITEMS: the number of the work item, and of its group, and the number in the group; what makes a group wait for its items. */
	const char *item, *group, *lane, *barrier, *barrier_global;
	/* Literals. */
	const char *long_suffix, *place_suffix, *nan[2]; /* nan: of float32 and float64 */
	/* Functions. */
	const char *float_suffix; /* of mathematical functions of float32 */
	const char *clamp;
	const char *unused; /* a statement for a parameter that may be unused, with letter and number; NULL: it needs none */
	const char *load_half, *load_baked_half; /* with offset and pointer */
	const char *store_half;                  /* a statement, with the number of the value, offset and number of the buffer */
	int64_t bake_limit;                      /* bytes of a constant that is in the text; larger ones are arguments of kernels */
	bool bakes_infinity;
	const struct dialect_vectors *vectors; /* NULL: the language has none */
};

/* OpenCL C for GPUs and for processors; CUDA C++; C. */
extern const struct dialect dialect_opencl_c, dialect_opencl_wide, dialect_cuda, dialect_c11;
#endif
