/* The commands: one function each, in cmd_<name>.c. */
#ifndef TRIB_BUILDER_CLI_COMMAND_H
#define TRIB_BUILDER_CLI_COMMAND_H
#include <stdio.h>
#include "builder/build/build.h"
#include "builder/manifest/options.h"

enum command {
#define COMMAND(id, name, operands, help) COMMAND_##id,
#include "builder/cli/commands.def"
#undef COMMAND
	COMMAND_COUNT
};

/* In `struct options`, for commands with actions. */
enum action {
	ACTION_NONE,
#define ACTION(command, id, text, least, most, operands, help) ACTION_##id,
#include "builder/cli/actions.def"
#undef ACTION
	ACTION_COUNT
};

#define COMMAND(id, name, operands, help) enum status cmd_##name(const struct options *o);
#include "builder/cli/commands.def"
#undef COMMAND

const char *command_text(enum command c);
const char *command_operands(enum command c);
const char *command_help(enum command c);
enum status command_run(enum command c, const struct options *o);
#endif
