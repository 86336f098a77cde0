/* y long [outer, length, inner]: sums or products of the elements of x along the middle dimension up to each. A work item processes one line. Work items: outer · inner. */
kernel void tri_scan_i64(global uchar *px, ulong ox, global uchar *py, ulong oy, TRI_FIELDS)
{
	global const long *x = (global const long *)(px + ox);
	global long *y = (global long *)(py + oy);
	const long g = (long)get_global_id(0);
	if (g >= outer * inner)
		return;
	const long at = g / inner * length * inner + g % inner;
	long acc = product ? 1 : 0;
	for (long r = 0; r < length; r++) {
		const long v = x[at + r * inner];
		acc = product ? tri_mul_long(acc, v) : tri_add_long(acc, v);
		y[at + r * inner] = acc;
	}
}
