/* Checking the text of one manifest value against the form that its key wants. */
#ifndef TRIB_BUILDER_MANIFEST_MANIFEST_VALUE_H
#define TRIB_BUILDER_MANIFEST_MANIFEST_VALUE_H
#include <stdbool.h>

struct arena;
struct diags;
struct manifest_value;

enum value_kind { VALUE_TEXT, VALUE_WORDS, VALUE_INPUT, VALUE_EMIT, VALUE_OPT, VALUE_COUNT, VALUE_SIZE, VALUE_BOOL, VALUE_ZSTD };
/* Stands for a blank that `$ ` protected, until the value is split. */
#define VALUE_BLANK '\x01'

/* Fills number, input or words from v->text. `name`: of an input. False: reported. */
bool manifest_value_parse(struct arena *session, struct manifest_value *v, enum value_kind kind, const char *name, struct diags *diags);
#endif
