/* Tile of trits_tile.h for any processor. */
enum { TILE_ROWS = 2 };

TRI_INLINE struct tile_word planes_of(const int8_t *x)
{
	struct tile_word out = {0, 0};
	for (int i = 0; i < TRI_PLANES_WORD; i++) {
		out.nonzero |= ((uint32_t)x[i] & 1) << i;
		out.negative |= ((uint32_t)x[i] >> 31) << i;
	}
	return out;
}

TRI_INLINE void tile_sum(_Bool counts_words, const uint32_t *w, const struct tile_word *x, int64_t words, int halves, int rows,
			 const struct tile_y *y)
{
	(void)counts_words;
	for (int r = 0; r < rows && !y->more; r++)
		memset(y->y + r * y->ld, 0, (size_t)halves * TRI_PLANES_LANES * sizeof(int32_t));
	for (int64_t k = 0; k < words; k++, x += rows)
		for (int h = 0; h < halves; h++, w += TRI_PLANES_BLOCK)
			for (int r = 0; r < rows; r++) {
				int32_t *to = y->y + r * y->ld + h * TRI_PLANES_LANES;
				for (int l = 0; l < TRI_PLANES_LANES; l++) {
					uint32_t nonzero = w[l] & x[r].nonzero,
						 negative = nonzero & (w[TRI_PLANES_LANES + l] ^ x[r].negative);
					to[l] += __builtin_popcount(nonzero) - 2 * __builtin_popcount(negative);
				}
			}
}
