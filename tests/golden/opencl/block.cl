kernel TRI_SUB_GROUPS(64) void norm_rows_k0(global uchar *p0, ulong o0, global uchar *p1, ulong o1, long n0)
{
	global float *b0 = (global float *)(p0 + o0);
	global float *b1 = (global float *)(p1 + o1);
	local uchar frame[64] __attribute__((aligned(64)));
	local ulong parts[1][64];
	local float *b2 = (local float *)(frame + 0);
	float b3[4];
	local float *b4 = (local float *)(frame + 0);
	const int lane = (int)get_local_id(0);
	long g = (long)get_group_id(0);
	const long i0 = g;
	{
	local float *l0 = (local float *)parts[0];
	float a0 = 0;
	float s0 = 0;
	int c0 = 0;
	for (long q = lane; q < 256; q += 64) {
		long h = q;
		const long r0 = h;
		const float v0 = b0[i0 * 256 + r0];
		s0 += v0;
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
	for (int gap = 32 >> TRI_SWAP_BITS; gap > 0; gap >>= 1) {
		barrier(CLK_LOCAL_MEM_FENCE);
		if (lane < gap) {
			l0[lane] = l0[lane] + l0[lane + gap];
		}
	}
	if (lane == 0) {
	a0 = l0[0];
	const float v1 = a0;
	b2[0] = v1;
	}
	barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
	}
	{
	const float v1 = b2[0];
#pragma unroll
	for (int j = 0, q = lane; j < 4; j++, q += 64) {
		long h = q;
		const long i1 = h;
	const float v0 = b0[i0 * 256 + i1];
	const float v2 = v0 - v1;
	const float v3 = exp(v2);
	b3[j] = v3;
	}
	barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
	}
	{
	local float *l0 = (local float *)parts[0];
	float a0 = 0;
#pragma unroll
	for (int j = 0, q = lane; j < 4; j++, q += 64) {
		long h = q;
		const long r0 = h;
		const float v0 = b3[j];
		a0 = a0 + v0;
	}
	for (int gap = TRI_SWAPS / 2; gap > 0; gap >>= 1) {
		const float w0 = tri_swap_float(a0, gap, l0);
		a0 = a0 + w0;
	}
	if ((lane & (TRI_SWAPS - 1)) == 0) {
		l0[lane >> TRI_SWAP_BITS] = a0;
	}
	for (int gap = 32 >> TRI_SWAP_BITS; gap > 0; gap >>= 1) {
		barrier(CLK_LOCAL_MEM_FENCE);
		if (lane < gap) {
			l0[lane] = l0[lane] + l0[lane + gap];
		}
	}
	if (lane == 0) {
	a0 = l0[0];
	const float v1 = a0;
	b4[0] = v1;
	}
	barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
	}
	{
	const float v1 = b4[0];
#pragma unroll
	for (int j = 0, q = lane; j < 4; j++, q += 64) {
		long h = q;
		const long i1 = h;
	const float v0 = b3[j];
	const float v2 = v0 * v1;
	b1[i0 * 256 + i1] = v2;
	}
	barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
	}
}

