kernel void mean_square_k0(global uchar *p0, ulong o0, global uchar *p1, ulong o1, global uchar *p2, ulong o2)
{
	global float *b0 = (global float *)(p0 + o0);
	global float *b1 = (global float *)(p1 + o1);
	global float *b2 = (global float *)(p2 + o2);
	const float v5 = 4800.0f;
	for (long q0 = 0; q0 < 8; q0++) {
		const long i0 = q0;
		float a0 = 0;
		float16 a0_1 = (float16)(0);
		float16 a0_2 = (float16)(0);
		float16 a0_3 = (float16)(0);
		float16 a0_4 = (float16)(0);
		for (long q1 = 0; q1 < 3; q1++) {
			const long r0 = q1;
			const float v1 = b1[r0];
			{
				long q2 = 0;
				for (; q2 + 64 <= 1600; q2 += 64) {
					{
						const long r1 = q2;
						const float16 v0 = *(global tri_float16 *)(b0 + i0 * 4800 + r0 * 1600 + r1);
						const float16 v2 = v0 * v0;
						const float16 v3 = v2 * (float16)(v1);
						a0_1 = a0_1 + v3;
					}
					{
						const long r1 = q2 + 16;
						const float16 v0 = *(global tri_float16 *)(b0 + i0 * 4800 + r0 * 1600 + r1);
						const float16 v2 = v0 * v0;
						const float16 v3 = v2 * (float16)(v1);
						a0_2 = a0_2 + v3;
					}
					{
						const long r1 = q2 + 32;
						const float16 v0 = *(global tri_float16 *)(b0 + i0 * 4800 + r0 * 1600 + r1);
						const float16 v2 = v0 * v0;
						const float16 v3 = v2 * (float16)(v1);
						a0_3 = a0_3 + v3;
					}
					{
						const long r1 = q2 + 48;
						const float16 v0 = *(global tri_float16 *)(b0 + i0 * 4800 + r0 * 1600 + r1);
						const float16 v2 = v0 * v0;
						const float16 v3 = v2 * (float16)(v1);
						a0_4 = a0_4 + v3;
					}
				}
				for (; q2 + 16 <= 1600; q2 += 16) {
					{
						const long r1 = q2;
						const float16 v0 = *(global tri_float16 *)(b0 + i0 * 4800 + r0 * 1600 + r1);
						const float16 v2 = v0 * v0;
						const float16 v3 = v2 * (float16)(v1);
						a0_1 = a0_1 + v3;
					}
				}
			}
		}
		a0_1 = a0_1 + a0_2;
		a0_3 = a0_3 + a0_4;
		a0_1 = a0_1 + a0_3;
		a0 = a0 + tri_fold_add_float16(a0_1);
		const float v4 = a0;
		const float v6 = v4 / v5;
		b2[i0] = v6;
	}
}

