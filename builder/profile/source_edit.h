/* A small edit of a source in a workspace: a `return` of one line gets another value, and the file another comment. */
#ifndef TRIB_BUILDER_PROFILE_SOURCE_EDIT_H
#define TRIB_BUILDER_PROFILE_SOURCE_EDIT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

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
