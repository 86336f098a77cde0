#include "builder/cli/help.h"
#include <stdio.h>
#include <string.h>
#include "base/buf.h"
#include "builder/cli/args.h"
#include "builder/cli/flags.h"
#include "builder/cli/reference.h"

static const struct {
	enum command command;
	const char *line;
} examples[] = {
#define EXAMPLE(command, line) {COMMAND_##command, line},
#include "builder/cli/examples.def"
};

static const char *const topics[][2] = {
	{"", ""},
#define TOPIC(id, text, help) {text, help},
#include "builder/cli/topics.def"
};

enum topic topic_find(const char *word)
{
	for (uint32_t i = 1; i < TOPIC_COUNT; i++)
		if (strcmp(topics[i][0], word) == 0)
			return (enum topic)i;
	return TOPIC_NONE;
}

const char *topic_text(enum topic t) { return topics[t][0]; }

void topic_print(enum topic t, struct buf *out)
{
	static void (*const print[TOPIC_COUNT])(struct buf *) = {
		[TOPIC_VARIABLES] = reference_variables, [TOPIC_MANIFEST] = reference_manifest,  [TOPIC_EXIT] = reference_exit,
		[TOPIC_FOREIGN] = reference_foreign,     [TOPIC_REFERENCE] = reference_markdown, [TOPIC_MAN] = man_print};
	print[t](out);
}

/* Lists the flags of a command; those that every command takes share one line. */
static void help_flags(enum command c, enum action action, struct buf *out)
{
	struct buf global = {0};
	for (uint32_t i = 0; i < N_FLAGS; i++) {
		const struct flag *f = &flag_table[i];
		struct buf name = {0};
		flag_put_name(f, &name);
		if (flag_is_global(f))
			f->letter ? buf_printf(&global, "  -%c %s", f->letter, name.at) : buf_printf(&global, "  %s", name.at);
		else if (flag_is_of(f, c, action) && f->help && f->letter)
			buf_printf(out, "  -%c, %-23s %s\n", f->letter, name.at, f->help);
		else if (flag_is_of(f, c, action) && f->help)
			buf_printf(out, "      %-23s %s\n", name.at, f->help);
		buf_free(&name);
	}
	buf_printf(out, "every command:%s\n", global.at);
	buf_free(&global);
}

static void help_examples(enum command c, struct buf *out)
{
	buf_puts(out, "\nexamples:\n");
	for (uint32_t i = 0; i < sizeof examples / sizeof *examples; i++)
		if (examples[i].command == c)
			buf_printf(out, "    %s\n", examples[i].line);
}

enum { OPERANDS_END = 20 }; /* column */

static void help_overview(struct buf *out)
{
	buf_puts(
		out,
		"trib builds ternary neural networks: in a folder with a tri.build it compiles\nwhat changed and links a native library for each model.\n\n"
		"trib [COMMAND] [OPERANDS] [FLAGS]\n\n");
	for (uint32_t i = 0; i < COMMAND_COUNT; i++) {
		const struct command_row *c = &command_table[i];
		int width = OPERANDS_END - (int)strlen(c->name) + (strstr(c->operands, "…") ? 2 : 0); /* in bytes */
		buf_printf(out, "  %s %-*s %s\n", c->name, width, c->operands, c->help);
	}
	buf_puts(
		out,
		"\n`trib COMMAND --help` lists the flags of a command. Also: `trib help variables`,\n`manifest`, `foreign` (words of other tools), `exit` or `man`. Exit codes: 0 done,\n"
		"1 errors in the sources, 2 wrong usage, 3 environment or I/O, 130 interrupted.\n");
}

static void help_actions(enum command c, struct buf *out)
{
	for (uint32_t i = 1; i < ACTION_COUNT; i++) {
		const struct action_row *a = &action_table[i];
		if (action_is_shown((enum action)i, c))
			buf_printf(out, "  %-8s %-18s %s\n", a->name, a->operands, a->help);
	}
	if (command_has_actions(c))
		buf_putc(out, '\n');
}

static void help_title(const char *command, const char *action, const char *operands, const char *help, struct buf *out)
{
	buf_printf(out, "trib %s %s%s%s%s[FLAGS]\n%s\n\n", command, action, *action ? " " : "", operands, *operands ? " " : "", help);
}

void args_help(const struct args *args, struct buf *out)
{
	const struct command_row *c = &command_table[args->command];
	const struct action_row *a = &action_table[args->options.action];
	if (args->topic) {
		topic_print((enum topic)args->topic, out);
	} else if (args->options.action) {
		help_title(c->name, a->name, a->operands, a->help ? a->help : "for trib itself", out);
		help_flags(args->command, (enum action)args->options.action, out);
	} else if (!args->names_a_command) {
		help_overview(out);
	} else {
		help_title(c->name, "", c->operands, c->help, out);
		help_actions(args->command, out);
		help_flags(args->command, ACTION_NONE, out);
		help_examples(args->command, out);
	}
}
