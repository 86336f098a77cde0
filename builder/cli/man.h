/* The manual page, from the tables. */
#ifndef TRIB_BUILDER_CLI_MAN_H
#define TRIB_BUILDER_CLI_MAN_H

struct buf;

void man_print(struct buf *out);
#endif
