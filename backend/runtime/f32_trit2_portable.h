/* Tile of matmul_f32_trit2.c in vector extensions. The bits of the trit set the sign of the activation or clear it. */
typedef uint32_t u32x4 __attribute__((vector_size(16)));
typedef float f32x4 __attribute__((vector_size(16)));

enum { TILE_COLS = 2 };

/* Four columns: 16 bytes of each step at w. */
TRI_INLINE void quad(const uint8_t *w, int64_t stride, const float *x, int64_t ldx, int64_t steps, const int C, float (*acc)[32])
{
	f32x4 sum[TILE_COLS][4] = {{{0}}};
	for (int64_t s = 0; s < steps; s++, w += stride, x += 16) {
		u32x4 packed;
		memcpy(&packed, w, 16);
#pragma GCC unroll 4
		for (int f = 0; f < 4; f++)
#pragma GCC unroll 4
			for (int j = 0; j < 4; j++) {
				u32x4 t = packed >> (uint32_t)(8 * j + 2 * f);
				u32x4 zero = -(t & 1u);             /* field 1: trit 0 */
				u32x4 sign = ((t & 2u) ^ 2u) << 30; /* field 0: trit -1 */
#pragma GCC unroll 2
				for (int c = 0; c < C; c++) {
					uint32_t a;
					memcpy(&a, x + c * ldx + 4 * f + j, 4);
					sum[c][j] += (f32x4)(((u32x4){a, a, a, a} ^ sign) & ~zero);
				}
			}
	}
	for (int c = 0; c < C; c++) {
		f32x4 all = (sum[c][0] + sum[c][1]) + (sum[c][2] + sum[c][3]);
		for (int l = 0; l < 4; l++)
			acc[c][l] += all[l];
	}
}

static void tile_add(const uint8_t *w, const float *x, int64_t ldx, int64_t steps, int halves, int cols, float (*acc)[32])
{
	for (int q = 0; q < 4 * halves; q++) {
		float(*at)[32] = (float(*)[32])(acc[0] + 4 * q);
		if (cols == 1)
			quad(w + 16 * q, halves * 64, x, ldx, steps, 1, at);
		else
			quad(w + 16 * q, halves * 64, x, ldx, steps, 2, at);
	}
}
