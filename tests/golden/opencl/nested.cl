kernel TRI_SUB_GROUPS(64) void nested_k0(global uchar *p0, ulong o0, global uchar *p1, ulong o1, global uchar *p5, ulong o5)
{
	global float *b0 = (global float *)(p0 + o0);
	global float *b1 = (global float *)(p1 + o1);
	global float *b5 = (global float *)(p5 + o5);
	local uchar frame[128] __attribute__((aligned(64)));
	local ulong parts[1][64];
	local float b2[1];
	local float *b3 = (local float *)(frame + 0);
	local float *b4 = (local float *)(frame + 64);
	const int lane = (int)get_local_id(0);
	int g = (int)get_group_id(0);
	const int i0 = g;
	{
	if (lane == 0) {
	const float v0 = 0.0f;
	b2[0] = v0;
	}
	barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
	}
	for (int i1 = 0; i1 < 2; i1++) {
	{
	for (int q = lane; q < 3; q += 64) {
		int h = q;
		const int i2 = h;
	const float v0 = b0[i0 * 6 + i1 * 3 + i2];
	const float v1 = -v0;
	b3[i2] = v1;
	}
	barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
	}
	{
	if (lane == 0) {
	const float v1 = b2[0];
	float a0 = 0;
	for (int r0 = 0; r0 < 3; r0++) {
		const float v0 = b3[r0];
		a0 = a0 + v0;
	}
	const float v2 = a0;
	const float v3 = v1 + v2;
	b2[0] = v3;
	b4[i1] = v2;
	}
	barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
	}
	}
	{
	if (lane == 0) {
	const float v0 = b2[0];
	const float v1 = b4[1];
	const float v2 = v0 + v1;
	b5[i0] = v2;
	}
	barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
	}
	{
	if (lane == 0) {
	const float v0 = b5[i0];
	b1[i0] = v0;
	}
	barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
	}
}

kernel TRI_SUB_GROUPS(1) void nested_k1(global uchar *p5, ulong o5, global uchar *p6, ulong o6)
{
	global float *b5 = (global float *)(p5 + o5);
	global float *b6 = (global float *)(p6 + o6);
	const int lane = (int)get_local_id(0);
	int g = (int)get_group_id(0);
	const int i1 = g % 4;
	g /= 4;
	const int i0 = g;
	{
	if (lane == 0) {
	const float v0 = b5[i1];
	b6[i0 * 4 + i1] = v0;
	}
	barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
	}
}

