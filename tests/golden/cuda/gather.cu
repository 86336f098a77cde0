kernel void gather_k0(uchar *p0, ulong o0, uchar *p1, ulong o1, uchar *p2, ulong o2, long n0, long *fail)
{
	int *b0 = (int *)(p0 + o0);
	half *b1 = (half *)(p1 + o1);
	ushort *b2 = (ushort *)(p2 + o2);
	(void)n0;
	long g = (long)get_global_id(0);
	if (g >= n0 * 3)
		return;
	const long i1 = g % 3;
	g /= 3;
	const long i0 = g;
	const int v0 = b0[i0];
	const long v1 = (long)v0;
	const long v2 = tri_check(fail, v1, (n0 + 7), 0x1b1e4b2d00000000ul);
	const float v3 = vload_half(i1 + v2 * 3, b1);
	const float v4 = tri_round_bf16((float)v3);
	b2[i0 * 3 + i1] = tri_bf16_bits(v4);
}

kernel void gather_k1(uchar *p2, ulong o2, uchar *p3, ulong o3, long n0)
{
	ushort *b2 = (ushort *)(p2 + o2);
	long *b3 = (long *)(p3 + o3);
	(void)n0;
	long g = (long)get_global_id(0);
	if (g >= n0)
		return;
	const long i0 = g;
	float m0 = 0;
	long a0 = 0, c0 = 0;
	for (long r0 = 0; r0 < 3; r0++) {
		const float v0 = tri_bf16_value(b2[i0 * 3 + r0]);
		if (c0 == 0 || v0 > m0 || (v0 != v0 && m0 == m0)) {
			m0 = v0;
			a0 = c0;
		}
		c0++;
	}
	const long v1 = a0;
	b3[i0] = v1;
}

