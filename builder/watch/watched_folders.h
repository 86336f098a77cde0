/* The folders to watch, and which of their entries matter: inputs, folders on the path to an input, and names that may match a pattern.
 * Swap files and backups of editors are not among them. */
#ifndef TRIB_BUILDER_WATCH_WATCHED_FOLDERS_H
#define TRIB_BUILDER_WATCH_WATCHED_FOLDERS_H
#include <stdbool.h>
#include <stdint.h>

struct input;
struct watched_folders;

/* Finds the folders of these inputs on the disk. */
struct watched_folders *watched_folders_new(const struct input *inputs, uint32_t n);
void watched_folders_free(struct watched_folders *p); /* NULL is accepted */
uint32_t watched_folders_count(const struct watched_folders *p);
const char *watched_folder_path(const struct watched_folders *p, uint32_t i);
/* Says whether a change of the entry may change an input. */
enum folder_entry { ENTRY_NONE, ENTRY_FILE, ENTRY_FOLDER };
enum folder_entry watched_folder_entry(const struct watched_folders *p, uint32_t folder, const char *name, bool is_folder);
#endif
