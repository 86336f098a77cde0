/* The index: recording, sorting, look-ups. */
#include "frontend/index/index.h"
#include <stdlib.h>
#include "base/arena.h"

struct index *index_new(void)
{
	struct arena *a = arena_new(64 * 1024);
	struct index *ix = ARENA_NEW(a, struct index);
	ix->arena = a;
	ix->asked = SPAN_NONE;
	return ix;
}

void index_free(struct index *ix)
{
	if (!ix)
		return;
	vec_free(&ix->symbols);
	vec_free(&ix->uses);
	vec_free(&ix->calls);
	vec_free(&ix->candidates);
	map_free(&ix->by_name);
	map_free(&ix->by_builtin);
	map_free(&ix->by_use);
	map_free(&ix->by_call);
	arena_free(ix->arena);
}

void index_ask(struct index *ix, uint32_t source, uint32_t offset) { ix->asked = (span){source, offset, offset}; }

static int index_compare(span a, span b)
{
	if (a.source != b.source)
		return a.source < b.source ? -1 : 1;
	if (a.start != b.start)
		return a.start < b.start ? -1 : 1;
	return 0;
}

static int compare_uses(const void *a, const void *b)
{
	return index_compare(((const struct index_use *)a)->at, ((const struct index_use *)b)->at);
}

static int compare_calls(const void *a, const void *b)
{
	return index_compare(((const struct index_call *)a)->callee, ((const struct index_call *)b)->callee);
}

void index_finish(struct index *ix)
{
	if (ix->uses.len)
		qsort(ix->uses.at, ix->uses.len, sizeof *ix->uses.at, compare_uses);
	if (ix->calls.len)
		qsort(ix->calls.at, ix->calls.len, sizeof *ix->calls.at, compare_calls);
	map_free(&ix->by_use);
	map_free(&ix->by_call);
}

/* The index of the first use at or after `at`. */
static uint32_t lower_bound(const struct index *ix, span at)
{
	uint32_t lo = 0, hi = ix->uses.len;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (index_compare(ix->uses.at[mid].at, at) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct index_use *index_use_at(const struct index *ix, uint32_t source, uint32_t offset)
{
	uint32_t i = lower_bound(ix, (span){source, offset, offset});
	if (i < ix->uses.len && ix->uses.at[i].at.source == source && ix->uses.at[i].at.start == offset)
		return &ix->uses.at[i];
	if (!i--)
		return NULL;
	const struct index_use *u = &ix->uses.at[i];
	return u->at.source == source && u->at.end >= offset ? u : NULL;
}

const struct index_use *index_uses_in(const struct index *ix, uint32_t source, uint32_t *n)
{
	uint32_t first = lower_bound(ix, (span){source, 0, 0}), end = lower_bound(ix, (span){source + 1, 0, 0});
	*n = end - first;
	return ix->uses.at + (*n ? first : 0);
}

const struct index_call *index_call_of(const struct index *ix, span callee)
{
	struct index_call key = {.callee = callee};
	return ix->calls.len ? bsearch(&key, ix->calls.at, ix->calls.len, sizeof key, compare_calls) : NULL;
}

uint32_t index_symbol_at(const struct index *ix, span name)
{
	uint64_t i;
	return map_get(&ix->by_name, map_key_u64((uint64_t)name.source << 32 | name.start), &i) ? (uint32_t)i : SYMBOL_NONE;
}

uint32_t index_next_child(const struct index *ix, uint32_t parent, uint32_t from)
{
	for (uint32_t i = from == SYMBOL_NONE ? 0 : from + 1; i < ix->symbols.len; i++)
		if (ix->symbols.at[i].parent == parent && ix->symbols.at[i].kind != SYMBOL_UNKNOWN)
			return i;
	return SYMBOL_NONE;
}

uint32_t index_builtin(const struct index *ix, const char *name)
{
	uint64_t i;
	return map_get(&ix->by_builtin, map_key_str(name), &i) ? (uint32_t)i : SYMBOL_NONE;
}

const char *symbol_kind_text(enum symbol_kind k)
{
	static const char *const texts[SYMBOL_KIND_COUNT] = {
		[SYMBOL_UNKNOWN] = "name",      [SYMBOL_MODULE] = "module",   [SYMBOL_ALIAS] = "import",    [SYMBOL_FN] = "function",
		[SYMBOL_LAYER] = "layer",       [SYMBOL_CONST] = "constant",  [SYMBOL_TYPE] = "type",       [SYMBOL_MAIN] = "main block",
		[SYMBOL_METHOD] = "function",   [SYMBOL_PARAM] = "parameter", [SYMBOL_STATE] = "state",     [SYMBOL_MEMBER] = "member",
		[SYMBOL_ARG] = "argument",      [SYMBOL_LOCAL] = "local",     [SYMBOL_GENERIC] = "generic", [SYMBOL_DIM] = "dimension",
		[SYMBOL_CAPACITY] = "capacity", [SYMBOL_BUILTIN] = "builtin",
	};
	return texts[k];
}
