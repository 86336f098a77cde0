#include "builder/watch/edit.h"
#include <stdlib.h>
#include <string.h>
#include "base/os.h"
#include "base/source.h"

#define MAX_BYTES ((size_t)1 << 20)

void saved_texts_free(struct saved_texts *t)
{
	for (uint32_t i = 0; i < t->list.len; i++)
		free(t->list.at[i].at);
	vec_free(&t->list);
	map_free(&t->index);
}

static struct saved_text saved_texts_read_text(const char *path, const struct source *read)
{
	struct saved_text t = {0};
	struct file_stamp stamp;
	if (read) {
		t.len = read->len;
		t.at = strndup(read->text, read->len);
		t.incomparable = read->len > MAX_BYTES || memchr(read->text, 0, read->len);
		return t;
	}
	if (!os_stamp(path, &stamp))
		return t;
	t.incomparable = !os_read_file(path, MAX_BYTES, &t.at, &t.len) || memchr(t.at, 0, t.len);
	return t;
}

static struct saved_text *entry(struct saved_texts *t, const char *path)
{
	hash128 key = map_key_str(path);
	uint64_t at = t->list.len;
	if (!map_get(&t->index, key, &at)) {
		map_put(&t->index, key, at);
		vec_push(&t->list, (struct saved_text){0});
	}
	return &t->list.at[at];
}

bool saved_texts_has(const struct saved_texts *t, const char *path)
{
	uint64_t at;
	return map_get(&t->index, map_key_str(path), &at) && (t->list.at[at].at || t->list.at[at].incomparable);
}

void saved_texts_store(struct saved_texts *t, const char *path, const struct source *read)
{
	struct saved_text *e = entry(t, path);
	free(e->at);
	*e = saved_texts_read_text(path, read);
}

struct edit saved_texts_update(struct saved_texts *t, struct arena *a, const char *path, const struct source *read)
{
	struct saved_text *old = entry(t, path), new = saved_texts_read_text(path, read);
	struct edit e = {.file = path};
	if (!old->incomparable && !new.incomparable)
		e = edit_describe(a, path, (struct edit_text){old->at, old->len}, (struct edit_text){new.at, new.len});
	free(old->at);
	*old = new;
	return e;
}
