/* y long [A, N, B] = x, with v [A, M, B] put, or added, where index long [A, M, B] says along the middle dimension, in order. A work item walks one
 * line. Work items: A · B. */
kernel void tri_scatter_i64(global uchar *px, ulong ox, global uchar *pi, ulong oi, global uchar *pv, ulong ov, global uchar *py, ulong oy, long A, long N,
                            long B, long M, long add, global long *fail)
{
	global const long *x = (global const long *)(px + ox), *v = (global const long *)(pv + ov);
	global const long *index = (global const long *)(pi + oi);
	global long *y = (global long *)(py + oy);
	const long g = (long)get_global_id(0);
	if (g >= A * B)
		return;
	const long a = g / B, b = g % B;
	for (long r = 0; r < N; r++)
		y[(a * N + r) * B + b] = x[(a * N + r) * B + b];
	for (long r = 0; r < M; r++) {
		const long from = (a * M + r) * B + b, i = index[from];
		if (i < 0 || i >= N) {
			tri_fail(fail, i, N);
			return;
		}
		const long to = (a * N + i) * B + b;
		y[to] = add ? tri_add_long(y[to], v[from]) : v[from];
	}
}
