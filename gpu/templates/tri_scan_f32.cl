/* y float [outer, length, inner]: sums or products of the elements of x along the middle dimension up to each. A work item processes one line. Work items: outer · inner. */
kernel void tri_scan_f32(global uchar *px, ulong ox, global uchar *py, ulong oy, TRI_FIELDS)
{
	global const float *x = (global const float *)(px + ox);
	global float *y = (global float *)(py + oy);
	const long g = (long)get_global_id(0);
	if (g >= outer * inner)
		return;
	const long at = g / inner * length * inner + g % inner;
	float acc = product ? 1 : 0, lost = 0;
	for (long r = 0; r < length; r++) {
		const float v = x[at + r * inner], next = acc + (v - lost);
		lost = isfinite(next) ? (next - acc) - (v - lost) : 0; /* the rounding error of the sum */
		acc = product ? acc * v : next;
		y[at + r * inner] = acc;
	}
}
