kernel void vectors_k0(uchar *p0, ulong o0, uchar *p1, ulong o1, uchar *p2, ulong o2)
{
	char *b0 = (char *)(p0 + o0);
	char *b1 = (char *)(p1 + o1);
	char *b2 = (char *)(p2 + o2);
	int g = (int)get_global_id(0);
	if (g >= 1024 * 64)
		return;
	const int i1 = g % 64 * 4;
	g /= 64;
	const int i0 = g;
	const char4 v0 = *(char4 *)(b0 + i0 * 256 + i1);
	const char4 v1 = *(char4 *)(b1 + i1);
	const uchar4 v2 = tri_lt_char4(v0, v1);
	const char v3 = 0;
	const char4 v4 = tri_select_char4(v2, v0, (char4)(v3));
	*(char4 *)(b2 + i0 * 256 + i1) = v4;
}

