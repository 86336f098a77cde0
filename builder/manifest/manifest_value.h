/* Checks the text of one manifest value against the type of its key. */
#ifndef TRIB_BUILDER_MANIFEST_MANIFEST_VALUE_H
#define TRIB_BUILDER_MANIFEST_MANIFEST_VALUE_H
#include <stdbool.h>

struct arena;
struct diags;
struct manifest_value;

enum value_kind {
	VALUE_TEXT,
	VALUE_WORDS, /* .words */
	VALUE_INPUT, /* .input */
	VALUE_EMIT,  /* .number: a bit for each enum emit */
	VALUE_OPT,   /* .number: level 0 … 3, or MANIFEST_OPT_SIZE */
	VALUE_COUNT, /* .number */
	VALUE_SIZE,  /* .number: bytes */
	VALUE_BOOL,  /* .number */
	VALUE_ZSTD   /* .number: an int64 */
};
/* The expansion of `$ `, a blank that does not separate words, until the value is split. */
#define VALUE_BLANK '\x01'

/* Fills number, input or words from v->text. `name`: of an input. False: reported. */
bool manifest_value_parse(struct arena *session, struct manifest_value *v, enum value_kind kind, const char *name, struct diags *diags);
#endif
