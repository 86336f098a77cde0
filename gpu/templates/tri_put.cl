/* y [A, N, B] = x, in bytes, with v [A, B] stored at the index along the middle dimension. Work items: A · N · B. */
kernel void tri_put(global uchar *px, ulong ox, global uchar *pv, ulong ov, global uchar *pi, ulong oi, global uchar *py, ulong oy, long A, long N, long B,
                    long place, global long *fail)
{
	const long at = *(global const long *)(pi + oi), g = (long)get_global_id(0);
	if (g >= A * N * B)
		return;
	if (at < 0 || at >= N) {
		tri_fail_at(fail, at, N, (ulong)place);
		return;
	}
	py[oy + g] = g / B % N == at ? pv[ov + g / (N * B) * B + g % B] : px[ox + g];
}
