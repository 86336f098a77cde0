/* A build of one file without a manifest: `trib build FILE.tri`. */
#ifndef TRIB_BUILDER_MANIFEST_SINGLE_FILE_H
#define TRIB_BUILDER_MANIFEST_SINGLE_FILE_H
#include <stdbool.h>

struct arena;
struct diags;
struct frontend;
struct manifest;
struct model_spec;
struct options;

/* True if the options name a source file, not models of a project. */
bool single_file_requested(const struct options *o);
/* Makes a manifest with one model, named after the library or the file. NULL: reported. */
struct manifest *single_file_manifest(struct arena *session, const struct options *o, struct diags *diags);
/* Returns the path of --out if it names a library, not a folder; else NULL. */
const char *single_file_library(const struct options *o);
/* Returns the folder of --out, or NULL if it is not given. */
const char *single_file_folder(struct arena *a, const struct options *o);
/* Chooses the entry if the options name none: the layer with `@export`, or the last layer of the loaded file. False: reported. */
bool single_file_choose_entry(struct arena *session, struct frontend *f, struct model_spec *s, struct diags *diags);
#endif
