/* The words of other tools: each row names commands, blocks, flags and keys that exist, and hides none of ours. */
#include "builder/manifest/foreign_words.h"
#include "tests/unit/unit.h"
#include <string.h>
#include "builder/cli/flags.h"
#include "builder/manifest/manifest.h"

/* Calls `visit` with each word of a list. */
static void each_word(const char *list, void (*visit)(void *ctx, const char *word), void *ctx)
{
	char copy[512], *save;
	assert_true(strlen(list) < sizeof copy);
	strcpy(copy, list);
	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save))
		visit(ctx, w);
}

struct place {
	const struct foreign_word *row;
	const char *name;
	uint32_t n; /* words seen */
};

static uint32_t command_named(const char *name)
{
	uint32_t c = 0;
	while (c < COMMAND_COUNT && strcmp(command_table[c].name, name) != 0)
		c++;
	return c;
}

static uint32_t block_named(const char *name)
{
	uint32_t b = 0;
	while (b < BLOCK_COUNT && strcmp(manifest_block_text((enum manifest_block_kind)b), name) != 0)
		b++;
	return b;
}

static bool has_flag(uint32_t command, const char *name, size_t len)
{
	for (uint32_t i = 0; i < N_FLAGS; i++)
		if (flag_is_of(&flag_table[i], (enum command)command, ACTION_NONE) && strlen(flag_table[i].name) == len &&
		    memcmp(flag_table[i].name, name, len) == 0)
			return true;
	return false;
}

static bool has_letter(uint32_t command, char letter)
{
	for (uint32_t i = 0; i < N_FLAGS; i++)
		if (flag_is_of(&flag_table[i], (enum command)command, ACTION_NONE) && flag_table[i].letter == letter)
			return true;
	return false;
}

static bool has_action(uint32_t command, const char *name)
{
	for (uint32_t i = 1; i < ACTION_COUNT; i++)
		if (action_table[i].command == command && strcmp(action_table[i].name, name) == 0)
			return true;
	return false;
}

static bool has_key(uint32_t block, const char *name)
{
	for (enum manifest_key k = 0; k < KEY_COUNT; k++)
		if (manifest_key_is_in(k, (enum manifest_block_kind)block) && strcmp(manifest_key_text(k), name) == 0)
			return true;
	return false;
}

static bool is_ours(const struct place *p, const char *word)
{
	switch (p->row->kind) {
	case FOREIGN_COMMAND: return command_named(word) < COMMAND_COUNT;
	case FOREIGN_FLAG:
		return word[1] == '-' ? has_flag(command_named(p->name), word + 2, strlen(word + 2))
				      : has_letter(command_named(p->name), word[1]);
	case FOREIGN_ACTION: return has_action(command_named(p->name), word);
	case FOREIGN_KEY: return has_key(block_named(p->name), word);
	case FOREIGN_BLOCK: return block_named(word) < BLOCK_COUNT;
	}
	return false;
}

static void check_word(void *ctx, const char *word)
{
	struct place *p = ctx;
	p->n++;
	if (is_ours(p, word))
		fail_msg("`%s` is a word of `%s`", word, p->name);
	if (!strpbrk(word, "*?[") && foreign_word_find(p->row->kind, p->name, word) != p->row)
		fail_msg("an earlier row has `%s` of `%s`", word, p->name);
}

static void check_place(void *ctx, const char *name)
{
	struct place p = {ctx, name, 0};
	const struct foreign_word *w = p.row;
	bool is_command = w->kind == FOREIGN_FLAG || w->kind == FOREIGN_ACTION;
	if (strcmp(name, "*") == 0 || w->kind == FOREIGN_BLOCK || w->kind == FOREIGN_COMMAND)
		; /* all blocks; the manifest; trib */
	else if (is_command ? command_named(name) == COMMAND_COUNT : block_named(name) == BLOCK_COUNT)
		fail_msg("there is no `%s` with a `%s`", name, w->words);
	else if (w->same &&
		 !(is_command ? has_flag(command_named(name), w->same, strcspn(w->same, "=")) : has_key(block_named(name), w->same)))
		fail_msg("`%s` has no `%s`", name, w->same);
	each_word(w->words, check_word, &p);
	assert_true(p.n > 0);
}

static void each_row(void **state)
{
	uint32_t n = 0;
	for (const struct foreign_word *w; (w = foreign_word_row(n)); n++) {
		assert_true(w->same || w->text);
		each_word(w->places, check_place, (void *)(uintptr_t)w);
	}
	assert_true(n > 50);
}

/* True if a flag of that name exists in any command. */
static bool is_flag(const char *name, size_t len)
{
	for (uint32_t c = 0; c < COMMAND_COUNT; c++)
		if (has_flag(c, name, len))
			return true;
	return false;
}

/* What the texts say in backticks: `--flag`, `trib command`, `trib cache stats`. */
static void advice_exists(void **state)
{
	for (uint32_t i = 0; foreign_word_row(i); i++) {
		const char *text = foreign_word_row(i)->text;
		for (const char *at = text ? strchr(text, '`') : NULL; at; at = strchr(strchr(at + 1, '`') + 1, '`')) {
			char word[64], action[64];
			assert_non_null(strchr(at + 1, '`'));
			if (strncmp(at, "`--", 3) == 0 && !is_flag(at + 3, strcspn(at + 3, " =`")))
				fail_msg("no flag: %s", text);
			if (sscanf(at, "`trib %63[a-z]", word) == 1 && command_named(word) == COMMAND_COUNT)
				fail_msg("no command `%s`: %s", word, text);
			if (sscanf(at, "`trib %63[a-z] %63[a-z]", word, action) == 2 &&
			    command_has_actions((enum command)command_named(word)) && !has_action(command_named(word), action))
				fail_msg("no action `%s`: %s", action, text);
		}
	}
}

int test_foreign_words(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(each_row), cmocka_unit_test(advice_exists)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
