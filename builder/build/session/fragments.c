#include "builder/build/session/fragments.h"
#include <stdlib.h>
#include <string.h>
#include "backend/link/elf/object.h"
#include "base/arena.h"
#include "base/bug.h"
#include "base/map.h"
#include "base/vec.h"

#define MOST_BYTES ((size_t)256 << 20)

#define PARSED_BYTES ((size_t)2 << 10) /* memory of most parsed objects */

struct fragment {
	hash128 key;
	struct arena *arena;
	void *bytes;
	size_t len;
	struct object *object; /* refers to the bytes; NULL: they are no valid object, which the linker reports */
	bool used;
};
struct fragments {
	VEC(struct fragment) list;
	struct map index; /* key → list index */
	size_t bytes;
};

struct fragments *fragments_new(void) { return alloc_zeroed(sizeof(struct fragments)); }

void fragments_free(struct fragments *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; i < f->list.len; i++)
		arena_free(f->list.at[i].arena);
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
	return f->list.at[at].bytes;
}

struct object *fragments_object(const struct fragments *f, hash128 key)
{
	uint64_t at;
	return f && map_get(&f->index, key, &at) ? f->list.at[at].object : NULL;
}

void fragments_use(struct fragments *f, hash128 key, const char *name, const void *bytes, size_t len, bool is_object)
{
	uint64_t at;
	const char *error;
	if (map_get(&f->index, key, &at)) {
		f->list.at[at].used = true;
		return;
	}
	if (len > MOST_BYTES - f->bytes)
		return;
	struct fragment new = {.key = key, .arena = arena_new(len + PARSED_BYTES), .len = len, .used = true};
	new.bytes = memcpy(arena_alloc(new.arena, len, 16), bytes, len);
	new.object = is_object ? object_parse(new.arena, name, new.bytes, len, &error) : NULL;
	f->bytes += len;
	map_put(&f->index, key, f->list.len);
	vec_push(&f->list, new);
}

void fragments_drop_unused(struct fragments *f)
{
	uint32_t n = 0;
	map_free(&f->index);
	for (uint32_t i = 0; i < f->list.len; i++) {
		struct fragment one = f->list.at[i];
		if (!one.used) {
			f->bytes -= one.len;
			arena_free(one.arena);
			continue;
		}
		one.used = false;
		map_put(&f->index, one.key, n);
		f->list.at[n++] = one;
	}
	f->list.len = n;
}
