/* The shared modules of trib, opened only when they are needed. */
#ifndef TRIB_BUILDER_MODULE_H
#define TRIB_BUILDER_MODULE_H

struct arena;

/* Returns the path of libtrib-NAME.so, or of libtrib.so if the name is "", in `a`. It is beside the executable or in lib/trib of the
 * installation. NULL if it is missing. */
const char *module_path(struct arena *a, const char *name);
/* Called in libtrib.so: returns the path of the executable trib in the same installation, in `a`; NULL if it is missing. */
const char *module_program(struct arena *a);
/* Opens a module and calls its entry symbol, which must return a struct that starts with a uint32_t equal to `abi`. The result is valid
 * until the process ends. NULL: *error, in `a`. */
const void *module_open(struct arena *a, const char *name, const char *entry, unsigned abi, const char **error);
#endif
