/* Tables of the reference: environment variables, keys of the manifest, words of other tools, exit codes. Pages made from them. */
#ifndef TRIB_BUILDER_CLI_REFERENCE_H
#define TRIB_BUILDER_CLI_REFERENCE_H
#include <stdbool.h>
#include <stdint.h>

struct buf;

struct reference_row {
	const char *name, *values, *help;
};
/* The i-th environment variable, key of tri.build, or exit code. False at the end. */
bool reference_variable(uint32_t i, struct reference_row *out);
bool reference_key(uint32_t i, struct reference_row *out);
bool reference_code(uint32_t i, struct reference_row *out);
/* The i-th row of words of other tools: the words, where, and what to write. The texts are in `scratch`. */
bool reference_foreign_row(uint32_t i, struct buf *scratch, struct reference_row *out);
/* Writes the blocks of a key, "IN_PROJECT | IN_MODEL", as "project model". */
void reference_blocks(const char *blocks, struct buf *out);

void reference_variables(struct buf *out);
void reference_manifest(struct buf *out);
void reference_exit(struct buf *out);
void reference_foreign(struct buf *out);
/* All tables as one Markdown document: builder/REFERENCE.md. */
void reference_markdown(struct buf *out);

/* man.c: the manual page. */
void man_print(struct buf *out);
#endif
