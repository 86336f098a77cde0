/* Packs TRIT1_6. This file is also part of trib, which packs weights when it links a model. */
#include "backend/runtime/pack/trit1_6.h"

size_t tri_trit1_6_packed_size(int64_t K, int64_t N)
{
	int64_t halves = N / TRI_TRIT2_LANES + (N % TRI_TRIT2_LANES != 0);
	return (size_t)halves * (size_t)tri_trit1_6_groups(K) * TRI_TRIT1_6_LINES * TRI_TRIT2_BLOCK;
}

static uint8_t pack_byte(uint8_t fields, uint8_t fifth)
{
	return (uint8_t)((fields & 3) + 3 * (fields >> 2 & 3) + 9 * (fields >> 4 & 3) + 27 * (fields >> 6) + TRI_TRIT1_6_UNIT * fifth);
}

/* Packs the blocks of one half in a group of `steps` steps, which are `stride` bytes apart in both forms. */
static void pack_group(const uint8_t *blocks, int64_t steps, int64_t stride, uint8_t *out)
{
	for (int j = 0; j < TRI_TRIT1_6_LINES; j++)
		for (int i = 0; i < TRI_TRIT2_BLOCK; i++) {
			uint8_t fields = j < steps ? blocks[j * stride + i] : 0;
			uint8_t last = steps == TRI_TRIT1_6_STEPS ? blocks[TRI_TRIT1_6_LINES * stride + i] : 0;
			out[j * stride + i] = pack_byte(fields, last >> 2 * j & 3);
		}
}

void tri_trit1_6_pack(const void *trit2, int64_t K, int64_t N, void *out)
{
	int64_t steps = tri_trit2_steps(K);
	for (int64_t p = 0; p < tri_trit2_panels(N); p++) {
		const uint8_t *from = (const uint8_t *)trit2 + tri_trit2_offset(K, p);
		uint8_t *to = (uint8_t *)out + tri_trit1_6_offset(K, p);
		int64_t stride = tri_trit2_halves(N, p) * TRI_TRIT2_BLOCK;
		for (int64_t s = 0; s < steps; s += TRI_TRIT1_6_STEPS, from += TRI_TRIT1_6_STEPS * stride, to += TRI_TRIT1_6_LINES * stride)
			for (int64_t h = 0; h < stride; h += TRI_TRIT2_BLOCK)
				pack_group(from + h, steps - s < TRI_TRIT1_6_STEPS ? steps - s : TRI_TRIT1_6_STEPS, stride, to + h);
	}
}
