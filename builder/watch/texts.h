/* The texts of the project as they were at the last save, to say what the next one changed. */
#ifndef TRIB_BUILDER_WATCH_TEXTS_H
#define TRIB_BUILDER_WATCH_TEXTS_H
#include <stdbool.h>
#include "builder/watch/edit.h"

struct source;
struct texts;

struct texts *texts_new(void);
void texts_free(struct texts *t); /* NULL is accepted */
/* `read`: the text as the build read it, or NULL: the file is read now, if it is a text of usual size. */
void texts_note(struct texts *t, const char *path, const struct source *read);
/* Was there such a file? */
bool texts_known(const struct texts *t, const char *path);
/* What a save of this file changed; the new text takes the place of the old one. Memory in `a`. */
struct edit texts_edit(struct texts *t, struct arena *a, const char *path, const struct source *read);
#endif
