/* y int [M, N] = x char [M, K] · w TRIT2 [K, N], exact. backend/runtime/pack/trit2.h describes w: panels of 32 columns, steps of 16 k, and in a step a 32-bit
 * word for each column. Bits 2f, 2f+1 of its byte j hold trit + 1 of k = 16·step + 4·f + j. A work item computes four rows of one column; neighbours
 * read neighbouring words. Work items: ceil(M / 4) · N. */

#ifndef TRI_MATMUL_I8_TRIT2
#define TRI_MATMUL_I8_TRIT2
/* Returns trits k = 4·f … 4·f+3 of a word. */
int4 tri_i8_trits(uint word, int f) { return convert_int4(as_char4(word >> 2 * f & 0x03030303u)) - 1; }

/* Returns x[k … k+3], and 0 from K on. */
int4 tri_i8_load(global const char *x, long k, long K)
{
	if (k + 4 <= K)
		return convert_int4(vload4(0, x + k));
	return (int4)(k < K ? x[k] : 0, k + 1 < K ? x[k + 1] : 0, k + 2 < K ? x[k + 2] : 0, 0);
}

int tri_i8_dot(int4 a, int4 b)
{
	const int4 p = a * b;
	return p.s0 + p.s1 + p.s2 + p.s3;
}
#endif

#ifndef TRI_NAME /* without an epilogue */
#define TRI_NAME tri_matmul_i8_trit2
#define TRI_BUFFERS , global uchar *py, ulong oy
#define TRI_DIMS
#define TRI_STORE(batch, row, column, value) ((global int *)(py + oy))[(row) * N + (column)] = (value)
#endif
kernel void TRI_NAME(global uchar *px, ulong ox, global uchar *pw, ulong ow TRI_BUFFERS, TRI_FIELDS TRI_DIMS)
{
	global const char *x = (global const char *)(px + ox);
	global const uint *w = (global const uint *)(pw + ow);
	const long g = (long)get_global_id(0);
	if (g >= (M + 3) / 4 * N)
		return;
	const long m = g / N * 4, n = g % N, steps = (K + 15) / 16, panel = n / 32;
	const long halves = N - panel * 32 > 16 ? 2 : 1;
	global const uint *word = w + panel * 32 * steps + n % 32;
	global const char *x0 = x + m * K;
	global const char *x1 = x + min(m + 1, M - 1) * K;
	global const char *x2 = x + min(m + 2, M - 1) * K;
	global const char *x3 = x + min(m + 3, M - 1) * K;
	int4 sum = 0;
	for (long s = 0; s < steps; s++) {
		const uint bits = word[s * halves * 16];
		for (int f = 0; f < 4; f++) {
			const int4 t = tri_i8_trits(bits, f);
			const long k = s * 16 + f * 4;
			sum.s0 += tri_i8_dot(tri_i8_load(x0, k, K), t);
			sum.s1 += tri_i8_dot(tri_i8_load(x1, k, K), t);
			sum.s2 += tri_i8_dot(tri_i8_load(x2, k, K), t);
			sum.s3 += tri_i8_dot(tri_i8_load(x3, k, K), t);
		}
	}
	TRI_STORE(0, m, n, sum.s0);
	if (m + 1 < M)
		TRI_STORE(0, m + 1, n, sum.s1);
	if (m + 2 < M)
		TRI_STORE(0, m + 2, n, sum.s2);
	if (m + 3 < M)
		TRI_STORE(0, m + 3, n, sum.s3);
}
#undef TRI_NAME
#undef TRI_BUFFERS
#undef TRI_DIMS
#undef TRI_STORE
