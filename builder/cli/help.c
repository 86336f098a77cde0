#include "builder/cli/help.h"
#include <stdio.h>
#include <string.h>
#include "base/buf.h"
#include "builder/cli/actions.h"
#include "builder/cli/args.h"
#include "builder/cli/man.h"
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
#undef TOPIC
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
	static void (*const print[TOPIC_COUNT])(struct buf *) = {[TOPIC_VARIABLES] = reference_variables,
								 [TOPIC_MANIFEST] = reference_manifest,
								 [TOPIC_EXIT] = reference_exit,
								 [TOPIC_REFERENCE] = reference_markdown,
								 [TOPIC_MAN] = man_print};
	print[t](out);
}

/* Those of every command share one line. */
static void help_flags(enum command c, uint32_t action, struct buf *out)
{
	struct flag f;
	for (uint32_t i = 0; args_flag(i, &f); i++) {
		char name[64];
		if (f.everywhere || !args_flag_of(i, c, action) || !f.help)
			continue;
		snprintf(name, sizeof name, "--%s%s%s", f.name, f.takes ? " " : "", f.takes ? f.takes : "");
		if (f.letter)
			buf_printf(out, "  -%c, %-23s %s\n", f.letter, name, f.help);
		else
			buf_printf(out, "      %-23s %s\n", name, f.help);
	}
	buf_puts(out, "every command:");
	for (uint32_t i = 0; args_flag(i, &f); i++) {
		if (!f.everywhere)
			continue;
		buf_puts(out, "  ");
		if (f.letter)
			buf_printf(out, "-%c ", f.letter);
		buf_printf(out, "--%s%s%s", f.name, f.takes ? " " : "", f.takes ? f.takes : "");
	}
	buf_putc(out, '\n');
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
		const char *operands = command_operands((enum command)i);
		const char *word = command_text((enum command)i);
		int width = OPERANDS_END - (int)strlen(word) + (strstr(operands, "…") ? 2 : 0); /* in bytes */
		buf_printf(out, "  %s %-*s %s\n", word, width, operands, command_help((enum command)i));
	}
	buf_puts(
		out,
		"\n`trib COMMAND --help` lists the flags of a command. Also: `trib help variables`,\n`manifest`, `exit` or `man`. Exit codes: 0 done, 1 errors in the sources,\n"
		"2 wrong usage, 3 environment or I/O failure, 130 interrupted.\n");
}

void args_help(const struct args *args, struct buf *out)
{
	enum command c = args->command;
	const char *operands = command_operands(c);
	if (args->topic) {
		topic_print((enum topic)args->topic, out);
		return;
	}
	if (args->options.action) {
		action_help((enum action)args->options.action, out);
		help_flags(c, args->options.action, out);
		return;
	}
	if (!args->given) {
		help_overview(out);
		return;
	}
	buf_printf(out, "trib %s %s%s[FLAGS]\n%s\n\n", command_text(c), operands, *operands ? " " : "", command_help(c));
	if (command_has_actions(c)) {
		actions_help(c, out);
		buf_putc(out, '\n');
	}
	help_flags(c, ACTION_NONE, out);
	help_examples(c, out);
}
