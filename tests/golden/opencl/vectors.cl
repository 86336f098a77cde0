kernel void vectors_k0(global uchar *p0, ulong o0, global uchar *p1, ulong o1, global uchar *p2, ulong o2)
{
	global char *b0 = (global char *)(p0 + o0);
	global char *b1 = (global char *)(p1 + o1);
	global char *b2 = (global char *)(p2 + o2);
	int g = (int)get_global_id(0);
	if (g >= 1024 * 64)
		return;
	const int i1 = g % 64 * 4;
	g /= 64;
	const int i0 = g;
	const char4 v0 = *(global char4 *)(b0 + i0 * 256 + i1);
	const char4 v1 = *(global char4 *)(b1 + i1);
	const uchar4 v2 = tri_lt_char4(v0, v1);
	const char v3 = 0;
	const char4 v4 = tri_select_char4(v2, v0, (char4)(v3));
	*(global char4 *)(b2 + i0 * 256 + i1) = v4;
}

