/* Code of f32_trit2.c in vector extensions. The bits of the trit set the sign of a number or clear it. */
typedef uint32_t u32x4 __attribute__((vector_size(16)));
typedef float f32x4 __attribute__((vector_size(16)));

enum { MOST_HALVES = 2, MOST_PRODUCTS = MOST_HALVES };
#define multiply_halves sum_halves

/* Returns a, 0 or -a for the trit of term k of each lane. */
TRI_INLINE f32x4 choose(uint32_t a, u32x4 packed, int k)
{
	u32x4 t = packed >> (uint32_t)(8 * (k % 4) + 2 * (k / 4));
	u32x4 zero = -(t & 1u);             /* field 1: trit 0 */
	u32x4 sign = ((t & 2u) ^ 2u) << 30; /* field 0: trit -1 */
	return (f32x4)(((u32x4){a, a, a, a} ^ sign) & ~zero);
}

TRI_INLINE void expand_half(const uint8_t *w, int64_t width, float *out)
{
	for (int v = 0; v < 4; v++) {
		u32x4 packed;
		memcpy(&packed, w + 16 * v, 16);
		for (int k = 0; k < 16; k++) {
			f32x4 t = choose(0x3f800000, packed, k); /* 1.0 */
			memcpy(out + k * width + 4 * v, &t, 16);
		}
	}
}

TRI_INLINE void sum_halves(const uint8_t *const *w, const int64_t *strides, const float *x, int64_t steps, const int H, float (*out)[16])
{
	for (int h = 0; h < H; h++) {
		f32x4 sum[4] = {{0}};
		for (int64_t s = 0; s < steps; s++)
			for (int v = 0; v < 4; v++) {
				u32x4 packed;
				memcpy(&packed, w[h] + s * strides[h] + 16 * v, 16);
				for (int k = 0; k < 16; k++) {
					uint32_t a;
					memcpy(&a, x + 16 * s + k, 4);
					sum[v] += choose(a, packed, k);
				}
			}
		memcpy(out[h], sum, sizeof sum);
	}
}
