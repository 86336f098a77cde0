/* Texts are in an arena. Ids are in an open-addressing table, where 0 marks a free slot: the empty string is never looked up. */
#include "base/intern.h"
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/bug.h"
#include "base/hash.h"
#include "base/vec.h"

struct text {
	const char *at;
	size_t len;
	uint64_t hash;
};
struct interner {
	struct arena *memory;
	VEC(struct text) texts; /* by id */
	name_id *table;
	uint32_t cap; /* a power of two */
};

struct interner *interner_new(void)
{
	struct interner *in = calloc(1, sizeof *in);

	if (!in)
		bug_no_memory();
	in->memory = arena_new(0);
	in->cap = 256;
	in->table = calloc(in->cap, sizeof *in->table);
	if (!in->table)
		bug_no_memory();
	vec_push(&in->texts, ((struct text){.at = ""}));
	return in;
}

void interner_free(struct interner *in)
{
	if (!in)
		return;
	arena_free(in->memory);
	vec_free(&in->texts);
	free(in->table);
	free(in);
}

static void intern_grow(struct interner *in)
{
	uint32_t cap = in->cap * 2;
	name_id *table = calloc(cap, sizeof *table);

	if (!table)
		bug_no_memory();
	for (name_id id = 1; id < in->texts.len; id++) {
		uint32_t i = (uint32_t)in->texts.at[id].hash & (cap - 1);

		while (table[i])
			i = (i + 1) & (cap - 1);
		table[i] = id;
	}
	free(in->table);
	in->table = table;
	in->cap = cap;
}

static bool is_text(const struct text *t, const char *s, size_t n, uint64_t hash)
{
	return t->hash == hash && t->len == n && memcmp(t->at, s, n) == 0;
}

name_id intern(struct interner *in, const char *s, size_t n)
{
	uint64_t hash;
	uint32_t i;

	if (n == 0)
		return 0;
	if (in->texts.len > in->cap / 2)
		intern_grow(in);
	hash = hash64_bytes(s, n);
	for (i = (uint32_t)hash & (in->cap - 1); in->table[i]; i = (i + 1) & (in->cap - 1))
		if (is_text(&in->texts.at[in->table[i]], s, n, hash))
			return in->table[i];
	in->table[i] = in->texts.len;
	vec_push(&in->texts, ((struct text){arena_strndup(in->memory, s, n), n, hash}));
	return in->table[i];
}

name_id intern_str(struct interner *in, const char *s) { return intern(in, s, strlen(s)); }

const char *intern_text(const struct interner *in, name_id id)
{
	BUG_ON(id >= in->texts.len);
	return in->texts.at[id].at;
}
