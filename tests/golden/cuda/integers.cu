kernel void integers_k0(uchar *p0, ulong o0, uchar *p1, ulong o1, uchar *p2, ulong o2, uchar *p3, ulong o3)
{
	int *b0 = (int *)(p0 + o0);
	double *b1 = (double *)(p1 + o1);
	char *b2 = (char *)(p2 + o2);
	char *b3 = (char *)(p3 + o3);
	int g = (int)get_global_id(0);
	if (g >= 4 * 4)
		return;
	const int i1 = g % 4;
	g /= 4;
	const int i0 = g;
	const int v0 = b0[15 + i0 * (-4) + i1 * (-1)];
	const int v1 = (-2147483647 - 1);
	const long v2 = i1;
	const int v3 = (int)v2;
	const int v4 = tri_add_int(v0, v1);
	const int v5 = tri_floordiv_int(v4, v3);
	const int v6 = (-7);
	const int v7 = tri_mod_int(v5, v6);
	const char v8 = (char)v7;
	const double v9 = b1[i0 * 4 + i1];
	const double v10 = 0.10000000000000001;
	const uchar v11 = v9 < v10;
	const char v12 = tri_double_to_trit(v9);
	const char v13 = (char)v0;
	const char v14 = v11 ? v8 : v13;
	b2[i0 * 4 + i1] = v14;
	b3[i0 * 4 + i1] = v12;
}

