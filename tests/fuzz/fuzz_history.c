/* Any bytes as the record of the last build's units. A valid record is explained, and is the same after writing and reading. */
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/bug.h"
#include "builder/store/history.h"
#include "builder/store/serializer.h"
#include "tests/fuzz/fuzz.h"

static void explain(struct arena *a, const struct history *h)
{
	for (uint32_t i = 0; i < h->n; i++) {
		const struct unit_record *u = &h->units[i];
		BUG_ON(!history_find(h, u->made.identity, u->backend));
		BUG_ON(!history_of_definition(h, u->file, u->definition, u->backend));
		history_explain(a, NULL, NULL, u, i);
		history_explain(a, &h->units[0], &h->units[h->n - 1], u, i);
	}
}

static struct history *read_history(struct arena *a, const void *bytes, size_t size)
{
	struct serializer s = serializer_from(a, bytes, size);
	struct history *h = ARENA_NEW(a, struct history);
	history_serialize(&s, h);
	BUG_ON(!s.ok && h->n);
	if (serializer_is_done(&s))
		return h;
	history_free(h);
	return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new(0);
	struct history *h = read_history(a, data, size);
	if (h) {
		struct buf first = {0}, second = {0};
		struct serializer to_first = serializer_to(&first), to_second = serializer_to(&second);
		explain(a, h);
		history_serialize(&to_first, h);
		struct history *again = read_history(a, first.at, first.len);
		BUG_ON(!again);
		history_serialize(&to_second, again);
		BUG_ON(first.len != second.len || memcmp(first.at, second.at, first.len));
		history_free(again);
		buf_free(&first);
		buf_free(&second);
	}
	history_free(h);
	arena_free(a);
	return 0;
}
