/* The manifest, tri.build: blocks of `key = value` lines, with variables, comments and includes. Each value is checked here;
 * build_spec.c combines them. */
#ifndef TRIB_BUILDER_MANIFEST_MANIFEST_H
#define TRIB_BUILDER_MANIFEST_MANIFEST_H
#include <stdbool.h>
#include <stdint.h>
#include "base/source.h"
#include "frontend/frontend.h"

struct buf;
struct arena;
struct diags;

enum manifest_block_kind {
#define BLOCK(id, ...) BLOCK_##id,
#include "builder/manifest/manifest_keys.def"
	BLOCK_COUNT
};
enum manifest_key {
#define KEY(id, ...) KEY_##id,
#include "builder/manifest/manifest_keys.def"
	KEY_COUNT
};
enum emit {
#define EMIT(id, ...) EMIT_##id,
#include "builder/manifest/emits.def"
#undef EMIT
	EMIT_COUNT
};

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

struct manifest_value {
	enum manifest_key key;
	const char *text;               /* variables expanded, blanks around it removed */
	uint64_t number;                /* see enum value_kind */
	const struct elab_input *input; /* INPUT */
	const char *name;               /* T of `state.T` */
	const char *const *words;       /* WORDS */
	uint32_t n_words;
	span key_at, at; /* of the key; of the value */
};
#define MANIFEST_OPT_SIZE 4

struct manifest_block {
	enum manifest_block_kind kind;
	const char *name; /* "" for a block without one */
	span at;          /* of the name, or of the block's word */
	struct manifest_value *values;
	uint32_t n_values;
};
struct manifest {
	struct manifest_block *blocks; /* in source order */
	uint32_t n_blocks;
};

/* Reads `path` and its includes (manifest_read.c) through `host`, into the `session` arena. Never NULL: errors are in `diags`, and the
 * result has what could be read. */
struct manifest *manifest_read(struct arena *session, struct frontend_host host, const char *path, struct diags *diags);

/* Returns the block of that kind and name (name NULL: the first of its kind), or NULL. */
const struct manifest_block *manifest_find(const struct manifest *m, enum manifest_block_kind kind, const char *name);
/* Returns the value of a key (of the first `input`), or NULL; `block` may be NULL. */
const struct manifest_value *manifest_get(const struct manifest_block *block, enum manifest_key key);
/* Returns the names of all blocks of that kind. */
const char *const *manifest_names(struct arena *a, const struct manifest *m, enum manifest_block_kind kind, uint32_t *n);
const char *manifest_block_text(enum manifest_block_kind kind);
bool manifest_block_is_named(enum manifest_block_kind kind);
bool manifest_block_may_repeat(enum manifest_block_kind kind);
/* Returns the key of that name, or of a foreign word for it, in such a block, or KEY_COUNT. */
enum manifest_key manifest_key_find(enum manifest_block_kind kind, const char *word);
bool manifest_key_is_in(enum manifest_key key, enum manifest_block_kind kind);
const char *manifest_key_text(enum manifest_key key);
enum value_kind manifest_key_type(enum manifest_key key);
const char *manifest_key_default(enum manifest_key key); /* NULL: none */
const char *manifest_key_help(enum manifest_key key);

/* Fills number, input or words from v->text. `name`: of an input. False: reported. */
bool manifest_value_parse(struct arena *session, struct manifest_value *v, enum value_kind kind, const char *name, struct diags *diags);
/* The value syntax that flags share with keys. False: the text is not of that form. */
bool manifest_parse_opt(const char *text, uint64_t *level);
bool manifest_parse_bool(const char *text, uint64_t *truth);
bool manifest_parse_size(const char *text, uint64_t *bytes); /* 512, 64KiB, 4GiB, 1GB */
bool manifest_parse_count(const char *text, uint64_t *n);
/* A list of emits; on false *bad is the unknown word (in `a`), or "". */
bool manifest_parse_emit(struct arena *a, const char *text, uint64_t *set, const char **bad);
/* Returns all names of emits as "library, header, …". */
const char *manifest_emit_list(struct arena *a);
const char *const *emit_names(uint32_t *n);

/* config_file.c changes one value of the user's configuration; comments and order stay. */

/* Appends `text` with `key = value` in its block `block`; value NULL: without that line. */
void config_set_text(const char *text, const char *block, const char *key, const char *value, struct buf *out);
/* Does the same with the file at `path`; creates it if it is missing, and replaces it atomically. False: errno. */
bool config_set_file(const char *path, const char *block, const char *key, const char *value);
#endif
