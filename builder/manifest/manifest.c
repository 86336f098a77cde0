/* The tables of blocks and keys, and queries of a manifest. */
#include "builder/manifest/manifest.h"
#include <string.h>
#include "base/arena.h"
#include "builder/manifest/foreign_words.h"

#define IN_PROJECT (1u << BLOCK_PROJECT)
#define IN_MODEL (1u << BLOCK_MODEL)
#define IN_PROFILE (1u << BLOCK_PROFILE)
#define IN_CACHE (1u << BLOCK_CACHE)
#define IN_SERVER (1u << BLOCK_SERVER)
#define IN_BUILD (1u << BLOCK_BUILD)
#define IN_DEPENDENCY (1u << BLOCK_DEPENDENCY)

static const struct {
	const char *text;
	enum value_kind type;
	uint32_t blocks;
	const char *otherwise, *help;
} keys[] = {
#define DEFAULT(text) text
#define NO_DEFAULT NULL
#define KEY(id, text, type, blocks, otherwise, help) {text, VALUE_##type, blocks, otherwise, help},
#include "builder/manifest/manifest_keys.def"
};
static const struct {
	const char *text;
	bool named, many;
} block_kinds[] = {
#define BLOCK(id, text, named, many) {text, named, many},
#include "builder/manifest/manifest_keys.def"
};

const struct manifest_block *manifest_find(const struct manifest *m, enum manifest_block_kind kind, const char *name)
{
	for (uint32_t i = 0; i < m->n_blocks; i++)
		if (m->blocks[i].kind == kind && (!name || strcmp(m->blocks[i].name, name) == 0))
			return &m->blocks[i];
	return NULL;
}

const struct manifest_value *manifest_get(const struct manifest_block *block, enum manifest_key key)
{
	for (uint32_t i = 0; block && i < block->n_values; i++)
		if (block->values[i].key == key)
			return &block->values[i];
	return NULL;
}

const char *const *manifest_names(struct arena *a, const struct manifest *m, enum manifest_block_kind kind, uint32_t *n)
{
	const char **names = ARENA_ARRAY(a, const char *, m->n_blocks + 1);
	*n = 0;
	for (uint32_t i = 0; i < m->n_blocks; i++)
		if (m->blocks[i].kind == kind)
			names[(*n)++] = m->blocks[i].name;
	return names;
}

const char *manifest_block_text(enum manifest_block_kind kind) { return block_kinds[kind].text; }
const char *manifest_key_text(enum manifest_key key) { return keys[key].text; }
enum value_kind manifest_key_type(enum manifest_key key) { return keys[key].type; }
const char *manifest_key_help(enum manifest_key key) { return keys[key].help; }
const char *manifest_key_default(enum manifest_key key) { return keys[key].otherwise; }

bool manifest_block_is_named(enum manifest_block_kind kind) { return block_kinds[kind].named; }
bool manifest_block_may_repeat(enum manifest_block_kind kind) { return block_kinds[kind].many; }
bool manifest_key_is_in(enum manifest_key key, enum manifest_block_kind kind) { return keys[key].blocks & (1u << kind); }

enum manifest_key manifest_key_find(enum manifest_block_kind kind, const char *word)
{
	enum manifest_key key = 0;
	while (key < KEY_COUNT && !(strcmp(keys[key].text, word) == 0 && manifest_key_is_in(key, kind)))
		key++;
	const struct foreign_word *w = key == KEY_COUNT ? foreign_word_find(FOREIGN_KEY, block_kinds[kind].text, word) : NULL;
	return w && w->same ? manifest_key_find(kind, w->same) : key;
}
