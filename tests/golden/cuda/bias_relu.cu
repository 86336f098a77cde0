static __constant__ const float bias_relu_c2[8] __attribute__((aligned(32), unused)) = {0.5f, (-1.0f), 0.0f, 9.99999968e-21f, 3.0f, 0.100000001f, (-0.0f), 65536.0f};

kernel void bias_relu_k0(uchar *p0, ulong o0, uchar *p1, ulong o1, long n0)
{
	float *b0 = (float *)(p0 + o0);
	float *b1 = (float *)(p1 + o1);
	(void)n0;
	long g = (long)get_global_id(0);
	if (g >= n0 * 8)
		return;
	const long i1 = g % 8;
	g /= 8;
	const long i0 = g;
	const float v0 = b0[i0 * 8 + i1];
	const float v1 = bias_relu_c2[i1];
	const float v2 = v0 + v1;
	const float v3 = 0.0f;
	const float v4 = tri_max_float(v2, v3);
	b1[i0 * 8 + i1] = v4;
}

