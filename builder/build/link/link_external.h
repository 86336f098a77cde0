/* Linking by an outside command (`linker = cc`), in place of our own linker. */
#ifndef TRIB_BUILDER_BUILD_LINK_LINK_EXTERNAL_H
#define TRIB_BUILDER_BUILD_LINK_LINK_EXTERNAL_H
#include <stdbool.h>

struct arena;
struct buf;
struct link_request;

/* Runs `command`, a C compiler driver found on PATH, over r's objects in the folder `scratch`, which is made and removed. Appends the
 * library. False: *error (arena text) says what failed, with the command's own words. */
bool link_external(struct arena *a, const struct link_request *request, const char *command, const char *scratch, struct buf *out,
		   const char **error);
#endif
