/* The command line: words to a command and its options, and the folder that it works in. */
#ifndef TRIB_BUILDER_CLI_ARGS_H
#define TRIB_BUILDER_CLI_ARGS_H
#include <stdbool.h>
#include "builder/cli/command.h"

struct arena;

struct args {
	enum command command;
	uint32_t topic;       /* of `trib help WORD`; 0: none */
	bool names_a_command; /* false: the default command */
	bool names_remedy;    /* the error says what to write */
	struct options options;
};
/* Everything in `a`. False: *error describes the mistake, with the nearest correct spelling. */
bool args_parse(struct arena *a, int argc, char **argv, struct args *out, struct buf *error);

/* Changes to the folder of --directory. If the command works on a project, then changes to the nearest folder above with a manifest.
 * Relative paths of the command line are adjusted. False: an error was printed. */
bool change_to_project(struct arena *a, struct args *args);
#endif
