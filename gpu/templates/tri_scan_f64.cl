/* y double [A, N, B]: sums or products of the elements of x along the middle dimension up to each. A work item processes one line. Work items: A · B. */
kernel void tri_scan_f64(global uchar *px, ulong ox, global uchar *py, ulong oy, long A, long N, long B, long product)
{
	global const double *x = (global const double *)(px + ox);
	global double *y = (global double *)(py + oy);
	const long g = (long)get_global_id(0);
	if (g >= A * B)
		return;
	const long at = g / B * N * B + g % B;
	double acc = product ? 1 : 0;
	for (long r = 0; r < N; r++) {
		const double v = x[at + r * B];
		acc = product ? acc * v : acc + v;
		y[at + r * B] = acc;
	}
}
