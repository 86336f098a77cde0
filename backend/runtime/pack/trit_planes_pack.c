/* Packs PLANES. This file is also part of trib, which packs weights when it links a model. */
#include "backend/runtime/pack/trit_planes.h"
#include <string.h>

size_t tri_planes_size(int64_t K, int64_t N)
{
	int64_t halves = N / TRI_PLANES_LANES + (N % TRI_PLANES_LANES != 0);
	return (size_t)halves * (size_t)tri_planes_words(K) * TRI_PLANES_BLOCK * sizeof(uint32_t);
}

/* Packs columns n … n+lanes-1, rows k … k+rows-1. */
static void trit_planes_pack_block(const struct tri_planes_source *s, int64_t k, int64_t rows, int64_t n, int64_t lanes,
				   uint32_t out[TRI_PLANES_BLOCK])
{
	memset(out, 0, TRI_PLANES_BLOCK * sizeof *out);
	for (int64_t r = 0; r < rows; r++) {
		const int8_t *row = s->w + (k + r) * s->k_step + n * s->n_step;
		for (int64_t lane = 0; lane < lanes; lane++) {
			uint32_t t = (uint32_t)row[lane * s->n_step];
			out[lane] |= (t & 1) << r;
			out[TRI_PLANES_LANES + lane] |= (t >> 31) << r;
		}
	}
}

void tri_planes_pack(const struct tri_planes_source *s, void *out)
{
	uint32_t *at = out;
	for (int64_t p = 0; p < tri_planes_panels(s->N); p++)
		for (int64_t k = 0; k < s->K; k += TRI_PLANES_WORD)
			for (int h = 0; h < tri_planes_halves(s->N, p); h++, at += TRI_PLANES_BLOCK) {
				int64_t n = p * TRI_PLANES_PANEL + h * TRI_PLANES_LANES;
				trit_planes_pack_block(s, k, s->K - k < TRI_PLANES_WORD ? s->K - k : TRI_PLANES_WORD, n,
						       s->N - n < TRI_PLANES_LANES ? s->N - n : TRI_PLANES_LANES, at);
			}
}
