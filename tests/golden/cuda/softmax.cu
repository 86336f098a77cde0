kernel void softmax_k0(uchar *p0, ulong o0, uchar *p2, ulong o2, long n0)
{
	float *b0 = (float *)(p0 + o0);
	float *b2 = (float *)(p2 + o2);
	(void)n0;
	long g = (long)get_global_id(0);
	if (g >= n0)
		return;
	const long i0 = g;
	float a0 = -INFINITY;
	for (long r0 = 0; r0 < 100; r0++) {
		const float v0 = b0[i0 * 100 + r0];
		a0 = tri_max_float(a0, v0);
	}
	const float v1 = a0;
	b2[i0] = v1;
}

kernel void softmax_k1(uchar *p0, ulong o0, uchar *p2, ulong o2, uchar *p3, ulong o3, long n0)
{
	float *b0 = (float *)(p0 + o0);
	float *b2 = (float *)(p2 + o2);
	float *b3 = (float *)(p3 + o3);
	(void)n0;
	long g = (long)get_global_id(0);
	if (g >= n0)
		return;
	const long i0 = g;
	const float v0 = b2[i0];
	float a0 = 0;
	float s0 = 0;
	int c0 = 0;
	for (long r0 = 0; r0 < 100; r0++) {
		const float v1 = b0[i0 * 100 + r0];
		const float v2 = v1 - v0;
		const float v3 = exp(v2);
		s0 += v3;
		if (++c0 == 64) {
			a0 += s0;
			s0 = 0;
			c0 = 0;
		}
	}
	a0 += s0;
	const float v4 = a0;
	b3[i0] = v4;
}

kernel void softmax_k2(uchar *p0, ulong o0, uchar *p1, ulong o1, uchar *p2, ulong o2, uchar *p3, ulong o3, long n0)
{
	float *b0 = (float *)(p0 + o0);
	float *b1 = (float *)(p1 + o1);
	float *b2 = (float *)(p2 + o2);
	float *b3 = (float *)(p3 + o3);
	(void)n0;
	long g = (long)get_global_id(0);
	if (g >= n0 * 100)
		return;
	const long i1 = g % 100;
	g /= 100;
	const long i0 = g;
	const float v0 = b2[i0];
	const float v1 = b0[i0 * 100 + i1];
	const float v2 = v1 - v0;
	const float v3 = b3[i0];
	const float v4 = exp(v2);
	const float v5 = v4 / v3;
	b1[i0 * 100 + i1] = v5;
}

