kernel void vectors_k0(global uchar *p0, ulong o0, global uchar *p1, ulong o1, global uchar *p2, ulong o2)
{
	global char *b0 = (global char *)(p0 + o0);
	global char *b1 = (global char *)(p1 + o1);
	global char *b2 = (global char *)(p2 + o2);
	const long from = (long)get_global_id(0) * 204, to = from + 204 < 1024 ? from + 204 : 1024;
	const char v3 = 0;
	for (long q0 = from; q0 < to; q0++) {
		const long i0 = q0;
		for (long q1 = 0; q1 + 16 <= 256; q1 += 16) {
			{
				const long i1 = q1;
				const char16 v0 = *(global tri_char16 *)(b0 + i0 * 256 + i1);
				const char16 v1 = *(global tri_char16 *)(b1 + i1);
				const uchar16 v2 = tri_lt_char16(v0, v1);
				const char16 v4 = tri_select_char16(v2, v0, (char16)(v3));
				*(global tri_char16 *)(b2 + i0 * 256 + i1) = v4;
			}
		}
	}
}

