/* The actions of a command, as in `trib cache stats`. */
#ifndef TRIB_BUILDER_CLI_ACTIONS_H
#define TRIB_BUILDER_CLI_ACTIONS_H
#include <stdint.h>
#include "builder/cli/command.h"

struct buf;

bool command_has_actions(enum command c);
/* "stats", "put". */
const char *action_text(enum action a);
/* False: for trib itself. */
bool action_is_shown(enum action a);
/* True if action `a` belongs to command `c`. */
bool action_is_of(enum action a, enum command c);
/* The action that the operands name; ACTION_NONE with an empty *error where they name none and the command has no default. False: *error. */
bool action_parse(enum command c, const char *const *operands, uint32_t n, enum action *out, struct buf *error);
/* One line for each action of `c`. */
void actions_help(enum command c, struct buf *out);
/* The help of one action: how it is written and what it does. */
void action_help(enum action a, struct buf *out);
#endif
