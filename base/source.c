#include "base/source.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/bug.h"
#include "base/huge_alloc.h"
#include "base/vec.h"

/* Where every line starts. */
struct lines {
	uint32_t n;
	uint32_t start[];
};
struct entry {
	struct source s;
	char *text; /* of s */
	uint32_t used;
	_Atomic(struct lines *) lines; /* built on first use; several readers may race to it */
};
struct sources {
	struct arena *memory;
	VEC(struct entry *) all;
	uint32_t uses;
	size_t bytes;
};

struct sources *sources_new(void)
{
	struct sources *s = calloc(1, sizeof *s);

	if (!s)
		bug_no_memory();
	s->memory = arena_new(0);
	return s;
}

void sources_free(struct sources *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->all.len; i++) {
		free(atomic_load(&s->all.at[i]->lines));
		free(s->all.at[i]->text);
	}
	vec_free(&s->all);
	arena_free(s->memory);
	free(s);
}

const struct source *sources_add(struct sources *s, const char *path, const char *text, size_t len)
{
	char *copy = huge_grow(NULL, 0, len + 1);

	if (len)
		memcpy(copy, text, len);
	copy[len] = '\0';
	return sources_add_owned(s, path, copy, len);
}

const struct source *sources_add_owned(struct sources *s, const char *path, char *text, size_t len)
{
	struct entry *e = ARENA_NEW(s->memory, struct entry);

	BUG_ON(len > INT32_MAX || text[len] != '\0');
	e->s = (struct source){.path = arena_strdup(s->memory, path), .text = text, .len = (uint32_t)len, .id = s->all.len};
	e->text = text;
	atomic_init(&e->lines, NULL);
	vec_push(&s->all, e);
	sources_use(s, e->s.id);
	s->bytes += len;
	return &e->s;
}

const struct source *sources_get(const struct sources *s, uint32_t id)
{
	BUG_ON(id >= s->all.len);
	return &s->all.at[id]->s;
}

uint32_t sources_count(const struct sources *s) { return s->all.len; }
void sources_use(struct sources *s, uint32_t id) { s->all.at[id]->used = s->uses++; }
uint32_t sources_use_order(const struct sources *s, uint32_t id) { return s->all.at[id]->used; }
size_t sources_bytes(const struct sources *s) { return s->bytes; }

static struct lines *lines_build(const struct source *s)
{
	const char *p = s->text, *end = s->text + s->len;
	struct lines *l;
	uint32_t n = 1;

	while ((p = memchr(p, '\n', (size_t)(end - p)))) {
		p++;
		n++;
	}
	l = malloc(sizeof *l + n * sizeof l->start[0]);
	if (!l)
		bug_no_memory();
	l->n = 0;
	l->start[l->n++] = 0;
	for (p = s->text; (p = memchr(p, '\n', (size_t)(end - p)));)
		l->start[l->n++] = (uint32_t)(++p - s->text);
	return l;
}

static const struct lines *lines_of(const struct sources *s, uint32_t id)
{
	struct entry *e;
	struct lines *l, *none = NULL;

	BUG_ON(id >= s->all.len);
	e = s->all.at[id];
	l = atomic_load(&e->lines);
	if (l)
		return l;
	l = lines_build(&e->s);
	if (atomic_compare_exchange_strong(&e->lines, &none, l))
		return l;
	free(l);
	return none;
}

struct position source_position(const struct sources *s, uint32_t id, uint32_t offset)
{
	const struct lines *l = lines_of(s, id);
	const struct source *src = sources_get(s, id);
	uint32_t lo = 0, hi = l->n; /* the line is in [lo, hi) */

	if (offset > src->len)
		offset = src->len;
	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (l->start[mid] <= offset)
			lo = mid;
		else
			hi = mid;
	}
	return (struct position){lo + 1, offset - l->start[lo] + 1};
}

void source_line(const struct sources *s, uint32_t id, uint32_t line, const char **text, uint32_t *len)
{
	const struct lines *l = lines_of(s, id);
	const struct source *src = sources_get(s, id);
	uint32_t start, end;

	BUG_ON(line == 0 || line > l->n);
	start = l->start[line - 1];
	end = line < l->n ? l->start[line] - 1 : src->len;
	if (end > start && src->text[end - 1] == '\r')
		end--;
	*text = src->text + start;
	*len = end - start;
}

uint32_t source_line_start(const struct source *s, uint32_t at)
{
	while (at > 0 && s->text[at - 1] != '\n')
		at--;
	return at;
}

uint32_t source_line_end(const struct source *s, uint32_t at)
{
	const char *stop = memchr(s->text + at, '\n', s->len - at);

	return stop ? (uint32_t)(stop - s->text) : s->len;
}
