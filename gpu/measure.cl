/* Loops that do as much as a device can: they move memory, or multiply and add in registers. Their results are stored, so that no loop is removed. Which vectors and
 * how many independent sums suit a device depends on it and on its compiler: the host takes the best, by the rows of measure.def. */

/* ---- memory: windows that begin at `first` ---- */

#define COPY(T)                                                                                        \
	kernel void tri_measure_copy_##T(global const T *x, global T *y, const uint first, const uint n) \
	{                                                                                              \
		size_t i = first + get_global_id(0);                                                   \
		y[i] = x[i];                                                                           \
	}
COPY(float4)
COPY(float16)

/* Neighbours read neighbours: what GPUs join. */
#define READ(T)                                                                                        \
	kernel void tri_measure_read_##T(global const T *x, global T *y, const uint first, const uint n) \
	{                                                                                              \
		size_t i = first + get_global_id(0), step = get_global_size(0);                        \
		T sum = (T)(0.0f);                                                                     \
		for (uint k = 0; k < n; k++)                                                           \
			sum += x[i + k * step];                                                        \
		y[i] = sum;                                                                            \
	}
READ(float4)
READ(float16)

/* Each item reads its own row: what the prefetchers of processors expect. */
kernel void tri_measure_rows_float16(global const float16 *x, global float16 *y, const uint first, const uint n)
{
	size_t at = first + get_global_id(0) * n;
	float16 sum = (float16)(0.0f);
	for (uint k = 0; k < n; k++)
		sum += x[at + k];
	y[first + get_global_id(0)] = sum;
}

/* ---- arithmetic: the sums have names, because some compilers keep arrays in memory ---- */

#define EACH8(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7)
#define EACH12(f) EACH8(f) f(8) f(9) f(10) f(11)
#define STEP_float(k) s##k = mad(s##k, a, b);
/* Products of int8 as the kernels of libraries compute them: multiplied and added as int, not by mad24, which many devices emulate. Unsigned numbers may wrap. */
#define STEP_uint(k) s##k = s##k * a + b;
#define SUM(k) +s##k

#define ARITHMETIC(E, T, N)                                                                            \
	kernel void tri_measure_##T##_##N(global T *y, const uint n, const float one)                  \
	{                                                                                              \
		const T a = (T)((E)one), b = a;                                                        \
		EACH##N(BEGIN_##T) for (uint i = 0; i < n; i++) { EACH##N(STEP_##E) }                  \
		y[get_global_id(0)] = (T)(0)EACH##N(SUM);                                              \
	}
#define BEGIN(T, E, k) T s##k = (T)((E)(get_global_id(0) + k));
#define BEGIN_float(k) BEGIN(float, float, k)
#define BEGIN_float4(k) BEGIN(float4, float, k)
#define BEGIN_float8(k) BEGIN(float8, float, k)
#define BEGIN_float16(k) BEGIN(float16, float, k)
#define BEGIN_uint(k) BEGIN(uint, uint, k)
#define BEGIN_uint4(k) BEGIN(uint4, uint, k)
#define BEGIN_uint8(k) BEGIN(uint8, uint, k)
#define BEGIN_uint16(k) BEGIN(uint16, uint, k)
ARITHMETIC(float, float, 8)
ARITHMETIC(float, float4, 8)
ARITHMETIC(float, float4, 12)
ARITHMETIC(float, float8, 12)
ARITHMETIC(float, float16, 12)
ARITHMETIC(uint, uint, 8)
ARITHMETIC(uint, uint4, 8)
ARITHMETIC(uint, uint4, 12)
ARITHMETIC(uint, uint8, 12)
ARITHMETIC(uint, uint16, 12)
