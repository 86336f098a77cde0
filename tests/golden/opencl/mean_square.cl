kernel TRI_SUB_GROUPS(256) void mean_square_k0(global uchar *p0, ulong o0, global uchar *p1, ulong o1, global uchar *p2, ulong o2)
{
	global float *b0 = (global float *)(p0 + o0);
	global float *b1 = (global float *)(p1 + o1);
	global float *b2 = (global float *)(p2 + o2);
	local float l0[256];
	const int lane = (int)get_local_id(0);
	int g = (int)get_group_id(0);
	const int i0 = g;
	const float v5 = 4800.0f;
	float a0 = 0;
	float s0 = 0;
	int c0 = 0;
	for (int q = lane; q < 3 * 1600; q += 256) {
		int h = q;
		const int r1 = h % 1600;
		h /= 1600;
		const int r0 = h;
		const float v0 = b0[i0 * 4800 + r0 * 1600 + r1];
		const float v1 = b1[r0];
		const float v2 = v0 * v0;
		const float v3 = v2 * v1;
		s0 += v3;
		if (++c0 == 64) {
			a0 += s0;
			s0 = 0;
			c0 = 0;
		}
	}
	a0 += s0;
	for (int gap = TRI_SWAPS / 2; gap > 0; gap >>= 1) {
		const float w0 = tri_swap_float(a0, gap, l0);
		a0 = a0 + w0;
	}
	if ((lane & (TRI_SWAPS - 1)) == 0) {
		l0[lane >> TRI_SWAP_BITS] = a0;
	}
	for (int gap = 128 >> TRI_SWAP_BITS; gap > 0; gap >>= 1) {
		barrier(CLK_LOCAL_MEM_FENCE);
		if (lane < gap) {
			l0[lane] = l0[lane] + l0[lane + gap];
		}
	}
	if (lane != 0)
		return;
	a0 = l0[0];
	const float v4 = a0;
	const float v6 = v4 / v5;
	b2[i0] = v6;
}

