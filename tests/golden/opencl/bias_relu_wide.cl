constant float bias_relu_c2[8] = {0.5f, (-1.0f), 0.0f, 9.99999968e-21f, 3.0f, 0.100000001f, (-0.0f), 65536.0f};

kernel void bias_relu_k0(global uchar *p0, ulong o0, global uchar *p1, ulong o1, long n0)
{
	global float *b0 = (global float *)(p0 + o0);
	global float *b1 = (global float *)(p1 + o1);
	const float v3 = 0.0f;
	for (long q0 = 0; q0 < n0; q0++) {
		const long i0 = q0;
		{
			const long i1 = 0;
			const float8 v0 = *(global tri_float8 *)(b0 + i0 * 8 + i1);
			const float8 v1 = *(constant tri_float8 *)(bias_relu_c2 + i1);
			const float8 v2 = v0 + v1;
			const float8 v4 = tri_max_float8(v2, (float8)(v3));
			*(global tri_float8 *)(b1 + i0 * 8 + i1) = v4;
		}
	}
}

