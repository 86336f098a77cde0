/* The parts of trib that are shared objects of their own, opened only when there is work for them. */
#ifndef TRIB_BUILDER_MODULE_H
#define TRIB_BUILDER_MODULE_H

struct arena;

/* The path of libtrib-NAME.so, or of libtrib.so if the name is "", beside the executable or in lib/trib of its installation, in `a`; NULL: nowhere. */
const char *module_path(struct arena *a, const char *name);
/* The executable trib of the installation that libtrib.so, where this code is, belongs to, in `a`; NULL: nowhere. */
const char *module_program(struct arena *a);
/* Opens it and calls its entry symbol, which must return a struct that starts with a uint32_t equal to `abi`. The result stays valid until the process
 * ends. NULL: *error (in `a`) says why. */
const void *module_open(struct arena *a, const char *name, const char *entry, unsigned abi, const char **error);
#endif
