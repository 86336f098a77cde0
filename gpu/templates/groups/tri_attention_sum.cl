/* y float [batch, heads, queries, values] of the parts that tri_attention_row leaves: for each row and part the maximum, the sum of the weights and the weighted
 * values. A work item computes one element. */
kernel void tri_attention_sum(global uchar *pp, ulong op, global uchar *py, ulong oy, TRI_FIELDS, long terms)
{
	const int g = (int)get_global_id(0), columns = (int)values, parts = ((int)keys + (int)terms - 1) / (int)terms;
	if (g >= (int)batch * (int)heads * (int)queries * columns)
		return;
	global const float *x = (global const float *)(pp + op) + (long)(g / columns) * parts * (columns + 2);
	const int column = 2 + g % columns;
	float most = -INFINITY, total = 0, sum = 0;
	for (int i = 0; i < parts; i++) {
		const float own = x[i * (columns + 2)];
		most = own > most || own != own ? own : most;
	}
	most = most == -INFINITY ? 0 : most;
	for (int i = 0; i < parts; i++) {
		global const float *of = x + i * (columns + 2);
		const float factor = exp(of[0] - most);
		total = fma(factor, of[1], total);
		sum = fma(factor, of[column], sum);
	}
	((global float *)(py + oy))[g] = sum / (total < 0.5f ? 1 : total);
}
