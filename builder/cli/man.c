#include <stddef.h>
#include <string.h>
#include "base/buf.h"
#include "builder/cli/flags.h"
#include "builder/cli/reference.h"
#include "builder/version.h"

/* Escapes hyphens, backslashes, and requests at the start of a line for troff. */
static void man_put(struct buf *out, const char *text)
{
	if (*text == '.' || *text == '\'')
		buf_puts(out, "\\&");
	for (; *text; text++)
		if (*text == '-')
			buf_puts(out, "\\-");
		else if (*text == '\\')
			buf_puts(out, "\\e");
		else
			buf_putc(out, *text);
}

static void man_put_entry(struct buf *out, const char *term, const char *more, const char *help)
{
	buf_puts(out, ".TP\n\\fB");
	man_put(out, term);
	buf_puts(out, "\\fR ");
	man_put(out, more);
	buf_putc(out, '\n');
	man_put(out, help);
	buf_putc(out, '\n');
}

static void man_put_commands(struct buf *out)
{
	buf_puts(out, ".SH COMMANDS\n");
	for (uint32_t i = 0; i < COMMAND_COUNT; i++)
		man_put_entry(out, command_table[i].name, command_table[i].operands, command_table[i].help);
}

static void man_put_flags(struct buf *out)
{
	buf_puts(out, ".SH FLAGS\nNot every command takes all of them.\n");
	for (uint32_t i = 0; i < N_FLAGS; i++) {
		const struct flag *f = &flag_table[i];
		struct buf term = {0};
		if (!f->help)
			continue;
		if (f->letter)
			buf_printf(&term, "-%c, ", f->letter);
		buf_printf(&term, "--%s%s", f->name, flag_value_is_attached(f) ? f->value : "");
		man_put_entry(out, term.at, f->value && !flag_value_is_attached(f) ? f->value : "", f->help);
		buf_free(&term);
	}
}

static void put_rows(struct buf *out, const char *title, bool (*row)(uint32_t, struct reference_row *), bool values)
{
	struct reference_row r;
	buf_printf(out, ".SH %s\n", title);
	for (uint32_t i = 0; row(i, &r); i++)
		man_put_entry(out, r.name, values ? r.values : "", r.help);
}

static void put_files(struct buf *out)
{
	buf_puts(out, ".SH FILES\n");
	man_put_entry(out, "tri.build", "", "the manifest of a project");
	man_put_entry(out, "tri.lock", "", "the commits of its dependencies");
	man_put_entry(out, ".trib", "", "build records of the project; may be removed");
	man_put_entry(out, "~/.config/trib/config", "", "settings of the user: `trib config`");
	man_put_entry(out, "~/.cache/trib", "", "the cache of all projects");
}

void man_print(struct buf *out)
{
	buf_printf(out, ".TH TRIB 1 \"\" \"trib %s\" \"User commands\"\n", TRIB_VERSION);
	buf_puts(
		out,
		".SH NAME\ntrib \\- build system and compiler for ternary neural networks\n"
		".SH SYNOPSIS\n.B trib\n.RI [ command \"] [\" operands \"] [\" flags ]\n"
		".SH DESCRIPTION\nCompiles models written in the language\n.I .tri\nto shared libraries with a C interface, as\n.I tri.build\ndescribes. It compiles only what changed.\n"
		"Without a command it builds the project around the current folder.\n.B trib COMMAND \\-\\-help\nlists the flags of a command.\n"
		".B trib help foreign\nlists words of other tools, and what to write here.\n");
	man_put_commands(out);
	man_put_flags(out);
	put_rows(out, "MANIFEST KEYS", reference_key, false);
	put_rows(out, "ENVIRONMENT", reference_variable, true);
	put_files(out);
	put_rows(out, "EXIT STATUS", reference_code, false);
}
