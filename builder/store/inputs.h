/* The inputs of a build, recorded as they are read: files, files that are missing, and the matches of patterns. */
#ifndef TRIB_BUILDER_STORE_INPUTS_H
#define TRIB_BUILDER_STORE_INPUTS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/hash.h"
#include "base/os.h"

struct arena;
struct disk;
struct inputs;

enum input_kind { INPUT_FILE, INPUT_PATTERN, INPUT_KIND_COUNT };
struct input {
	const char *path; /* or pattern */
	enum input_kind kind;
	struct file_stamp stamp; /* taken before reading; zero: the file is absent, or the stamp is not reliable */
	hash128 content;         /* zero: absent. Of a pattern: the hash of its matches */
};

struct inputs *inputs_new(struct arena *a, const struct disk *disk);
const struct disk *inputs_disk(const struct inputs *in);
void inputs_free(struct inputs *in); /* NULL is accepted */
/* Reads and records a file; text is malloc'd and NUL-terminated. False: absent or unreadable (recorded as absent). */
bool inputs_read(struct inputs *in, const char *path, char **text, size_t *len);
/* Records a file and returns only the hash of its content. False: absent. */
bool inputs_note(struct inputs *in, const char *path, hash128 *content);
/* Records a file whose stamp and content are known already. */
void inputs_add(struct inputs *in, const char *path, const struct file_stamp *stamp, hash128 content);
/* Expands and records a pattern. */
const char *const *inputs_glob(struct inputs *in, const char *pattern, uint32_t *n);
uint32_t inputs_count(const struct inputs *in);
const struct input *inputs_find(const struct inputs *in, enum input_kind kind, const char *path); /* NULL: not recorded */
const struct input *inputs_at(const struct inputs *in, uint32_t i);

/* True if the input is unchanged. If only its stamp changed, the new stamp goes into `i`, and *touched is set. */
bool input_verify(const struct disk *d, struct arena *scratch, struct input *i, bool *touched);
/* The same for a list, on several threads if it is long. changed[i]: list[i] changed. */
void inputs_verify(const struct disk *d, struct input *list, uint32_t n, bool *changed, bool *touched);
/* A stamp that is too young becomes zero: the file may change again without a new stamp. `clock`: before the content was read. */
void input_clear_if_young(struct file_stamp *stamp, int64_t clock);
/* The stamp of a file and the hash of its content. False: the file is absent, and both are zero. */
bool input_hash_file(const struct disk *d, const char *path, struct file_stamp *stamp, hash128 *content);
#endif
