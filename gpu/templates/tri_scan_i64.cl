/* y long [A, N, B]: sums or products of the elements of x along the middle dimension up to each. A work item processes one line. Work items: A · B. */
kernel void tri_scan_i64(global uchar *px, ulong ox, global uchar *py, ulong oy, long A, long N, long B, long product)
{
	global const long *x = (global const long *)(px + ox);
	global long *y = (global long *)(py + oy);
	const long g = (long)get_global_id(0);
	if (g >= A * B)
		return;
	const long at = g / B * N * B + g % B;
	long acc = product ? 1 : 0;
	for (long r = 0; r < N; r++) {
		const long v = x[at + r * B];
		acc = product ? tri_mul_long(acc, v) : tri_add_long(acc, v);
		y[at + r * B] = acc;
	}
}
