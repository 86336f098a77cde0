/* Linear probing in a power-of-two table, at most three quarters full. */
#include "base/map.h"
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"

struct map_slot {
	hash128 key;
	uint64_t value;
	bool used;
};

void map_free(struct map *m)
{
	free(m->slots);
	*m = (struct map){0};
}

static uint32_t home(const struct map *m, hash128 key)
{
	uint64_t x = (key.lo ^ key.hi << 32 ^ key.hi >> 32) * 0x9E3779B97F4A7C15ull;

	return (uint32_t)(x >> 32) & (m->cap - 1);
}

/* The slot holding the key, or the free one where it belongs. The table is never full. */
static uint32_t map_find(const struct map *m, hash128 key)
{
	uint32_t i = home(m, key);

	while (m->slots[i].used && !hash_eq(m->slots[i].key, key))
		i = (i + 1) & (m->cap - 1);
	return i;
}

static void map_grow(struct map *m)
{
	struct map bigger = {.len = m->len, .cap = m->cap ? m->cap * 2 : 16};

	BUG_ON(m->cap > UINT32_MAX / 4);
	bigger.slots = calloc(bigger.cap, sizeof *bigger.slots);
	if (!bigger.slots)
		bug_no_memory();
	for (uint32_t i = 0; i < m->cap; i++)
		if (m->slots[i].used)
			bigger.slots[map_find(&bigger, m->slots[i].key)] = m->slots[i];
	free(m->slots);
	*m = bigger;
}

bool map_put(struct map *m, hash128 key, uint64_t value)
{
	struct map_slot *s;
	bool fresh;

	if ((uint64_t)m->len * 4 >= (uint64_t)m->cap * 3)
		map_grow(m);
	s = &m->slots[map_find(m, key)];
	fresh = !s->used;
	m->len += fresh;
	*s = (struct map_slot){key, value, true};
	return fresh;
}

bool map_get(const struct map *m, hash128 key, uint64_t *value)
{
	const struct map_slot *s;

	if (m->len == 0)
		return false;
	s = &m->slots[map_find(m, key)];
	if (s->used && value)
		*value = s->value;
	return s->used;
}

hash128 map_key_str(const char *s) { return hash_bytes(s, strlen(s)); }
