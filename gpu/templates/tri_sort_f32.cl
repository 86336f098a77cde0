/* y long [M, N]: the positions of the elements of each row of x float [M, N] in order. A work item counts how many stand before one element, and
 * puts its position there; the workspace is not needed. Work items: M · N. */
static int tri_before_f32(float a, float b) { return a < b || (b != b && a == a); }
kernel void tri_sort_f32(global uchar *px, ulong ox, global uchar *pw, ulong ow, global uchar *py, ulong oy, long M, long N, long descending)
{
	global const float *x = (global const float *)(px + ox);
	global long *y = (global long *)(py + oy);
	const long g = (long)get_global_id(0);
	if (g >= M * N)
		return;
	const long row = g / N * N, i = g % N;
	const float v = x[g];
	long at = 0;
	for (long k = 0; k < N; k++) {
		const float o = x[row + k];
		const int less = descending ? tri_before_f32(v, o) : tri_before_f32(o, v);
		const int more = descending ? tri_before_f32(o, v) : tri_before_f32(v, o);
		at += less || (!more && k < i);
	}
	y[row + at] = i;
}
