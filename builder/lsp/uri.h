/* file:// URIs and paths. */
#ifndef TRIB_BUILDER_LSP_URI_H
#define TRIB_BUILDER_LSP_URI_H

struct arena;

/* The normalised path of a file URI; any other URI (untitled:1) as it is. */
const char *uri_path(struct arena *a, const char *uri);
/* The URI of an absolute path; what is no absolute path stays as it is. */
const char *uri_of_path(struct arena *a, const char *path);
#endif
