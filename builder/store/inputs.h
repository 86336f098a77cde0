/* What a build reads from disk, recorded as it is read: files, files that were looked for in vain, and the matches of patterns. */
#ifndef TRIB_BUILDER_STORE_INPUTS_H
#define TRIB_BUILDER_STORE_INPUTS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/hash.h"
#include "base/os.h"

struct arena;
struct inputs;

enum input_kind { INPUT_FILE, INPUT_PATTERN, INPUT_KIND_COUNT };
struct input {
	const char *path; /* or pattern */
	enum input_kind kind;
	struct file_stamp stamp; /* taken before reading; zero for an absent file, and where it cannot be trusted */
	hash128 content;         /* zero: absent. A pattern: of the list of matches */
};

struct inputs *inputs_new(struct arena *session);
void inputs_free(struct inputs *in); /* NULL is accepted */
/* Reads and records a file; text is malloc'd and NUL-terminated. False: absent or unreadable (recorded as absent). */
bool inputs_read(struct inputs *in, const char *path, char **text, size_t *len);
/* Records a file without keeping its content. False: absent. */
bool inputs_note(struct inputs *in, const char *path, hash128 *content);
/* Records a file whose stamp and content are known already. */
void inputs_add(struct inputs *in, const char *path, const struct file_stamp *stamp, hash128 content);
/* Expands and records a pattern. */
const char *const *inputs_glob(struct inputs *in, const char *pattern, uint32_t *n);
uint32_t inputs_count(const struct inputs *in);
const struct input *inputs_find(const struct inputs *in, enum input_kind kind, const char *path); /* NULL: not recorded */
const struct input *inputs_at(const struct inputs *in, uint32_t i);

/* Is the input as recorded? *touched is set when its content is but its stamp is not, and the new stamp goes into `i`. */
bool input_verify(struct arena *scratch, struct input *i, bool *touched);
/* The same of a list, on as many threads as pay: changed[i] says of list[i] that it is not as recorded. */
void inputs_verify(struct input *list, uint32_t n, bool *changed, bool *touched);
/* The stamp and, of what the stamp describes, the content hash, which is zero when absent. */
bool input_look(const char *path, struct file_stamp *stamp, hash128 *content);
#endif
