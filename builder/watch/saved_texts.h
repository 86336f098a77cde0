/* The texts of the project at the last save, to describe what the next save changes. */
#ifndef TRIB_BUILDER_WATCH_SAVED_TEXTS_H
#define TRIB_BUILDER_WATCH_SAVED_TEXTS_H
#include <stdbool.h>
#include "builder/watch/edit.h"

struct source;
struct saved_texts;

struct saved_texts *saved_texts_new(void);
void saved_texts_free(struct saved_texts *t); /* NULL is accepted */
/* Stores a text. `read`: as the build read it; if NULL, the file is read, unless it is binary or too long. */
void saved_texts_store(struct saved_texts *t, const char *path, const struct source *read);
/* True if the file existed at the last save. */
bool saved_texts_has(const struct saved_texts *t, const char *path);
/* Describes what a save changed in this file, and stores the new text. Memory is in `a`. */
struct edit saved_texts_update(struct saved_texts *t, struct arena *a, const char *path, const struct source *read);
#endif
