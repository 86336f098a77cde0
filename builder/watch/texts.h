/* The texts of the project as they were at the last save, to say what the next one changed. */
#ifndef TRIB_BUILDER_WATCH_TEXTS_H
#define TRIB_BUILDER_WATCH_TEXTS_H
#include <stdbool.h>
#include "builder/watch/edit.h"

struct texts;

struct texts *texts_new(void);
void texts_free(struct texts *t); /* NULL is accepted */
/* Reads the file, if it is a text of usual size. */
void texts_note(struct texts *t, const char *path);
bool texts_known(const struct texts *t, const char *path);
/* What a save of this file changed; the new text takes the place of the old one. Memory in `a`. */
struct edit texts_edit(struct texts *t, struct arena *a, const char *path);
#endif
