/* Any bytes as what the last build knew of its units; what is sound is explained, written and read again as the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/bug.h"
#include "builder/store/history.h"
#include "builder/store/serialize.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void explain(struct arena *a, const struct history *h)
{
	for (uint32_t i = 0; i < h->n; i++) {
		const struct unit_record *u = &h->units[i];
		BUG_ON(!history_find(h, u->made.identity));
		BUG_ON(!history_of_definition(h, u->file, u->definition));
		history_explain(a, NULL, NULL, u, i);
		history_explain(a, &h->units[0], &h->units[h->n - 1], u, i);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new(0);
	struct deserializer w = {.at = (const char *)data, .left = size, .ok = true};
	struct history *h = history_decode(a, &w);
	struct buf first = {0}, second = {0};
	if (w.ok) {
		explain(a, h);
		history_encode(&first, h);
		struct deserializer back = {.at = first.at, .left = first.len, .ok = true};
		struct history *again = history_decode(a, &back);
		BUG_ON(!deserialize_end(&back));
		history_encode(&second, again);
		BUG_ON(first.len != second.len || memcmp(first.at, second.at, first.len));
		history_free(again);
	}
	BUG_ON(!w.ok && h->n);
	history_free(h);
	buf_free(&first);
	buf_free(&second);
	arena_free(a);
	return 0;
}
