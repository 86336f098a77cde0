/* Describes what a save changed in one file: `gain.tri:14 `hidden` 256→512`. */
#ifndef TRIB_BUILDER_WATCH_EDIT_H
#define TRIB_BUILDER_WATCH_EDIT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/map.h"
#include "base/vec.h"

struct arena;
struct buf;
struct source;

struct edit {
	const char *file;
	uint32_t line;              /* 0 if it is unknown */
	const char *name;           /* the changed definition, value or manifest key; NULL if it is unknown */
	uint32_t more;              /* changed definitions besides `name` */
	const char *before, *after; /* of a small change, else NULL */
	const char *what;           /* in words, where there is no name: "comments"; else NULL */
};
struct edit_text {
	const char *at; /* NULL if there is no file */
	size_t len;
};
/* Compares the tokens of a source, or the lines of another text. All memory is in `a`. */
struct edit edit_describe(struct arena *a, const char *file, struct edit_text before, struct edit_text after);
void edit_print(const struct edit *e, struct buf *out);

/* ---- saved_texts.c: The texts of the project at the last save, to describe what the next save changes. ---- */
struct saved_texts { /* zero-initialised */
	VEC(struct saved_text {
		char *at; /* NULL if there is no file */
		size_t len;
		bool incomparable; /* binary, or too long to compare */
	})
	list;
	struct map index; /* path → list index */
};
void saved_texts_free(struct saved_texts *t);
/* Stores a text. `read`: as the build read it; if NULL, the file is read, unless it is binary or too long. */
void saved_texts_store(struct saved_texts *t, const char *path, const struct source *read);
/* True if the file existed at the last save. */
bool saved_texts_has(const struct saved_texts *t, const char *path);
/* Describes what a save changed in this file, and stores the new text. Memory is in `a`. */
struct edit saved_texts_update(struct saved_texts *t, struct arena *a, const char *path, const struct source *read);
#endif
