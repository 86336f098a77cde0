/* The table of flags: which commands take them, and how their values are read. */
#ifndef TRIB_BUILDER_CLI_FLAGS_H
#define TRIB_BUILDER_CLI_FLAGS_H
#include <stddef.h>
#include "builder/cli/command.h"

struct arena;

enum flag_kind {
	FLAG_TRI,            /* int: 1 if given, -1 if not */
	FLAG_BOOL,           /* bool */
	FLAG_COUNT,          /* int: a positive number */
	FLAG_LIMIT,          /* int: a number; it may be left out, as in `-k` */
	FLAG_LOAD,           /* double: positive */
	FLAG_TOLERANCE,      /* double: not negative */
	FLAG_DURATION,       /* double: nanoseconds */
	FLAG_TEXT,           /* const char * */
	FLAG_PATH,           /* the same; a relative path */
	FLAG_PROGRAM,        /* the same; a path if it contains a slash */
	FLAG_LIST,           /* appended to options.inputs or options.run.outputs; may be given several times */
	FLAG_LEVEL,          /* int: an optimisation level */
	FLAG_EMIT,           /* const char *: a list of outputs */
	FLAG_DEVICES,        /* const char *: devices with commas between them; a number is that of an OpenCL device */
	FLAG_DUMP,           /* a bit of options.dumps */
	FLAG_DUMP_EMIT,      /* const char *: what --emit says; and a bit of options.dumps */
	FLAG_DUMP_IR,        /* the same, and const char *: the stage or pass that may follow in the same word, as in `--dump-ir=fold` */
	FLAG_DUMP_PROGRAM,   /* the same */
	FLAG_DUMP_LOOPS,     /* the same */
	FLAG_STAGE,          /* enum stop_stage; this and the following kinds take one word of a list */
	FLAG_COLOR,          /* enum color_when */
	FLAG_MESSAGE_FORMAT, /* int: 1 for json */
	FLAG_TEXT_FORMAT,    /* enum print_format */
	FLAG_GRAPH_FORMAT,   /* enum print_format */
	FLAG_REPORT_FORMAT,  /* enum print_format */
	FLAG_SCENARIO,       /* enum scenario */
	FLAG_ANNOTATIONS,    /* enum annotations */
	FLAG_METRIC,         /* uint32_t: 0 CPU, 1 wall, 2 instructions */
	FLAG_KINDS
};
struct flag {
	char letter;              /* 0: none */
	const char *name, *value; /* value: its name in the help, in brackets if it may be left out; NULL: the flag takes none */
	enum flag_kind kind;
	size_t member;     /* offset in struct options */
	uint64_t commands; /* a bit for each command, from bit 32 on for each action */
	const char *help;  /* NULL: not shown */
};
enum {
	N_FLAGS = 0
#define FLAG(letter, name, value, kind, member, commands, help) +1
#include "builder/cli/flags.def"
};
extern const struct flag flag_table[N_FLAGS];
enum { MAX_JOBS = 100000 };

/* True if the command takes the flag; with an action, if that action does. */
bool flag_is_of(const struct flag *f, enum command c, enum action a);
/* True if every command takes the flag. */
bool flag_is_global(const struct flag *f);
/* Appends "--jobs N". */
void flag_put_name(const struct flag *f, struct buf *out);
bool flag_value_is_optional(const struct flag *f);
bool flag_value_is_attached(const struct flag *f); /* only `--flag=VALUE` */
/* True if only an optional value can follow: `-k 3`, but not `-k model`. */
bool flag_takes_word(const struct flag *f, const char *word);
/* Appends ": it is a flag of `trib build`, `trib cache prune`"; nothing if no command has such a flag. */
void flag_put_owners(const char *name, struct buf *out);
/* Reads the value into `options`. `value` is NULL if the flag has none. The lists of `options` must have room. False: *error. */
bool flag_set(const struct flag *f, const char *value, struct arena *a, struct options *options, struct buf *error);
/* The words that a flag of this kind takes; some may be empty. NULL if it takes other values. */
const char *const *flag_words(enum flag_kind kind, uint32_t *n);
/* True if the flags of one command that were given go together. False: *error. `given` has N_FLAGS members. */
bool flag_check_relations(enum command c, const bool *given, struct buf *error);
#endif
