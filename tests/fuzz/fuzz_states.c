/* Any bytes as saved states. What is accepted is saved as the same bytes; what is refused changes nothing. The first byte says which fields
 * of the header are made right, so that the rest is reached. */
#include <stdlib.h>
#include <string.h>
#include "backend/runtime/states_memory.h"
#include "tests/fuzz/fuzz.h"

enum { MOST = 5, ROOM = 1 << 12 };

static const int16_t first[] = {1, -2, 3};
static const tri_state_desc states[] = {
	{"a.k", TRI_FLOAT32, 3, {2, 0, 3}, 1, 0, NULL},
	{"a.n", TRI_INT16, 1, {3}, -1, -1, first},
	{"b.k", TRI_TRIT, 2, {0, 7}, 0, 1, NULL},
};
static const tri_capacity capacities[] = {{"T", MOST}, {"S", 2 * MOST}};
static const tri_model_desc desc = {.abi = TRI_ABI, .states = states, .n_states = 3, .capacities = capacities, .n_capacities = 2};

static uint64_t save(const struct tri_states *s, char *out)
{
	uint64_t n = ROOM;
	if (tri_states_save(s, out, &n, NULL) != TRI_OK)
		abort();
	return n;
}

/* Bit 0: what names the model; bit 1: the size; bit 2: the checksum. */
static void repair(uint8_t bits, const char *good, char *data, size_t size)
{
	struct tri_saved_header h, right;
	if (size < sizeof h)
		return;
	memcpy(&h, data, sizeof h);
	memcpy(&right, good, sizeof right);
	uint64_t its = h.size;
	h = bits & 1 ? right : h;
	h.size = bits & 2 ? size : its;
	if (bits & 4 && h.size == size)
		h.check = tri_saved_check(&h, data + sizeof h);
	memcpy(data, &h, sizeof h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char before[ROOM], after[ROOM];
	struct tri_states *s;
	tri_error err = {0};
	if (!size || tri_states_open(&desc, NULL, NULL, &s, &err) != TRI_OK)
		return 0;
	uint64_t n = save(s, before);
	char *copy = malloc(size);
	memcpy(copy, data + 1, size - 1);
	repair(data[0], before, copy, size - 1);
	if (tri_states_load(s, copy, size - 1, &err) == TRI_OK) {
		if (save(s, after) != size - 1 || memcmp(after, copy, size - 1) != 0)
			abort();
	} else if (!err.code || save(s, after) != n || memcmp(before, after, n) != 0) {
		abort();
	}
	free(copy);
	tri_states_close(s);
	return 0;
}
