#include "builder/cli/command.h"
#include <string.h>
#include "base/buf.h"
#include "base/diag.h"

const struct command_row command_table[COMMAND_COUNT] = {
#define COMMAND(id, name, operands, works_in, completes, help) {#name, operands, WORKS_IN_##works_in, completes, help, cmd_##name},
#include "builder/cli/commands.def"
};
const struct action_row action_table[ACTION_COUNT] = {
	{.command = COMMAND_COUNT},
#define ACTION(command, id, name, fewest, most, operands, help) {COMMAND_##command, name, fewest, most, operands, help, false},
#define DEFAULT_ACTION(command, id, name, fewest, most, operands, help) {COMMAND_##command, name, fewest, most, operands, help, true},
#include "builder/cli/actions.def"
};

bool command_has_actions(enum command c)
{
	for (uint32_t a = 1; a < ACTION_COUNT; a++)
		if (action_table[a].command == c)
			return true;
	return false;
}

bool action_is_shown(enum action a, enum command c) { return action_table[a].command == c && action_table[a].help; }

static uint32_t shown_names(enum command c, const char *names[ACTION_COUNT])
{
	uint32_t n = 0;
	for (uint32_t a = 1; a < ACTION_COUNT; a++)
		if (action_is_shown((enum action)a, c))
			names[n++] = action_table[a].name;
	return n;
}

/* "stats, clear, prune or validate". */
static void command_put_names(enum command c, struct buf *out)
{
	const char *names[ACTION_COUNT];
	uint32_t n = shown_names(c, names);
	for (uint32_t i = 0; i < n; i++)
		buf_printf(out, "%s%s", i == 0 ? "" : i + 1 == n ? " or " : ", ", names[i]);
}

static bool unknown_action(enum command c, const char *word, struct buf *error)
{
	const char *names[ACTION_COUNT];
	const char *near = diag_nearest(word, names, shown_names(c, names));
	buf_printf(error, "`trib %s` has no action `%s`; ", command_table[c].name, word);
	if (near)
		buf_printf(error, "did you mean `%s`?", near);
	else
		buf_puts(error, "use "), command_put_names(c, error);
	return false;
}

static bool default_action(enum command c, enum action *out, struct buf *error)
{
	for (uint32_t a = 1; a < ACTION_COUNT; a++)
		if (action_table[a].command == c && action_table[a].is_default) {
			*out = (enum action)a;
			return true;
		}
	buf_printf(error, "`trib %s` needs an action: ", command_table[c].name);
	command_put_names(c, error);
	return false;
}

bool action_parse(enum command c, const char *const *operands, uint32_t n, enum action *out, struct buf *error)
{
	uint32_t a = 1;
	if (n == 0)
		return default_action(c, out, error);
	while (a < ACTION_COUNT && !(action_table[a].command == c && strcmp(action_table[a].name, operands[0]) == 0))
		a++;
	if (a == ACTION_COUNT)
		return unknown_action(c, operands[0], error);
	*out = (enum action)a;
	const struct action_row *row = &action_table[a];
	if (n - 1 >= row->fewest && n - 1 <= row->most)
		return true;
	buf_printf(error, "wrong number of operands: write `trib %s %s%s%s`", command_table[c].name, row->name, *row->operands ? " " : "",
		   row->operands);
	return false;
}
