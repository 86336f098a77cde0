/* A private copy of a project, so that measured builds change nothing of the original: sources are copied, other files are links. */
#ifndef TRIB_BUILDER_PROFILE_WORKSPACE_H
#define TRIB_BUILDER_PROFILE_WORKSPACE_H
#include <stdbool.h>
#include <stdint.h>
#include "base/vec.h"

struct arena;
struct buf;

struct workspace {
	struct arena *arena;
	const char *folder;        /* in the folder for temporary files */
	const char *project;       /* FOLDER/project */
	const char *cache;         /* FOLDER/cache: the user's cache of the builds in it */
	VEC(const char *) sources; /* relative to the project: the copied .tri files */
};

/* The outputs of builds in a workspace, in the project's folder. */
#define WORKSPACE_OUT "profile-output"

/* Copies the project in `root`, but for hidden files, such as its store. A `root` that is a file .tri: the files beside it; folders are links. False: *error is
 * a sentence. Close it all the same. */
bool workspace_open(struct workspace *w, const char *root, struct buf *error);
void workspace_close(struct workspace *w); /* removes the folder */
/* Remove the store and the outputs; and the cache. */
void workspace_forget_build(const struct workspace *w);
void workspace_forget_cache(const struct workspace *w);

struct source_edit {
	const char *path;          /* of the file; NULL: none was found */
	const char *text;          /* of the file before all edits */
	size_t at, end;            /* the value that is returned */
	uint32_t number, comments; /* what is added to the value, and which comment; 0: nothing and none */
};
/* Finds the next `return` after e->end. False: there is none. */
bool source_edit_next(struct source_edit *e);
/* Writes the file. False: *error is a sentence. */
bool source_edit_write(const struct source_edit *e, struct buf *error);
#endif
