/* The folders whose entries decide what a build reads, and which of their entries do: inputs themselves, folders on the way to them, and what could come
 * to match a pattern. Editors' swap files and backups are none of these. */
#ifndef TRIB_BUILDER_WATCH_PLACES_H
#define TRIB_BUILDER_WATCH_PLACES_H
#include <stdbool.h>
#include <stdint.h>

struct input;
struct places;

/* Of these inputs, as the disk is now. */
struct places *places_new(const struct input *inputs, uint32_t n);
void places_free(struct places *p); /* NULL is accepted */
uint32_t places_count(const struct places *p);
const char *places_folder(const struct places *p, uint32_t i);
/* What an entry of that folder means to the build. */
enum place_entry { ENTRY_NONE, ENTRY_FILE, ENTRY_FOLDER };
enum place_entry places_entry(const struct places *p, uint32_t folder, const char *name, bool is_folder);
#endif
