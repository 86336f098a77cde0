/* Tile of i8_trit2_tile.h in vector extensions, for any target. Even and odd bytes are multiplied in 16 bits. A step adds at most 512
 * for each field and lane, so sums are widened every 16 steps. */
typedef uint16_t u16x8 __attribute__((vector_size(16)));
typedef int16_t i16x8 __attribute__((vector_size(16)));

enum { TILE_COLS = 4, TILE_STEPS = 1 << 20, WIDEN_STEPS = 16 };

TRI_INLINE i16x8 pair(int8_t a, int8_t b) { return (i16x8){a, b, a, b, a, b, a, b}; }

/* Four columns: 16 bytes of each step at w. */
TRI_INLINE void quad(const uint8_t *w, int64_t stride, const int8_t *x, int64_t ldx, int64_t steps, const int C, int32_t (*acc)[32])
{
	while (steps > 0) {
		i16x8 sum[TILE_COLS] = {{0}};
		int64_t n = steps < WIDEN_STEPS ? steps : WIDEN_STEPS;
		steps -= n;
		for (; n > 0; n--, w += stride, x += 16) {
			u16x8 packed;
			memcpy(&packed, w, 16);
#pragma GCC unroll 4
			for (int f = 0; f < 4; f++) {
				i16x8 even = (i16x8)((packed >> (uint16_t)(2 * f)) & 3),
				      odd = (i16x8)((packed >> (uint16_t)(2 * f + 8)) & 3);
#pragma GCC unroll 4
				for (int c = 0; c < C; c++) {
					const int8_t *a = x + c * ldx + 4 * f;
					sum[c] += even * pair(a[0], a[2]) + odd * pair(a[1], a[3]);
				}
			}
		}
		for (int c = 0; c < C; c++)
			for (int l = 0; l < 4; l++)
				acc[c][l] += sum[c][2 * l] + sum[c][2 * l + 1];
	}
}

static void tile_add(const uint8_t *w, const int8_t *x, int64_t ldx, int64_t steps, int halves, int cols, int32_t (*acc)[32])
{
	for (int q = 0; q < 4 * halves; q++) {
		int32_t(*at)[32] = (int32_t(*)[32])(acc[0] + 4 * q);
		switch (cols) {
		case 1: quad(w + 16 * q, halves * 64, x, ldx, steps, 1, at); break;
		case 2: quad(w + 16 * q, halves * 64, x, ldx, steps, 2, at); break;
		case 3: quad(w + 16 * q, halves * 64, x, ldx, steps, 3, at); break;
		case 4: quad(w + 16 * q, halves * 64, x, ldx, steps, 4, at); break;
		}
	}
}
