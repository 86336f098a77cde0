kernel void gather_k0(global uchar *p0, ulong o0, global uchar *p1, ulong o1, global uchar *p2, ulong o2, long n0, global long *fail)
{
	global int *b0 = (global int *)(p0 + o0);
	global ushort *b1 = (global ushort *)(p1 + o1);
	global ushort *b2 = (global ushort *)(p2 + o2);
	for (long q1 = 0; q1 < 3; q1++) {
		const long i1 = q1;
		if (n0 >= 16) {
			for (long q0 = 0; q0 < n0; q0 += 16) {
				const long w0 = q0 < n0 - 16 ? q0 : n0 - 16;
				{
					const long i0 = w0;
					const int16 v0 = *(global tri_int16 *)(b0 + i0);
					const long16 v1 = convert_long16(v0);
					const long16 v2 = tri_check_16(fail, v1, (n0 + 7), 0x1b1e4b2d00000000ul);
					const float16 v3 = tri_f16_value_16((ushort16)(TRI_INDEXED_16(b1 + i1, 0, v2, 3)));
					const float16 v4 = tri_round_bf16_16(convert_float16(v3));
					TRI_SCATTER_16(b2 + i0 * 3 + i1, 3, tri_bf16_bits_16(v4));
				}
			}
		} else {
			for (long q0 = 0; q0 < n0; q0++) {
				const long i0 = q0;
				const int v0 = b0[i0];
				const long v1 = (long)v0;
				const long v2 = tri_check(fail, v1, (n0 + 7), 0x1b1e4b2d00000000ul);
				const float v3 = TRI_LOAD_F16(i1 + v2 * 3, b1);
				const float v4 = tri_round_bf16((float)v3);
				b2[i0 * 3 + i1] = tri_bf16_bits(v4);
			}
		}
	}
}

kernel void gather_k1(global uchar *p2, ulong o2, global uchar *p3, ulong o3, long n0)
{
	global ushort *b2 = (global ushort *)(p2 + o2);
	global long *b3 = (global long *)(p3 + o3);
	for (long q0 = 0; q0 < n0; q0++) {
		const long i0 = q0;
		float m0 = 0;
		long a0 = 0, c0 = 0;
		for (long q1 = 0; q1 < 3; q1++) {
			const long r0 = q1;
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
}

