/* Completion in tri.build: blocks at the start of a line, keys of the block on indented lines, definitions after `entry =`. */
#include <string.h>
#include "base/arena.h"
#include "builder/lsp/query.h"
#include "builder/manifest/manifest.h"

#define IN_PROJECT (1u << BLOCK_PROJECT)
#define IN_MODEL (1u << BLOCK_MODEL)
#define IN_PROFILE (1u << BLOCK_PROFILE)
#define IN_CACHE (1u << BLOCK_CACHE)
#define IN_SERVER (1u << BLOCK_SERVER)
#define IN_BUILD (1u << BLOCK_BUILD)
#define IN_DEPENDENCY (1u << BLOCK_DEPENDENCY)

static const char *const blocks[] = {
#define BLOCK(id, text, ...) text,
#include "builder/manifest/manifest_keys.def"
};
static const struct {
	const char *text;
	unsigned blocks;
} keys[] = {
#define KEY(id, text, type, in, otherwise, help) {text, in},
#include "builder/manifest/manifest_keys.def"
};

/* The block that an indented line belongs to, or BLOCK_COUNT. */
static uint32_t block_above(const struct source *s, uint32_t line)
{
	while (line > 0) {
		line = source_line_start(s, line - 1);
		size_t n = strcspn(s->text + line, " \t\r\n#");
		for (uint32_t i = 0; n && i < BLOCK_COUNT; i++)
			if (strlen(blocks[i]) == n && !strncmp(blocks[i], s->text + line, n))
				return i;
		if (n)
			break;
	}
	return BLOCK_COUNT;
}

/* The definitions that can be an entry. */
static void put_entries(struct query *q)
{
	const struct index *ix = q->analysis->index;
	for (uint32_t i = 0; i < ix->symbols.len; i++) {
		const struct symbol *s = &ix->symbols.at[i];
		if (!s->std && s->parent == SYMBOL_NONE && (s->kind == SYMBOL_LAYER || s->kind == SYMBOL_FN))
			completion_put_item(q, s->name, s->kind == SYMBOL_LAYER ? ITEM_CLASS : ITEM_FUNCTION, symbol_signature(q, s));
	}
}

void completion_put_manifest(struct query *q)
{
	const struct source *s = q->source;
	uint32_t line = source_line_start(s, q->offset);
	const char *before = arena_strndup(q->scratch, s->text + line, q->offset - line), *word = before + strspn(before, " \t");
	if (strchr(before, '#') || (strchr(word, '=') && strncmp(word, "entry", 5) != 0))
		return;
	if (strchr(word, '=')) {
		put_entries(q);
	} else if (word == before) {
		for (uint32_t i = 0; i < BLOCK_COUNT; i++)
			if (i != BLOCK_BUILD) /* only in the user's configuration */
				completion_put_item(q, blocks[i], ITEM_KEYWORD, NULL);
	} else {
		uint32_t block = block_above(s, line);
		for (size_t i = 0; block < BLOCK_COUNT && i < sizeof keys / sizeof *keys; i++)
			if (keys[i].blocks >> block & 1)
				completion_put_item(q, keys[i].text, ITEM_PROPERTY, NULL);
	}
}
