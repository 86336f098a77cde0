#include <stdio.h>
#include <string.h>
#include "base/buf.h"
#include "builder/cli/flags.h"
#include "builder/cli/reference.h"

/* Escapes `|`, which would end the cell. */
static void put_cell(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '|')
			buf_putc(out, '\\');
		buf_putc(out, *text);
	}
}

static void reference_markdown_put_row(struct buf *out, const char *name, const char *middle, const char *help)
{
	buf_puts(out, "| `");
	put_cell(out, name);
	buf_puts(out, "` | ");
	put_cell(out, middle);
	buf_puts(out, " | ");
	put_cell(out, help);
	buf_puts(out, " |\n");
}

static void put_title(struct buf *out, const char *title, const char *intro, const char *columns)
{
	buf_printf(out, "\n## %s\n\n%s%s| %s |\n|---|---|---|\n", title, intro, *intro ? "\n\n" : "", columns);
}

static void reference_markdown_put_commands(struct buf *out)
{
	put_title(out, "Commands", "`trib COMMAND --help` lists the flags of one command.", "command | operands | what it does");
	for (uint32_t i = 0; i < COMMAND_COUNT; i++)
		reference_markdown_put_row(out, command_table[i].name, command_table[i].operands, command_table[i].help);
}

static void reference_markdown_put_flags(struct buf *out)
{
	put_title(out, "Flags", "", "flag | commands | what it does");
	for (uint32_t i = 0; i < N_FLAGS; i++) {
		const struct flag *f = &flag_table[i];
		struct buf name = {0}, commands = {0};
		if (f->letter)
			buf_printf(&name, "-%c, ", f->letter);
		flag_put_name(f, &name);
		if (flag_is_global(f))
			buf_puts(&commands, "all");
		for (uint32_t c = 0; !flag_is_global(f) && c < COMMAND_COUNT; c++)
			if (flag_is_of(f, (enum command)c, ACTION_NONE))
				buf_printf(&commands, "%s%s", commands.len ? " " : "", command_table[c].name);
		reference_markdown_put_row(out, name.at, commands.at, f->help ? f->help : "as `--dump-tokens`, for another stage");
		buf_free(&name);
		buf_free(&commands);
	}
}

static void reference_markdown_put_keys(struct buf *out)
{
	struct reference_row r;
	put_title(
		out, "Keys of `tri.build`",
		"A block begins in the first column: `project NAME`, `model NAME`, `profile NAME`, `cache`, `server`, `dependency NAME`.\nIts keys are indented: `key = value`.",
		"key | blocks | value");
	for (uint32_t i = 0; reference_key(i, &r); i++) {
		struct buf blocks = {0};
		reference_blocks(r.values, &blocks);
		reference_markdown_put_row(out, r.name, blocks.at, r.help);
		buf_free(&blocks);
	}
}

static void put_variables(struct buf *out)
{
	struct reference_row r;
	put_title(out, "Environment variables", "None of them is read in a program with raised privileges (setuid).",
		  "variable | value | what it does");
	for (uint32_t i = 0; reference_variable(i, &r); i++)
		reference_markdown_put_row(out, r.name, r.values, r.help);
}

static void put_foreign(struct buf *out)
{
	struct reference_row r;
	struct buf scratch = {0};
	put_title(out, "Words of other tools",
		  "Flags, actions, keys and blocks that ninja, cargo, rustc, ccache, C compilers and Python know. `*` is any text.",
		  "word | commands or blocks | here");
	for (uint32_t i = 0; reference_foreign_row(i, &scratch, &r); i++)
		reference_markdown_put_row(out, r.name, r.values, r.help);
	buf_free(&scratch);
}

static void reference_markdown_put_codes(struct buf *out)
{
	struct reference_row r;
	buf_puts(out, "\n## Exit codes\n\n| code | meaning |\n|---|---|\n");
	for (uint32_t i = 0; reference_code(i, &r); i++)
		buf_printf(out, "| %s | %s |\n", r.name, r.help);
}

void reference_markdown(struct buf *out)
{
	buf_puts(out, "# Reference\n\n`trib help reference` prints this page from the tables in the code; `scripts/bless` rewrites it.\n");
	reference_markdown_put_commands(out);
	reference_markdown_put_flags(out);
	reference_markdown_put_keys(out);
	put_variables(out);
	put_foreign(out);
	reference_markdown_put_codes(out);
}
