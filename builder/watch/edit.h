/* What a save changed in one file, in a few words: `gain.tri:14 `hidden` 256→512`. */
#ifndef TRIB_BUILDER_WATCH_EDIT_H
#define TRIB_BUILDER_WATCH_EDIT_H
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;

struct edit {
	const char *file;
	uint32_t line;    /* 0: of no line */
	const char *name; /* of what changed: a definition, a name that has another value, a key of the manifest; NULL: none is known */
	uint32_t more;    /* definitions besides `name` */
	const char *before, *after; /* of a small change; NULL: it is none */
	const char *what;           /* in words, where there is no name: "comments"; else NULL */
};
/* A text; `at` NULL: there is no file. */
struct edit_text {
	const char *at;
	size_t len;
};
/* Everything in `a`. */
struct edit edit_describe(struct arena *a, const char *file, struct edit_text before, struct edit_text after);
void edit_print(const struct edit *e, struct buf *out);
#endif
