/* The command line: words to a command and its options. */
#ifndef TRIB_BUILDER_CLI_ARGS_H
#define TRIB_BUILDER_CLI_ARGS_H
#include <stdbool.h>
#include <stdint.h>
#include "builder/cli/command.h"

struct arena;
struct buf;

struct args {
	enum command command;
	uint32_t topic; /* of `trib help WORD`; 0: none */
	bool given;     /* the command was named */
	struct options options;
};
/* Everything in `a`. False: *error says what is wrong, with the nearest right spelling. */
bool args_parse(struct arena *a, int argc, char **argv, struct args *out, struct buf *error);
/* Joins relative paths that flags gave to `from`. True if there was one. */
bool args_rebase(struct arena *a, struct args *args, const char *from);

struct flag {
	char letter;                     /* 0: none */
	const char *name, *takes, *help; /* takes: NULL, no value; help: NULL, not shown */
	bool everywhere;                 /* every command takes it */
};
/* The i-th flag of the table; false: there are fewer. True if the command, with that action (0: any), takes it. */
bool args_flag(uint32_t i, struct flag *out);
bool args_flag_of(uint32_t i, enum command c, uint32_t action);
#endif
