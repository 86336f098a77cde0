#include "builder/watch/texts.h"
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/map.h"
#include "base/os.h"
#include "base/source.h"
#include "base/vec.h"

#define MOST_BYTES ((size_t)1 << 20)

struct text {
	char *at; /* NULL: there is no file */
	size_t len;
	bool unusual; /* no text, or too long to compare */
};
struct texts {
	VEC(struct text) list;
	struct map index; /* path → list index */
};

struct texts *texts_new(void)
{
	struct texts *t = calloc(1, sizeof *t);
	if (!t)
		bug_no_memory();
	return t;
}

void texts_free(struct texts *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < t->list.len; i++)
		free(t->list.at[i].at);
	vec_free(&t->list);
	map_free(&t->index);
	free(t);
}

static struct text read_text(const char *path, const struct source *read)
{
	struct text t = {0};
	struct file_stamp stamp;
	if (read) {
		t.len = read->len;
		t.at = strndup(read->text, read->len);
		t.unusual = read->len > MOST_BYTES || memchr(read->text, 0, read->len);
		return t;
	}
	if (!os_stamp(path, &stamp))
		return t;
	t.unusual = !os_read_file(path, MOST_BYTES, &t.at, &t.len) || memchr(t.at, 0, t.len);
	return t;
}

static struct text *entry(struct texts *t, const char *path)
{
	hash128 key = map_key_str(path);
	uint64_t at = t->list.len;
	if (!map_get(&t->index, key, &at)) {
		map_put(&t->index, key, at);
		vec_push(&t->list, (struct text){0});
	}
	return &t->list.at[at];
}

bool texts_known(const struct texts *t, const char *path)
{
	uint64_t at;
	return map_get(&t->index, map_key_str(path), &at) && (t->list.at[at].at || t->list.at[at].unusual);
}

void texts_note(struct texts *t, const char *path, const struct source *read)
{
	struct text *e = entry(t, path);
	free(e->at);
	*e = read_text(path, read);
}

struct edit texts_edit(struct texts *t, struct arena *a, const char *path, const struct source *read)
{
	struct text *old = entry(t, path), new = read_text(path, read);
	struct edit e = {.file = path};
	if (!old->unusual && !new.unusual)
		e = edit_describe(a, path, (struct edit_text){old->at, old->len}, (struct edit_text){new.at, new.len});
	free(old->at);
	*old = new;
	return e;
}
