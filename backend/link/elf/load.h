/* Loads a library that link_shared wrote into this process, without a file: for units that are compiled at their first call. */
#ifndef TRIB_BACKEND_LINK_ELF_LOAD_H
#define TRIB_BACKEND_LINK_ELF_LOAD_H
#include <stddef.h>
#include <stdint.h>

/* Loads the image, which must import nothing, and returns its address. It is never unloaded. Returns NULL if there is no memory; see
 * errno. */
const char *load_image(const void *bytes, size_t len);
/* Returns the address of an export of the image, or NULL. */
const void *load_symbol(const char *base, const char *name);

typedef void load_function(void *ctx, const char *name, uint64_t at, uint64_t size);
/* Calls f for each function of an image that link_shared wrote, with its name for people and its place in the image. */
void load_functions(const void *image, size_t len, load_function *f, void *ctx);
#endif
