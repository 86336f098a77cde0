/* y double [outer, length, inner]: sums or products of the elements of x along the middle dimension up to each. A work item processes one line. Work items: outer · inner. */
kernel void tri_scan_f64(global uchar *px, ulong ox, global uchar *py, ulong oy, TRI_FIELDS)
{
	global const double *x = (global const double *)(px + ox);
	global double *y = (global double *)(py + oy);
	const long g = (long)get_global_id(0);
	if (g >= outer * inner)
		return;
	const long at = g / inner * length * inner + g % inner;
	double acc = product ? 1 : 0;
	for (long r = 0; r < length; r++) {
		const double v = x[at + r * inner];
		acc = product ? acc * v : acc + v;
		y[at + r * inner] = acc;
	}
}
