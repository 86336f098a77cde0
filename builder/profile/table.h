/* A table of texts, printed for a terminal or as markdown. */
#ifndef TRIB_BUILDER_PROFILE_TABLE_H
#define TRIB_BUILDER_PROFILE_TABLE_H
#include <stdbool.h>
#include <stdint.h>
#include "base/vec.h"

struct arena;
struct buf;

#define TABLE_COLUMNS 16
struct table_column {
	const char *title;
	bool is_number; /* aligned at its end */
};
struct table {
	struct arena *arena; /* of the cells */
	struct table_column columns[TABLE_COLUMNS];
	uint32_t n_columns;
	VEC(const char *) cells; /* row after row */
};

void table_add(struct table *t, const char *text); /* the next cell; copied; NULL: empty */
void table_addf(struct table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Appends the table, and frees its cells. The last row must be full. */
void table_print(struct table *t, bool markdown, struct buf *out);
#endif
