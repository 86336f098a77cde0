/* The tables of commands and of their actions. The functions are in cmd_NAME.c. */
#ifndef TRIB_BUILDER_CLI_COMMAND_H
#define TRIB_BUILDER_CLI_COMMAND_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "builder/build/build.h"
#include "builder/manifest/options.h"

struct buf;

enum command {
#define COMMAND(id, name, operands, works_in, completes, help) COMMAND_##id,
#include "builder/cli/commands.def"
	COMMAND_COUNT
};
#define COMMAND(id, name, operands, works_in, completes, help) enum status cmd_##name(const struct options *o);
#include "builder/cli/commands.def"

enum works_in { WORKS_IN_PROJECT, WORKS_IN_FILES, WORKS_IN_ANYWHERE };
struct command_row {
	const char *name, *operands;
	enum works_in works_in;
	const char *completes, *help;
	enum status (*run)(const struct options *o);
};
extern const struct command_row command_table[COMMAND_COUNT];

/* `options.action` of commands with actions, as in `trib cache stats`. */
enum action {
	ACTION_NONE,
#define ACTION(command, id, name, fewest, most, operands, help) ACTION_##id,
#include "builder/cli/actions.def"
	ACTION_COUNT
};
struct action_row {
	enum command command;
	const char *name;
	uint32_t fewest, most; /* operands after the name */
	const char *operands;
	const char *help; /* NULL: not shown */
	bool is_default;
};
extern const struct action_row action_table[ACTION_COUNT]; /* ACTION_NONE is no action */

bool command_has_actions(enum command c);
/* True if the help of the command lists the action. */
bool action_is_shown(enum action a, enum command c);
/* Reads the action and counts its operands. Without operands: the default action, or an error. False: *error. */
bool action_parse(enum command c, const char *const *operands, uint32_t n, enum action *out, struct buf *error);
#endif
