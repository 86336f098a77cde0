/* Help, from the tables of commands, flags and topics. */
#ifndef TRIB_BUILDER_CLI_HELP_H
#define TRIB_BUILDER_CLI_HELP_H
#include "builder/cli/command.h"

struct args;
struct buf;

/* Topics of `trib help WORD` besides the commands. */
enum topic {
	TOPIC_NONE,
#define TOPIC(id, text, help) TOPIC_##id,
#include "builder/cli/topics.def"
	TOPIC_COUNT
};
/* TOPIC_NONE if there is no topic of that name. */
enum topic topic_find(const char *word);
const char *topic_text(enum topic t);
void topic_print(enum topic t, struct buf *out);
/* Help for one command, or the overview. */
void args_help(const struct args *args, struct buf *out);
#endif
