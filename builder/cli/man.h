/* The manual page, from the tables of commands, flags, variables and keys. */
#ifndef TRIB_BUILDER_CLI_MAN_H
#define TRIB_BUILDER_CLI_MAN_H

struct buf;

void man_print(struct buf *out);
#endif
