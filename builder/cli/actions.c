#include "builder/cli/actions.h"
#include <string.h>
#include "base/buf.h"
#include "base/diag.h"

static const struct {
	enum command command;
	const char *text;
	uint32_t least, most;
	const char *operands, *help;
} actions[] = {
#define ACTION(command, id, text, least, most, operands, help) {COMMAND_##command, text, least, most, operands, help},
#include "builder/cli/actions.def"
#undef ACTION
};
/* What a command does without operands. */
static const enum action defaults[COMMAND_COUNT] = {[COMMAND_CACHE] = ACTION_NONE,
						    [COMMAND_CONFIG] = ACTION_CONFIG_LIST,
						    [COMMAND_SERVER] = ACTION_SERVER_STATUS,
						    [COMMAND_PCH] = ACTION_NONE};

const char *action_text(enum action a) { return a == ACTION_NONE ? "" : actions[a - 1].text; }

bool action_is_shown(enum action a) { return a != ACTION_NONE && actions[a - 1].help; }

bool action_is_of(enum action a, enum command c) { return a != ACTION_NONE && actions[a - 1].command == c; }

bool command_has_actions(enum command c)
{
	for (uint32_t a = 1; a < ACTION_COUNT; a++)
		if (action_is_of((enum action)a, c))
			return true;
	return false;
}

/* "stats, clear, prune or validate". */
static void put_names(enum command c, struct buf *out)
{
	const char *names[ACTION_COUNT];
	uint32_t n = 0;
	for (uint32_t a = 1; a < ACTION_COUNT; a++)
		if (action_is_of((enum action)a, c) && actions[a - 1].help)
			names[n++] = actions[a - 1].text;
	for (uint32_t i = 0; i < n; i++)
		buf_printf(out, "%s%s", i == 0 ? "" : i + 1 == n ? " or " : ", ", names[i]);
}

static bool unknown(enum command c, const char *word, struct buf *error)
{
	const char *names[ACTION_COUNT];
	uint32_t n = 0;
	for (uint32_t a = 1; a < ACTION_COUNT; a++)
		if (action_is_of((enum action)a, c) && actions[a - 1].help)
			names[n++] = actions[a - 1].text;
	const char *near = diag_nearest(word, names, n);
	buf_printf(error, "`trib %s` has no `%s`; ", command_text(c), word);
	if (near)
		buf_printf(error, "did you mean `%s`?", near);
	else
		buf_puts(error, "it wants "), put_names(c, error);
	return false;
}

bool action_parse(enum command c, const char *const *operands, uint32_t n, enum action *out, struct buf *error)
{
	*out = defaults[c];
	if (n == 0 && *out == ACTION_NONE) {
		buf_printf(error, "`trib %s` wants ", command_text(c));
		put_names(c, error);
		return false;
	}
	if (n == 0)
		return true;
	uint32_t a = 1;
	while (a < ACTION_COUNT && !(action_is_of((enum action)a, c) && strcmp(actions[a - 1].text, operands[0]) == 0))
		a++;
	if (a == ACTION_COUNT)
		return unknown(c, operands[0], error);
	*out = (enum action)a;
	if (n - 1 >= actions[a - 1].least && n - 1 <= actions[a - 1].most)
		return true;
	buf_printf(error, "`trib %s %s` is written: trib %s %s%s%s", command_text(c), operands[0], command_text(c), operands[0],
		   *actions[a - 1].operands ? " " : "", actions[a - 1].operands);
	return false;
}

void actions_help(enum command c, struct buf *out)
{
	for (uint32_t a = 1; a < ACTION_COUNT; a++)
		if (action_is_of((enum action)a, c) && actions[a - 1].help)
			buf_printf(out, "  %-8s %-18s %s\n", actions[a - 1].text, actions[a - 1].operands, actions[a - 1].help);
}

void action_help(enum action a, struct buf *out)
{
	const char *operands = actions[a - 1].operands;
	buf_printf(out, "trib %s %s %s%s[FLAGS]\n%s\n\n", command_text(actions[a - 1].command), actions[a - 1].text, operands,
		   *operands ? " " : "", actions[a - 1].help ? actions[a - 1].help : "for trib itself");
}
