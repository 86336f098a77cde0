#include "builder/fragments.h"
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/map.h"
#include "base/vec.h"

#define MOST_BYTES ((size_t)256 << 20)

struct fragment {
	hash128 key;
	char *object;
	size_t len;
	bool used;
};
struct fragments {
	VEC(struct fragment) list;
	struct map index; /* key → list index */
	size_t bytes;
};

struct fragments *fragments_new(void)
{
	struct fragments *f = calloc(1, sizeof *f);
	if (!f)
		bug_no_memory();
	return f;
}

void fragments_free(struct fragments *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; i < f->list.len; i++)
		free(f->list.at[i].object);
	vec_free(&f->list);
	map_free(&f->index);
	free(f);
}

const void *fragments_find(const struct fragments *f, hash128 key, size_t *len)
{
	uint64_t at;
	if (!f || !map_get(&f->index, key, &at))
		return NULL;
	*len = f->list.at[at].len;
	return f->list.at[at].object;
}

void fragments_use(struct fragments *f, hash128 key, const void *object, size_t len)
{
	uint64_t at;
	if (map_get(&f->index, key, &at)) {
		f->list.at[at].used = true;
		return;
	}
	if (len > MOST_BYTES - f->bytes)
		return;
	struct fragment new = {key, malloc(len + 1), len, true};
	if (!new.object)
		bug_no_memory();
	memcpy(new.object, object, len);
	f->bytes += len;
	map_put(&f->index, key, f->list.len);
	vec_push(&f->list, new);
}

void fragments_forget(struct fragments *f)
{
	uint32_t kept = 0;
	map_free(&f->index);
	for (uint32_t i = 0; i < f->list.len; i++) {
		struct fragment one = f->list.at[i];
		if (!one.used) {
			f->bytes -= one.len;
			free(one.object);
			continue;
		}
		one.used = false;
		map_put(&f->index, one.key, kept);
		f->list.at[kept++] = one;
	}
	f->list.len = kept;
}
