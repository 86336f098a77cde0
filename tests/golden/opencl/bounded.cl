kernel void bounded_k0(global uchar *p0, ulong o0, global uchar *p1, ulong o1, global uchar *p2, ulong o2, long n0)
{
	global float *b0 = (global float *)(p0 + o0);
	global char *b1 = (global char *)(p1 + o1);
	global short *b2 = (global short *)(p2 + o2);
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

