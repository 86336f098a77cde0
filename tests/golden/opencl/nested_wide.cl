kernel void nested_k0(global uchar *p0, ulong o0, global uchar *p1, ulong o1, global uchar *p5, ulong o5)
{
	global float *b0 = (global float *)(p0 + o0);
	global float *b1 = (global float *)(p1 + o1);
	global float *b5 = (global float *)(p5 + o5);
	private uchar frame[128] __attribute__((aligned(64)));
	for (long i0 = 0; i0 < 4; i0++) {
		private float b2[1];
		private float *b3 = (private float *)(frame + 0);
		private float *b4 = (private float *)(frame + 64);
		{
			const float v0 = 0.0f;
			b2[0] = v0;
		}
		for (long i1 = 0; i1 < 2; i1++) {
			{
				for (long q2 = 0; q2 < 3; q2 += 2) {
					const long w2 = q2 < 3 - 2 ? q2 : 3 - 2;
					{
						const long i2 = w2;
						const float2 v0 = *(global tri_float2 *)(b0 + i0 * 6 + i1 * 3 + i2);
						const float2 v1 = -v0;
						*(private tri_float2 *)(b3 + i2) = v1;
					}
				}
			}
			{
				const float v1 = b2[0];
				float a0 = 0;
				float2 a0_1 = (float2)(0);
				{
					long q2 = 0;
					for (; q2 + 2 <= 3; q2 += 2) {
						{
							const long r0 = q2;
							const float2 v0 = *(private tri_float2 *)(b3 + r0);
							a0_1 = a0_1 + v0;
						}
					}
					{
						const long r0 = 1;
						const float2 v0 = *(private tri_float2 *)(b3 + r0);
						a0_1 = a0_1 + tri_select_float2((uchar2)(0, 1), v0, (float2)(0));
					}
				}
				a0 = a0 + tri_fold_add_float2(a0_1);
				const float v2 = a0;
				const float v3 = v1 + v2;
				b2[0] = v3;
				b4[i1] = v2;
			}
		}
		{
			const float v0 = b2[0];
			const float v1 = b4[1];
			const float v2 = v0 + v1;
			b5[i0] = v2;
		}
		{
			const float v0 = b5[i0];
			b1[i0] = v0;
		}
	}
}

kernel void nested_k1(global uchar *p5, ulong o5, global uchar *p6, ulong o6)
{
	global float *b5 = (global float *)(p5 + o5);
	global float *b6 = (global float *)(p6 + o6);
	for (long i0 = 0; i0 < 2; i0++) {
		for (long i1 = 0; i1 < 4; i1++) {
			{
				const float v0 = b5[i1];
				b6[i0 * 4 + i1] = v0;
			}
		}
	}
}

