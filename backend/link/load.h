/* Bringing a library that link_shared made into this process, without a file: for code that is compiled while it runs. */
#ifndef TRIB_BACKEND_LINK_LOAD_H
#define TRIB_BACKEND_LINK_LOAD_H
#include <stddef.h>

/* Maps the image, which must need no other library; it stays for the life of the process. NULL: there is no memory for it (errno). */
const char *load_image(const void *bytes, size_t len);
/* The address of an export of that image; NULL: it has no such symbol. */
const void *load_symbol(const char *base, const char *name);
#endif
