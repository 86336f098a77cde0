kernel void bounded_k0(uchar *p0, ulong o0, uchar *p1, ulong o1, uchar *p2, ulong o2, long n0)
{
	float *b0 = (float *)(p0 + o0);
	char *b1 = (char *)(p1 + o1);
	short *b2 = (short *)(p2 + o2);
	(void)n0;
	long g = (long)get_global_id(0);
	if (g >= (n0 * 40))
		return;
	const long i0 = g;
	const float v0 = b0[i0];
	const char v1 = tri_float_to_char(rint(tri_min_float(tri_max_float(v0, (-127.0f)), 127.0f)));
	const short v2 = tri_float_to_short(tri_min_float(tri_max_float(v0, (-3.5f)), 1000.25f));
	b1[i0] = v1;
	b2[i0] = v2;
}

