#include "builder/cli/reference.h"
#include <stddef.h>
#include <string.h>
#include "base/buf.h"
#include "builder/cache/config.h"
#include "builder/manifest/foreign_words.h"
#include "builder/manifest/manifest.h"

static const struct reference_row variables[] = {
#define VARIABLE(name, values, help) {name, values, help},
#include "builder/cli/variables.def"
};
enum { VARIABLES = sizeof variables / sizeof *variables };

#define DEFAULT(text) " (default: " text ")"
#define NO_DEFAULT ""
static const struct reference_row keys[] = {
#define KEY(id, text, type, blocks, otherwise, help) {text, #blocks, help otherwise},
#include "builder/manifest/manifest_keys.def"
};
enum { KEYS = sizeof keys / sizeof *keys };

static const struct reference_row codes[] = {
	{"0", "", "done"},
	{"1", "", "errors in sources, in tri.build or in a model; fmt --check and test: a difference"},
	{"2", "", "wrong usage: a flag, a command, a model or a profile that does not exist, no tri.build"},
	{"3", "", "environment: a file that cannot be read or written, a network, a device, memory"},
	{"130", "", "interrupted"},
};
enum { CODES = sizeof codes / sizeof *codes };

bool reference_variable(uint32_t i, struct reference_row *out)
{
	if (i < SETTINGS) {
		enum cache_setting s = (enum cache_setting)i;
		*out = (struct reference_row){cache_setting_variable(s), "", cache_setting_help(s)};
		return true;
	}
	if (i - SETTINGS >= VARIABLES)
		return false;
	*out = variables[i - SETTINGS];
	return true;
}

bool reference_key(uint32_t i, struct reference_row *out)
{
	if (i >= KEYS)
		return false;
	*out = keys[i];
	return true;
}

bool reference_code(uint32_t i, struct reference_row *out)
{
	if (i >= CODES)
		return false;
	*out = codes[i];
	return true;
}

bool reference_foreign_row(uint32_t i, struct buf *scratch, struct reference_row *out)
{
	static const char *const of[] = {[FOREIGN_COMMAND] = "command of ",
					 [FOREIGN_FLAG] = "flag of ",
					 [FOREIGN_ACTION] = "action of ",
					 [FOREIGN_KEY] = "key of ",
					 [FOREIGN_BLOCK] = "block of "};
	const struct foreign_word *w = foreign_word_row(i);
	buf_clear(scratch);
	if (!w)
		return false;
	buf_printf(scratch, "%s%s", of[w->kind],
		   strcmp(w->places, "*") != 0 ? w->places
		   : w->kind == FOREIGN_KEY    ? "any block"
					       : "any command");
	buf_putc(scratch, '\0');
	size_t help = scratch->len;
	if (w->same)
		buf_printf(scratch, "as `%s%s`%s", w->kind == FOREIGN_FLAG ? "--" : "", w->same, w->text ? "; " : "");
	buf_puts(scratch, w->text ? w->text : "");
	*out = (struct reference_row){w->words, scratch->at, scratch->at + help};
	return true;
}

void reference_variables(struct buf *out)
{
	struct reference_row r;
	for (uint32_t i = 0; reference_variable(i, &r); i++)
		buf_printf(out, "  %-20s %-5s %s\n", r.name, r.values, r.help);
}

void reference_blocks(const char *blocks, struct buf *out)
{
	for (const char *c = blocks; *c; c++) {
		if (strncmp(c, "IN_", 3) == 0)
			c += 2;
		else if (*c == '|')
			c++;
		else
			buf_putc(out, *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c);
	}
}

void reference_manifest(struct buf *out)
{
	struct reference_row r;
	buf_puts(
		out,
		"A block begins in the first column: project NAME, model NAME, profile NAME, cache,\nserver, dependency NAME. Its keys are indented: key = value.\n\n");
	for (uint32_t i = 0; reference_key(i, &r); i++) {
		struct buf blocks = {0};
		reference_blocks(r.values, &blocks);
		buf_printf(out, "  %-15s %-22s %s\n", r.name, blocks.at, r.help);
		buf_free(&blocks);
	}
}

void reference_exit(struct buf *out)
{
	struct reference_row r;
	for (uint32_t i = 0; reference_code(i, &r); i++)
		buf_printf(out, "  %-4s %s\n", r.name, r.help);
}

void reference_foreign(struct buf *out)
{
	struct reference_row r;
	struct buf scratch = {0};
	buf_puts(
		out,
		"Words of ninja, cargo, rustc, ccache, C compilers and Python, the commands or blocks that know them,\nand what to write here. `*` is any text.\n");
	for (uint32_t i = 0; reference_foreign_row(i, &scratch, &r); i++)
		buf_printf(out, "\n  %s   (%s)\n      %s\n", r.name, r.values, r.help);
	buf_free(&scratch);
}
