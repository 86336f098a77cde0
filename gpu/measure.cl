/* Loops that do as much as a device can: they move memory, or multiply and add in registers. Their results are stored, so that no loop is removed. */

kernel void tri_measure_copy(global const float4 *x, global float4 *y)
{
	size_t i = get_global_id(0);
	y[i] = x[i];
}

kernel void tri_measure_read(global const float4 *x, global float4 *y, const uint n)
{
	size_t i = get_global_id(0), step = get_global_size(0);
	float4 sum = (float4)(0.0f);
	for (uint k = 0; k < n; k++)
		sum += x[i + k * step];
	y[i] = sum;
}

/* Eight accumulators hide the latency of the instruction. They have names, because some compilers keep arrays in memory. */
#define EACH(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7)

#define BEGIN(k) float4 f##k = (float4)((float)(get_global_id(0) + k));
#define STEP(k) f##k = mad(f##k, a, b);
#define SUM(k) +f##k
kernel void tri_measure_float(global float4 *y, const uint n, const float4 a, const float4 b)
{
	EACH(BEGIN)
	for (uint i = 0; i < n; i++) {
		EACH(STEP)
	}
	y[get_global_id(0)] = EACH(SUM);
}
#undef BEGIN
#undef STEP
#undef SUM

/* Products of int8 as the kernels of libraries compute them: multiplied and added as int, not by mad24, which many devices emulate. Unsigned numbers may
 * wrap. */
#define BEGIN(k) uint4 f##k = (uint4)((uint)get_global_id(0) + k);
#define STEP(k) f##k = f##k * a + b;
#define SUM(k) +f##k
kernel void tri_measure_int8(global uint4 *y, const uint n, const uint4 a, const uint4 b)
{
	EACH(BEGIN)
	for (uint i = 0; i < n; i++) {
		EACH(STEP)
	}
	y[get_global_id(0)] = EACH(SUM);
}
