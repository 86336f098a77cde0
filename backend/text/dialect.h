/* What differs between the languages that loop IR is printed in: C, and languages like it. A dialect is one record. */
#ifndef TRIB_BACKEND_TEXT_DIALECT_H
#define TRIB_BACKEND_TEXT_DIALECT_H
#include <stdbool.h>
#include <stdint.h>
#include "frontend/hir/dtype.h"

/* What a kernel executes: its work item's iteration of the parallel loops, or all iterations one after the other. */
enum dialect_launch { LAUNCH_ITEMS, LAUNCH_LOOPS };

struct dialect {
	enum dialect_launch launch;
	const char *values[DT_COUNT], *memory[DT_COUNT]; /* the type of an element in a variable, and in memory */
	/* Qualifiers; each ends with a space unless it is empty. */
	const char *kernel, *group_kernel; /* of kernels; with the size of the work group as %u */
	const char *function;              /* of functions that kernels call */
	const char *global, *local;        /* of pointers to the memory of the device, and of a work group */
	const char *constant;              /* of arrays in the text */
	const char *read_only;             /* of pointers through which nothing is written */
	/* How kernels take a buffer: pointer and offset as a parameter with the buffer's number twice, and as an argument; the typed pointer. */
	const char *buffer, *buffer_argument, *address;
	const char *frame; /* of a block: where groups are launched its declaration, with its bytes as %lld, else a parameter */
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
};

extern const struct dialect dialect_opencl_c, dialect_c11;
#endif
