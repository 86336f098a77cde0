/* The words of a command line while they are read. args.c reads the command and its operands, args_flags.c the flags. */
#ifndef TRIB_BUILDER_CLI_ARGS_STATE_H
#define TRIB_BUILDER_CLI_ARGS_STATE_H
#include "builder/cli/args.h"
#include "builder/cli/flags.h"

struct buf;
struct foreign_word;

struct arg_parser {
	struct arena *a;
	struct args *out;
	struct buf *error;
	char **argv;
	int argc, at;
	bool given[N_FLAGS];
	bool needs_file; /* `trib compile` */
	const char **operands, **command;
};

const char *args_command(const struct arg_parser *p);
/* True if the command takes the flag, in any of its actions. */
bool args_has_flag(const struct arg_parser *p, const struct flag *flag);
/* Reads a word that begins with `--`, and its value if that is the next word. False: *error. */
bool args_long_flag(struct arg_parser *p, const char *word);
/* The same with a word that begins with `-`: -j4, -j 4, -kv. */
bool args_short_flags(struct arg_parser *p, const char *word);
/* True if the word is a flag whose value is the next word, whatever the command. */
bool args_takes_next(struct arg_parser *p, const char *word, const char *next);
/* Refuses a word of another tool with what to write here. Returns false. */
bool args_refuse_foreign(struct arg_parser *p, const char *what, const char *word, const struct foreign_word *foreign_word);
#endif
