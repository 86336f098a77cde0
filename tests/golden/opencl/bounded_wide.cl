kernel void bounded_k0(global uchar *p0, ulong o0, global uchar *p1, ulong o1, global uchar *p2, ulong o2, long n0)
{
	global float *b0 = (global float *)(p0 + o0);
	global char *b1 = (global char *)(p1 + o1);
	global short *b2 = (global short *)(p2 + o2);
	if ((n0 * 40) >= 16) {
		for (long q0 = 0; q0 < (n0 * 40); q0 += 16) {
			const long w0 = q0 < (n0 * 40) - 16 ? q0 : (n0 * 40) - 16;
			{
				const long i0 = w0;
				const float16 v0 = *(global tri_float16 *)(b0 + i0);
				const char16 v1 = tri_float16_to_char16(tri_round_float16(tri_min_float16(tri_max_float16(v0, (float16)((-127.0f))), (float16)(127.0f))));
				const short16 v2 = tri_float16_to_short16(tri_min_float16(tri_max_float16(v0, (float16)((-3.5f))), (float16)(1000.25f)));
				*(global tri_char16 *)(b1 + i0) = v1;
				*(global tri_short16 *)(b2 + i0) = v2;
			}
		}
	} else {
		for (long q0 = 0; q0 < (n0 * 40); q0++) {
			const long i0 = q0;
			const float v0 = b0[i0];
			const char v1 = tri_float_to_char(rint(tri_min_float(tri_max_float(v0, (-127.0f)), 127.0f)));
			const short v2 = tri_float_to_short(tri_min_float(tri_max_float(v0, (-3.5f)), 1000.25f));
			b1[i0] = v1;
			b2[i0] = v2;
		}
	}
}

