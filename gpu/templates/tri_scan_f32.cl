/* y float [A, N, B]: sums or products of the elements of x along the middle dimension up to each. A work item processes one line. Work items: A · B. */
kernel void tri_scan_f32(global uchar *px, ulong ox, global uchar *py, ulong oy, long A, long N, long B, long product)
{
	global const float *x = (global const float *)(px + ox);
	global float *y = (global float *)(py + oy);
	const long g = (long)get_global_id(0);
	if (g >= A * B)
		return;
	const long at = g / B * N * B + g % B;
	float acc = product ? 1 : 0, lost = 0;
	for (long r = 0; r < N; r++) {
		const float v = x[at + r * B], next = acc + (v - lost);
		lost = isfinite(next) ? (next - acc) - (v - lost) : 0; /* the rounding error of the sum */
		acc = product ? acc * v : next;
		y[at + r * B] = acc;
	}
}
