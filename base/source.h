/* Source texts and positions in them. A span is two byte offsets into one source. */
#ifndef TRIB_BASE_SOURCE_H
#define TRIB_BASE_SOURCE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One text, for example a .tri file or a manifest. Its `struct sources` owns it; text[len] is a NUL. */
struct source {
	const char *path; /* for messages: relative to the project's root if it is inside */
	const char *text;
	uint32_t len;
	uint32_t id;
};

typedef struct {
	uint32_t source;     /* source.id; SPAN_NO_SOURCE: no place */
	uint32_t start, end; /* byte offsets, end exclusive */
} span;
#define SPAN_NO_SOURCE UINT32_MAX
#define SPAN_NONE ((span){SPAN_NO_SOURCE, 0, 0})

struct position {
	uint32_t line, col; /* both from 1; col counts bytes */
};

struct sources;
struct sources *sources_new(void);
void sources_free(struct sources *s); /* NULL is accepted */
/* Adds a copy of the text (at most 2 GiB - 1). The result is valid as long as `s`. */
const struct source *sources_add(struct sources *s, const char *path, const char *text, size_t len);
/* The same without a copy: `s` then owns the text, which is malloc'd and has a NUL at text[len]. */
const struct source *sources_add_owned(struct sources *s, const char *path, char *text, size_t len);
const struct source *sources_get(const struct sources *s, uint32_t id);
uint32_t sources_count(const struct sources *s);
/* Makes a source the last one in the order of use. */
void sources_use(struct sources *s, uint32_t id);
uint32_t sources_use_order(const struct sources *s, uint32_t id); /* its place in that order */
size_t sources_bytes(const struct sources *s);                    /* size of all texts */
/* Line and column of a byte offset (clamped to the text). The line table is built on first use. */
struct position source_position(const struct sources *s, uint32_t id, uint32_t offset);
/* The start of the line with a byte offset, and its end: the newline or the end of the text. */
uint32_t source_line_start(const struct source *s, uint32_t at);
uint32_t source_line_end(const struct source *s, uint32_t at);
/* The line (from 1) without its newline. */
void source_line(const struct sources *s, uint32_t id, uint32_t line, const char **text, uint32_t *len);
#endif
