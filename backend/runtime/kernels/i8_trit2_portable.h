/* Tile of i8_trit2_tile.h in vector extensions, for any target. Even and odd bytes are multiplied in 16 bits. A step adds at most 512
 * for each field and lane, so sums are widened every 16 steps. */
typedef uint16_t u16x8 __attribute__((vector_size(16)));
typedef int16_t i16x8 __attribute__((vector_size(16)));

enum { TILE_COLS = 4, TILE_STEPS = 1 << 20, WIDEN_STEPS = 16 };

TRI_INLINE i16x8 pair(int8_t a, int8_t b) { return (i16x8){a, b, a, b, a, b, a, b}; }

/* Four columns: 16 bytes of each step at w. */
TRI_INLINE void four_columns(const uint8_t *w, int64_t stride, const struct tile_x *x, int64_t steps, const int C, const _Bool table,
			     int32_t *y, int64_t ld)
{
	for (int64_t s = 0; s < steps;) {
		i16x8 sum[TILE_COLS] = {{0}};
		int64_t end = steps - s < WIDEN_STEPS ? steps : s + WIDEN_STEPS;
		for (; s < end; s++, w += stride) {
			u16x8 packed;
			memcpy(&packed, w, 16);
#pragma GCC unroll 4
			for (int f = 0; f < 4; f++) {
				i16x8 even = (i16x8)((packed >> (uint16_t)(2 * f)) & 3),
				      odd = (i16x8)((packed >> (uint16_t)(2 * f + 8)) & 3);
				int64_t at = quad_at(x, s, f, table);
#pragma GCC unroll 4
				for (int c = 0; c < C; c++) {
					const int8_t *a = x->row[c] + at;
					sum[c] += even * pair(a[0], a[2]) + odd * pair(a[1], a[3]);
				}
			}
		}
		for (int c = 0; c < C; c++)
			for (int l = 0; l < 4; l++)
				y[c * ld + l] += sum[c][2 * l] + sum[c][2 * l + 1];
	}
}

TRI_INLINE void tile_sum(const uint8_t *w, const struct tile_x *x, int64_t steps, int halves, int cols, const _Bool table, struct tile_y to)
{
	int64_t stride = halves * 64;
	steps = padded_steps(x, steps, table);
	for (int c = 0; c < cols; c++)
		for (int l = 0; l < halves * TRI_TRIT2_LANES; l++)
			to.y[c * to.ld + l] = to.start[c];
	for (int q = 0; q < 4 * halves; q++, w += 16, to.y += 4)
		switch (cols) {
		case 1: four_columns(w, stride, x, steps, 1, table, to.y, to.ld); break;
		case 2: four_columns(w, stride, x, steps, 2, table, to.y, to.ld); break;
		case 3: four_columns(w, stride, x, steps, 3, table, to.y, to.ld); break;
		case 4: four_columns(w, stride, x, steps, 4, table, to.y, to.ld); break;
		}
}

static int32_t i8_sum(const int8_t *x, int64_t n, int64_t lines, int64_t distance)
{
	int32_t sum = 0;
	for (int64_t l = 0; l < lines; l++, x += distance)
		for (int64_t k = 0; k < n; k++)
			sum += x[k];
	return sum;
}

TRI_INLINE void i8_sums(const int8_t *const *x, int64_t n, int64_t lines, int64_t distance, int32_t *sums)
{
	for (int i = 0; i < SUMS; i++)
		sums[i] = i8_sum(x[i], n, lines, distance);
}
