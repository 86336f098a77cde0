kernel void softmax_k0(global uchar *p0, ulong o0, global uchar *p2, ulong o2, long n0)
{
	global float *b0 = (global float *)(p0 + o0);
	global float *b2 = (global float *)(p2 + o2);
	for (long q0 = 0; q0 < n0; q0++) {
		const long i0 = q0;
		float a0 = -INFINITY;
		float16 a0_1 = (float16)(-INFINITY);
		float16 a0_2 = (float16)(-INFINITY);
		float16 a0_3 = (float16)(-INFINITY);
		float16 a0_4 = (float16)(-INFINITY);
		{
			long q1 = 0;
			for (; q1 + 64 <= 100; q1 += 64) {
				{
					const long r0 = q1;
					const float16 v0 = *(global tri_float16 *)(b0 + i0 * 100 + r0);
					a0_1 = tri_max_float16(a0_1, v0);
				}
				{
					const long r0 = q1 + 16;
					const float16 v0 = *(global tri_float16 *)(b0 + i0 * 100 + r0);
					a0_2 = tri_max_float16(a0_2, v0);
				}
				{
					const long r0 = q1 + 32;
					const float16 v0 = *(global tri_float16 *)(b0 + i0 * 100 + r0);
					a0_3 = tri_max_float16(a0_3, v0);
				}
				{
					const long r0 = q1 + 48;
					const float16 v0 = *(global tri_float16 *)(b0 + i0 * 100 + r0);
					a0_4 = tri_max_float16(a0_4, v0);
				}
			}
			for (; q1 + 16 <= 100; q1 += 16) {
				{
					const long r0 = q1;
					const float16 v0 = *(global tri_float16 *)(b0 + i0 * 100 + r0);
					a0_1 = tri_max_float16(a0_1, v0);
				}
			}
			{
				const long r0 = 84;
				const float16 v0 = *(global tri_float16 *)(b0 + i0 * 100 + r0);
				a0_1 = tri_max_float16(a0_1, v0);
			}
		}
		a0_1 = tri_max_float16(a0_1, a0_2);
		a0_3 = tri_max_float16(a0_3, a0_4);
		a0_1 = tri_max_float16(a0_1, a0_3);
		a0 = tri_max_float(a0, tri_fold_max_float16(a0_1));
		const float v1 = a0;
		b2[i0] = v1;
	}
}

kernel void softmax_k1(global uchar *p0, ulong o0, global uchar *p2, ulong o2, global uchar *p3, ulong o3, long n0)
{
	global float *b0 = (global float *)(p0 + o0);
	global float *b2 = (global float *)(p2 + o2);
	global float *b3 = (global float *)(p3 + o3);
	for (long q0 = 0; q0 < n0; q0++) {
		const long i0 = q0;
		const float v0 = b2[i0];
		float a0 = 0;
		float16 a0_1 = (float16)(0);
		{
			long q1 = 0;
			for (; q1 + 16 <= 100; q1 += 16) {
				{
					const long r0 = q1;
					const float16 v1 = *(global tri_float16 *)(b0 + i0 * 100 + r0);
					const float16 v2 = v1 - (float16)(v0);
					const float16 v3 = exp(v2);
					a0_1 = a0_1 + v3;
				}
			}
			{
				const long r0 = 84;
				const float16 v1 = *(global tri_float16 *)(b0 + i0 * 100 + r0);
				const float16 v2 = v1 - (float16)(v0);
				const float16 v3 = exp(v2);
				a0_1 = a0_1 + tri_select_float16((uchar16)(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1), v3, (float16)(0));
			}
		}
		a0 = a0 + tri_fold_add_float16(a0_1);
		const float v4 = a0;
		b3[i0] = v4;
	}
}

kernel void softmax_k2(global uchar *p0, ulong o0, global uchar *p1, ulong o1, global uchar *p2, ulong o2, global uchar *p3, ulong o3, long n0)
{
	global float *b0 = (global float *)(p0 + o0);
	global float *b1 = (global float *)(p1 + o1);
	global float *b2 = (global float *)(p2 + o2);
	global float *b3 = (global float *)(p3 + o3);
	for (long q0 = 0; q0 < n0; q0++) {
		const long i0 = q0;
		const float v0 = b2[i0];
		const float v3 = b3[i0];
		for (long q1 = 0; q1 < 100; q1 += 16) {
			const long w1 = q1 < 100 - 16 ? q1 : 100 - 16;
			{
				const long i1 = w1;
				const float16 v1 = *(global tri_float16 *)(b0 + i0 * 100 + i1);
				const float16 v2 = v1 - (float16)(v0);
				const float16 v4 = exp(v2);
				const float16 v5 = v4 / (float16)(v3);
				*(global tri_float16 *)(b1 + i0 * 100 + i1) = v5;
			}
		}
	}
}

