/* Addresses of repositories: URLs, `host:path`, and local paths. */
#ifndef TRIB_BUILDER_DEPS_ADDRESS_H
#define TRIB_BUILDER_DEPS_ADDRESS_H
#include <stdbool.h>

struct arena;

/* True if the address is neither a path nor file://. */
bool address_is_remote(const char *url);
/* The address `url` as it is meant in a manifest of the repository `base` ("": the project). In `a`. */
const char *address_join(struct arena *a, const char *base, const char *url);
/* The address with a local path made absolute. In `a`. */
const char *address_absolute(struct arena *a, const char *url);
/* The local path of an address, or NULL if it is a URL or `host:path`. */
const char *address_local_path(const char *url);
#endif
