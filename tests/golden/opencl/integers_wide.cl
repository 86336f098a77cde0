kernel void integers_k0(global uchar *p0, ulong o0, global uchar *p1, ulong o1, global uchar *p2, ulong o2, global uchar *p3, ulong o3)
{
	global int *b0 = (global int *)(p0 + o0);
	global double *b1 = (global double *)(p1 + o1);
	global char *b2 = (global char *)(p2 + o2);
	global char *b3 = (global char *)(p3 + o3);
	const int v1 = (-2147483647 - 1);
	const int v6 = (-7);
	const double v10 = 0.10000000000000001;
	for (long q0 = 0; q0 < 4; q0++) {
		const long i0 = q0;
		{
			const long i1 = 0;
			const int4 v0 = (int4)(TRI_STRIDED_4(b0 + 15 + i0 * (-4) + i1 * (-1), (-1)));
			const long4 v2 = (long4)((long)i1) + (long4)(TRI_STEPS_4);
			const int4 v3 = convert_int4(v2);
			const int4 v4 = tri_add_int4(v0, (int4)(v1));
			const int4 v5 = tri_floordiv_int4(v4, v3);
			const int4 v7 = tri_mod_int4(v5, (int4)(v6));
			const char4 v8 = convert_char4(v7);
			const double4 v9 = *(global tri_double4 *)(b1 + i0 * 4 + i1);
			const uchar4 v11 = tri_lt_double4(v9, (double4)(v10));
			const char4 v12 = tri_double4_to_trit_4(v9);
			const char4 v13 = convert_char4(v0);
			const char4 v14 = tri_select_char4(v11, v8, v13);
			*(global tri_char4 *)(b2 + i0 * 4 + i1) = v14;
			*(global tri_char4 *)(b3 + i0 * 4 + i1) = v12;
		}
	}
}

