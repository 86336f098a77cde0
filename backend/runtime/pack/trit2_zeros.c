/* Finds the zeros of TRIT2. A trit is zero if the lower of its two bits is set. This file is part of trib, which packs and describes weights. */
#include "backend/runtime/pack/trit2_zeros.h"
#include <string.h>
#include "backend/runtime/pack/trit2.h"

enum { WORDS = TRI_TRIT2_BLOCK / 8 }; /* of 64 bits, two columns each */
#define LOWER 0x5555555555555555u
#define PAIRS 0x3333333333333333u
#define NIBBLES 0x0f0f0f0f0f0f0f0fu
#define SHORTS 0x00ff00ff00ff00ffu

struct half {
	uint64_t used[WORDS]; /* the trits of each column that are not zero in any step */
	uint64_t trits;       /* that are not zero */
};

/* The lower bits of the rows of step `s` that exist. */
static uint64_t rows_of_step(int64_t K, int64_t s)
{
	uint64_t rows = 0;
	for (int64_t r = 0; r < TRI_TRIT2_STEP && s * TRI_TRIT2_STEP + r < K; r++)
		rows |= (uint64_t)0x100000001 << (8 * (r % 4) + 2 * (r / 4));
	return rows;
}

/* Adds one step; returns the rows that are used. */
static uint32_t trit2_zeros_add_step(struct half *h, const uint8_t *block, uint64_t rows, const uint64_t columns[WORDS])
{
	uint64_t all = 0, bytes = 0;
	for (int i = 0; i < WORDS; i += 2) {
		uint64_t w[2];
		memcpy(w, block + 8 * i, sizeof w);
		w[0] = ~w[0] & rows & columns[i];
		w[1] = ~w[1] & rows & columns[i + 1];
		h->used[i] |= w[0];
		h->used[i + 1] |= w[1];
		all |= w[0] | w[1];
		uint64_t pairs = w[0] + w[1]; /* at most 2 in each */
		pairs = (pairs & PAIRS) + (pairs >> 2 & PAIRS);
		bytes += (pairs & NIBBLES) + (pairs >> 4 & NIBBLES);
	}
	h->trits += ((bytes & SHORTS) + (bytes >> 8 & SHORTS)) * 0x0001000100010001u >> 48;
	return (uint32_t)(all | all >> 32);
}

static uint64_t columns_used(const struct half *h)
{
	uint64_t n = 0;
	for (int i = 0; i < WORDS; i++)
		n += ((uint32_t)h->used[i] != 0) + (h->used[i] >> 32 != 0);
	return n;
}

/* One panel; returns its trits that are not zero. */
static uint64_t add_panel(const uint8_t *packed, int64_t K, int64_t N, int64_t panel, uint32_t *used, uint64_t *columns)
{
	const uint64_t whole = LOWER;
	int64_t steps = tri_trit2_steps(K), left = N - panel * TRI_TRIT2_PANEL;
	int halves = tri_trit2_halves(N, panel);
	struct half h[2] = {0};
	uint64_t exists[2][WORDS];
	for (int64_t c = 0; c < 2 * WORDS * 2; c += 2)
		exists[c / (2 * WORDS)][c % (2 * WORDS) / 2] = left > c + 1 ? ~(uint64_t)0 : left > c ? 0xffffffffu : 0;
	memset(used, 0, (size_t)steps * sizeof *used);
	for (int64_t s = 0; s < steps; s++) {
		uint64_t rows = (s + 1) * TRI_TRIT2_STEP <= K ? whole : rows_of_step(K, s);
		for (int i = 0; i < halves; i++, packed += TRI_TRIT2_BLOCK)
			used[s] |= trit2_zeros_add_step(&h[i], packed, rows, exists[i]);
	}
	*columns += columns_used(&h[0]) + columns_used(&h[1]);
	return h[0].trits + h[1].trits;
}

static uint64_t count_quads(const uint32_t *used, int64_t steps)
{
	uint64_t n = 0;
	for (int64_t s = 0; s < steps; s++)
		for (int64_t q = 0; q < 4; q++)
			n += (uint64_t)tri_trit2_quad_used(used[s], q);
	return n;
}

static uint64_t trit2_zeros_count_rows(const uint32_t *used, int64_t K, int64_t panels)
{
	uint64_t n = 0;
	int64_t steps = tri_trit2_steps(K);
	for (int64_t s = 0; s < steps; s++) {
		uint32_t all = 0;
		for (int64_t p = 0; p < panels; p++)
			all |= used[p * steps + s];
		for (int64_t r = 0; r < TRI_TRIT2_STEP; r++)
			n += (uint64_t)tri_trit2_row_used(all, r);
	}
	return n;
}

void tri_trit2_zeros(const void *packed, int64_t K, int64_t N, uint32_t *used, struct tri_zeros *out)
{
	int64_t steps = tri_trit2_steps(K), panels = tri_trit2_panels(N);
	uint64_t trits = 0, columns = 0, quads = 0;
	for (int64_t p = 0; p < panels; p++) {
		trits += add_panel((const uint8_t *)packed + tri_trit2_offset(K, p), K, N, p, used + p * steps, &columns);
		quads += count_quads(used + p * steps, steps);
	}
	*out = (struct tri_zeros){.trits = (uint64_t)(K * N) - trits,
				  .rows = (uint32_t)((uint64_t)K - trit2_zeros_count_rows(used, K, panels)),
				  .columns = (uint32_t)((uint64_t)N - columns),
				  .blocks = (uint32_t)((uint64_t)panels * tri_trit2_quads(K) - quads)};
}
