kernel TRI_SUB_GROUPS(64) void nested_k0(uchar *p0, ulong o0, uchar *p1, ulong o1, uchar *p5, ulong o5)
{
	float *b0 = (float *)(p0 + o0);
	float *b1 = (float *)(p1 + o1);
	float *b5 = (float *)(p5 + o5);
	TRI_SHARED uchar frame[128] __attribute__((aligned(64)));
	TRI_SHARED ulong parts[1][64];
	TRI_SHARED float b2[1];
	float *b3 = (float *)(frame + 0);
	float *b4 = (float *)(frame + 64);
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

kernel TRI_SUB_GROUPS(1) void nested_k1(uchar *p5, ulong o5, uchar *p6, ulong o6)
{
	float *b5 = (float *)(p5 + o5);
	float *b6 = (float *)(p6 + o6);
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

