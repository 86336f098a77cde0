/* The command line: words to a command and its options. */
#ifndef TRIB_BUILDER_CLI_ARGS_H
#define TRIB_BUILDER_CLI_ARGS_H
#include <stdbool.h>
#include "builder/cli/command.h"

struct arena;
struct buf;

struct args {
	enum command command;
	bool given;   /* the command was named */
	struct options options;
};
/* Everything in `a`. False: *error says what is wrong, with the nearest right spelling. */
bool args_parse(struct arena *a, int argc, char **argv, struct args *out, struct buf *error);
/* Joins relative paths that flags gave to `from`. True if there was one. */
bool args_rebase(struct arena *a, struct args *args, const char *from);
/* Help for one command, or the overview. */
void args_help(const struct args *args, struct buf *out);
#endif
