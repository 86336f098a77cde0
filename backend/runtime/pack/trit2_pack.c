/* Packs TRIT2. This file is also part of trib, which packs weights when it links a model. */
#include "backend/runtime/pack/trit2.h"
#include <string.h>

size_t tri_trit2_packed_size(int64_t K, int64_t N)
{
	int64_t halves = N / TRI_TRIT2_LANES + (N % TRI_TRIT2_LANES != 0);
	return (size_t)halves * (size_t)tri_trit2_steps(K) * TRI_TRIT2_BLOCK;
}

/* Packs columns n … n+lanes-1 of w, rows k … k+rows-1. */
static void trit2_pack_block(const int8_t *w, int64_t N, int64_t rows, int64_t lanes, uint8_t out[TRI_TRIT2_BLOCK])
{
	memset(out, 0, TRI_TRIT2_BLOCK);
	for (int64_t r = 0; r < rows; r++) {
		unsigned field = (unsigned)(r / 4), j = (unsigned)(r % 4);
		const int8_t *row = w + r * N;
		for (int64_t lane = 0; lane < lanes; lane++)
			out[4 * lane + j] |= (uint8_t)(((row[lane] + 1) & 3) << (2 * field));
	}
}

/* The 32-bit word of a column: k … k+15 are in `w`. */
static uint32_t pack_word(const int8_t *w)
{
	uint32_t out = 0;
	for (unsigned field = 0; field < 4; field++) {
		uint32_t four;
		memcpy(&four, w + 4 * field, 4); /* bytes -1, 0, 1: no carry leaves a byte if the sign bits are cut off first */
		out |= ((four & 0x03030303u) + 0x01010101u & 0x03030303u) << 2 * field;
	}
	return out;
}

/* Packs columns of which w has the rows, k … k+rows-1. */
static void pack_block_transposed(const int8_t *w, int64_t K, int64_t rows, int64_t lanes, uint8_t out[TRI_TRIT2_BLOCK])
{
	for (int64_t lane = 0; lane < lanes && rows == TRI_TRIT2_STEP; lane++) {
		uint32_t word = pack_word(w + lane * K);
		memcpy(out + 4 * lane, &word, sizeof word);
	}
	if (rows == TRI_TRIT2_STEP) {
		memset(out + 4 * lanes, 0, (size_t)(TRI_TRIT2_LANES - lanes) * 4);
		return;
	}
	memset(out, 0, TRI_TRIT2_BLOCK);
	for (int64_t lane = 0; lane < lanes; lane++)
		for (int64_t r = 0; r < rows; r++)
			out[4 * lane + r % 4] |= (uint8_t)(((w[lane * K + r] + 1) & 3) << (2 * (r / 4)));
}

void tri_trit2_pack_transposed(const int8_t *w, int64_t K, int64_t N, void *out)
{
	uint8_t *at = out;
	for (int64_t p = 0; p < tri_trit2_panels(N); p++) {
		int halves = tri_trit2_halves(N, p);
		for (int64_t k = 0; k < K; k += TRI_TRIT2_STEP)
			for (int h = 0; h < halves; h++, at += TRI_TRIT2_BLOCK) {
				int64_t n = p * TRI_TRIT2_PANEL + h * TRI_TRIT2_LANES;
				pack_block_transposed(w + n * K + k, K, K - k < TRI_TRIT2_STEP ? K - k : TRI_TRIT2_STEP,
						      N - n < TRI_TRIT2_LANES ? N - n : TRI_TRIT2_LANES, at);
			}
	}
}

void tri_trit2_pack(const int8_t *w, int64_t K, int64_t N, void *out)
{
	uint8_t *at = out;
	for (int64_t p = 0; p < tri_trit2_panels(N); p++) {
		int halves = tri_trit2_halves(N, p);
		for (int64_t k = 0; k < K; k += TRI_TRIT2_STEP) {
			for (int h = 0; h < halves; h++, at += TRI_TRIT2_BLOCK) {
				int64_t n = p * TRI_TRIT2_PANEL + h * TRI_TRIT2_LANES;
				int64_t rows = K - k < TRI_TRIT2_STEP ? K - k : TRI_TRIT2_STEP;
				int64_t lanes = N - n < TRI_TRIT2_LANES ? N - n : TRI_TRIT2_LANES;
				trit2_pack_block(w + k * N + n, N, rows, lanes, at);
			}
		}
	}
}
