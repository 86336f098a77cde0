/* Packs lists of trits that are not zero (trit_blocks.h). This file is part of trib. */
#include <string.h>
#include "backend/runtime/pack/trit_blocks.h"

static int64_t trit_lists_pack_panels_of(int64_t N) { return (N + TRI_LIST_COLUMNS - 1) / TRI_LIST_COLUMNS; }
static int64_t trit_lists_pack_least(int64_t a, int64_t b) { return a < b ? a : b; }
static uint64_t trit_lists_pack_aligned(uint64_t n) { return (n + 63) / 64 * 64; }

/* The numbers of a column's trits in a chunk that are not zero, as slots; returns how many. */
static int list_column(const struct tri_blocks_source *s, int64_t k, int64_t n, uint8_t slots[TRI_LIST_CHUNK])
{
	const int8_t *w = s->w + k * s->k_step + n * s->n_step;
	int64_t rows = trit_lists_pack_least(s->K - k, TRI_LIST_CHUNK);
	int count = 0;
	for (int64_t i = 0; i < rows; i++) {
		int t = w[i * s->k_step];
		slots[count] = (uint8_t)(t < 0 ? TRI_LIST_CHUNK + i : i);
		count += t != 0;
	}
	return count;
}

/* The lists of a panel and a chunk: the number of slots of each column; returns how many steps hold them. */
static uint32_t list_chunk(const struct tri_blocks_source *s, int64_t panel, int64_t k, uint8_t slots[][TRI_LIST_CHUNK], int counts[])
{
	int64_t n = panel * TRI_LIST_COLUMNS, columns = trit_lists_pack_least(s->N - n, TRI_LIST_COLUMNS);
	int most = 0;
	for (int64_t c = 0; c < columns; c++) {
		counts[c] = list_column(s, k, n + c, slots[c]);
		most = counts[c] > most ? counts[c] : most;
	}
	for (int64_t c = columns; c < TRI_LIST_COLUMNS; c++)
		counts[c] = 0;
	return (uint32_t)(most + TRI_LIST_SLOTS - 1) / TRI_LIST_SLOTS;
}

uint32_t tri_lists_steps(const struct tri_blocks_source *s)
{
	uint8_t slots[TRI_LIST_COLUMNS][TRI_LIST_CHUNK];
	int counts[TRI_LIST_COLUMNS];
	uint32_t steps = 0;
	for (int64_t p = 0; p < trit_lists_pack_panels_of(s->N); p++)
		for (int64_t k = 0; k < s->K; k += TRI_LIST_CHUNK)
			steps += list_chunk(s, p, k, slots, counts);
	return steps;
}

uint64_t tri_lists_place(const struct tri_blocks_source *s, struct tri_blocks *h)
{
	h->form = TRI_LISTS;
	h->rows = (uint32_t)s->K;
	h->first = sizeof *h;
	h->starts = trit_lists_pack_aligned(h->first + (uint64_t)(trit_lists_pack_panels_of(s->N) + 1) * 4);
	h->at = h->starts + (uint64_t)trit_lists_pack_panels_of(s->N) * TRI_LIST_COLUMNS * 4;
	h->data = trit_lists_pack_aligned(h->at + (uint64_t)h->steps * 4);
	return h->data + (uint64_t)h->steps * TRI_LIST_BYTES;
}

void tri_lists_pack(const struct tri_blocks_source *s, void *out)
{
	const struct tri_blocks *h = out;
	uint32_t *first = (uint32_t *)(void *)((char *)out + h->first), step = 0;
	int32_t *starts = (int32_t *)(void *)((char *)out + h->starts), *at = (int32_t *)(void *)((char *)out + h->at);
	uint8_t *data = (uint8_t *)out + h->data, slots[TRI_LIST_COLUMNS][TRI_LIST_CHUNK];
	int counts[TRI_LIST_COLUMNS];
	for (int64_t p = 0; p < trit_lists_pack_panels_of(s->N); p++, starts += TRI_LIST_COLUMNS) {
		first[p] = step;
		for (int64_t k = 0; k < s->K; k += TRI_LIST_CHUNK) {
			uint32_t n = list_chunk(s, p, k, slots, counts);
			memset(data, TRI_LIST_NONE, (size_t)n * TRI_LIST_BYTES);
			for (int64_t c = 0; c < TRI_LIST_COLUMNS; c++)
				for (int i = 0; i < counts[c]; i++) {
					data[i / TRI_LIST_SLOTS * TRI_LIST_BYTES + c * TRI_LIST_SLOTS + i % TRI_LIST_SLOTS] = slots[c][i];
					starts[c] += slots[c][i] >= TRI_LIST_CHUNK;
				}
			for (uint32_t i = 0; i < n; i++)
				at[step++] = (int32_t)k;
			data += (size_t)n * TRI_LIST_BYTES;
		}
	}
	first[trit_lists_pack_panels_of(s->N)] = step;
}

void tri_lists_unpack(const void *packed, int64_t K, int64_t N, int8_t *w)
{
	const struct tri_blocks *h = packed;
	const uint32_t *first = tri_blocks_part(h, h->first);
	const int32_t *at = tri_blocks_part(h, h->at);
	const uint8_t *data = tri_blocks_part(h, h->data);
	memset(w, 0, (size_t)(K * N));
	for (int64_t p = 0; p < trit_lists_pack_panels_of(N); p++)
		for (uint32_t s = first[p]; s < first[p + 1]; s++)
			for (int64_t i = 0; i < TRI_LIST_BYTES; i++) {
				uint8_t slot = data[(int64_t)s * TRI_LIST_BYTES + i];
				int64_t n = p * TRI_LIST_COLUMNS + i / TRI_LIST_SLOTS, k = at[s] + slot % TRI_LIST_CHUNK;
				if (slot != TRI_LIST_NONE)
					w[k * N + n] = slot < TRI_LIST_CHUNK ? 1 : -1;
			}
}
