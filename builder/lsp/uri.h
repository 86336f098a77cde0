/* file:// URIs and paths. */
#ifndef TRIB_BUILDER_LSP_URI_H
#define TRIB_BUILDER_LSP_URI_H

struct arena;

/* Returns the normalised path of a file URI, and any other URI (untitled:1) unchanged. */
const char *uri_path(struct arena *a, const char *uri);
/* Returns the URI of an absolute path, and any other path unchanged. */
const char *uri_of_path(struct arena *a, const char *path);
#endif
