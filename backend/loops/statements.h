/* What a fragment says of the statements of its unit, in place of the loops that it was made from. */
#ifndef TRIB_BACKEND_LOOPS_STATEMENTS_H
#define TRIB_BACKEND_LOOPS_STATEMENTS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;
struct loop_fn;

struct statement {
	const char *name; /* of the kernel, or the symbol of the called unit, or "loop", "if", "while", "print", "assert" */
	const uint32_t *values;
	uint32_t n_values; /* as of struct loop_stmt */
};
/* The section of a fragment that has this table and then, to the end, pairs of 32-bit numbers: an offset in .text, and the number of the
 * code from there on. The number is that of the statement, from 1 on; 0: the code is of no statement. */
#define SECTION_ORIGINS ".trib.origins"
void statements_write(const struct loop_fn *f, struct buf *out);
/* Reads a table that is not trusted. Returns false if it is damaged. *len becomes its length. */
bool statements_read(struct arena *a, const void *bytes, size_t *len, struct statement **list, uint32_t *n);
#endif
