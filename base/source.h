/* Source texts and positions in them. A span is two byte offsets into one source. */
#ifndef TRIB_BASE_SOURCE_H
#define TRIB_BASE_SOURCE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One text: a .tri file, a manifest. Owned by its source map; `text` ends with a NUL at text[len]. */
struct source {
	const char *path; /* as shown to people: relative to the project root where inside it */
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
/* Adds a copy of the text (at most 2 GiB - 1). The result lives as long as the map and does not move. */
const struct source *sources_add(struct sources *s, const char *path, const char *text, size_t len);
/* The same without a copy: the text, malloc'd and with a NUL at text[len], is the map's from now on. */
const struct source *sources_take(struct sources *s, const char *path, char *text, size_t len);
const struct source *sources_get(const struct sources *s, uint32_t id);
uint32_t sources_count(const struct sources *s);
/* A source of earlier work is used again: in the order of uses it counts as the last. */
void sources_use(struct sources *s, uint32_t id);
uint32_t sources_used(const struct sources *s, uint32_t id); /* its rank in that order */
size_t sources_bytes(const struct sources *s);               /* of all texts */
/* Line and column of a byte offset (clamped to the text). The line table is built on first use. */
struct position source_position(const struct sources *s, uint32_t id, uint32_t offset);
/* Where the line of a byte offset begins, and where its newline or the end of the text is. */
uint32_t source_line_start(const struct source *s, uint32_t at);
uint32_t source_line_end(const struct source *s, uint32_t at);
/* The line (from 1) without its newline. */
void source_line(const struct sources *s, uint32_t id, uint32_t line, const char **text, uint32_t *len);
#endif
