kernel void norm_rows_k0(global uchar *p0, ulong o0, global uchar *p1, ulong o1, long n0)
{
	global float *b0 = (global float *)(p0 + o0);
	global float *b1 = (global float *)(p1 + o1);
	private uchar frame[1088] __attribute__((aligned(64)));
	for (long i0 = 0; i0 < n0; i0++) {
		private float *b2 = (private float *)(frame + 0);
		private float *b3 = (private float *)(frame + 64);
		private float *b4 = (private float *)(frame + 0);
		{
			float a0 = 0;
			float16 a0_1 = (float16)(0);
			float16 a0_2 = (float16)(0);
			float16 a0_3 = (float16)(0);
			float16 a0_4 = (float16)(0);
			{
				long q1 = 0;
				for (; q1 + 64 <= 256; q1 += 64) {
					{
						const long r0 = q1;
						const float16 v0 = *(global tri_float16 *)(b0 + i0 * 256 + r0);
						a0_1 = a0_1 + v0;
					}
					{
						const long r0 = q1 + 16;
						const float16 v0 = *(global tri_float16 *)(b0 + i0 * 256 + r0);
						a0_2 = a0_2 + v0;
					}
					{
						const long r0 = q1 + 32;
						const float16 v0 = *(global tri_float16 *)(b0 + i0 * 256 + r0);
						a0_3 = a0_3 + v0;
					}
					{
						const long r0 = q1 + 48;
						const float16 v0 = *(global tri_float16 *)(b0 + i0 * 256 + r0);
						a0_4 = a0_4 + v0;
					}
				}
				for (; q1 + 16 <= 256; q1 += 16) {
					{
						const long r0 = q1;
						const float16 v0 = *(global tri_float16 *)(b0 + i0 * 256 + r0);
						a0_1 = a0_1 + v0;
					}
				}
			}
			a0_1 = a0_1 + a0_2;
			a0_3 = a0_3 + a0_4;
			a0_1 = a0_1 + a0_3;
			a0 = a0 + tri_fold_add_float16(a0_1);
			const float v1 = a0;
			b2[0] = v1;
		}
		{
			const float v1 = b2[0];
			for (long q1 = 0; q1 + 16 <= 256; q1 += 16) {
				{
					const long i1 = q1;
					const float16 v0 = *(global tri_float16 *)(b0 + i0 * 256 + i1);
					const float16 v2 = v0 - (float16)(v1);
					const float16 v3 = exp(v2);
					*(private tri_float16 *)(b3 + i1) = v3;
				}
			}
		}
		{
			float a0 = 0;
			float16 a0_1 = (float16)(0);
			float16 a0_2 = (float16)(0);
			float16 a0_3 = (float16)(0);
			float16 a0_4 = (float16)(0);
			{
				long q1 = 0;
				for (; q1 + 64 <= 256; q1 += 64) {
					{
						const long r0 = q1;
						const float16 v0 = *(private tri_float16 *)(b3 + r0);
						a0_1 = a0_1 + v0;
					}
					{
						const long r0 = q1 + 16;
						const float16 v0 = *(private tri_float16 *)(b3 + r0);
						a0_2 = a0_2 + v0;
					}
					{
						const long r0 = q1 + 32;
						const float16 v0 = *(private tri_float16 *)(b3 + r0);
						a0_3 = a0_3 + v0;
					}
					{
						const long r0 = q1 + 48;
						const float16 v0 = *(private tri_float16 *)(b3 + r0);
						a0_4 = a0_4 + v0;
					}
				}
				for (; q1 + 16 <= 256; q1 += 16) {
					{
						const long r0 = q1;
						const float16 v0 = *(private tri_float16 *)(b3 + r0);
						a0_1 = a0_1 + v0;
					}
				}
			}
			a0_1 = a0_1 + a0_2;
			a0_3 = a0_3 + a0_4;
			a0_1 = a0_1 + a0_3;
			a0 = a0 + tri_fold_add_float16(a0_1);
			const float v1 = a0;
			b4[0] = v1;
		}
		{
			const float v1 = b4[0];
			for (long q1 = 0; q1 + 16 <= 256; q1 += 16) {
				{
					const long i1 = q1;
					const float16 v0 = *(private tri_float16 *)(b3 + i1);
					const float16 v2 = v0 * (float16)(v1);
					*(global tri_float16 *)(b1 + i0 * 256 + i1) = v2;
				}
			}
		}
	}
}

