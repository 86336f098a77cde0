/* y [outer, length, inner] = x, in bytes, with v [outer, inner] stored at the index along the middle dimension. Work items: outer · length · inner, at least one. */
kernel void tri_put(global uchar *px, ulong ox, global uchar *pv, ulong ov, global uchar *pi, ulong oi, global uchar *py, ulong oy, TRI_FIELDS)
{
	const long at = *(global const long *)(pi + oi), g = (long)get_global_id(0);
	if (at < 0 || at >= length) {
		tri_fail_at(fail, at, length, (ulong)place);
		return;
	}
	if (g < outer * length * inner)
		py[oy + g] = g / inner % length == at ? pv[ov + g / (length * inner) * inner + g % inner] : px[ox + g];
}
