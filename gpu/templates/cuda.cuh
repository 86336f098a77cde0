/* What templates leave to their language (opencl.cl), in CUDA C++, and the types and functions of OpenCL C that they use. Compile it with --fmad=false:
 * a product in a sum is then rounded as on other devices, and fma is written where it is meant. */
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math.h>
#include <string.h>

static_assert(sizeof(long) == 8, "long must have 64 bits");
static_assert((char)-1 < 0, "char must be signed: -fsigned-char");
#if defined __clang__
#pragma clang fp contract(off)
#pragma clang diagnostic ignored "-Wtautological-compare" /* generated code may compare a value with itself … */
#pragma clang diagnostic ignored "-Wdivision-by-zero" /* … divide by the size of an empty result … */
#pragma clang diagnostic ignored "-Wunused-variable" /* … and elements may depend on no index of their loop */
#elif defined __NVCC__
#pragma nv_diag_suppress 39, 179 /* division by the size of an empty result */
#pragma nv_diag_suppress 186 /* TRI_INT compares unsigned numbers with 0 */
#pragma nv_diag_suppress 177 /* elements may depend on no index of their loop */
#endif
#if __CUDA_ARCH__ >= 610
#define TRI_DOT_NVIDIA
#endif
#if __CUDA_ARCH__ >= 800
#define TRI_MMA_NVIDIA 80
#elif __CUDA_ARCH__ >= 750
#define TRI_MMA_NVIDIA 75
#endif

#undef __global__ /* it contains the word `global` */
#define kernel static __attribute__((__global__))
#define global
#define local
#define private
#define TRI_GROUP(items) __launch_bounds__(items)
#define TRI_SUB_GROUPS TRI_GROUP
#define TRI_FUNCTION __device__ __forceinline__
#define TRI_INLINE TRI_FUNCTION
#define TRI_SHARED __shared__
#define TRI_VECTOR4(T, a, b, c, d) T##4(a, b, c, d)
#define TRI_CHOOSE(condition, a, b) tri_choose(condition, a, b)
#define TRI_ROUND rint
#define TRI_FLOOR floor
#define TRI_CEIL ceil

/* ---- work items ---- */

TRI_FUNCTION unsigned long get_local_id(int) { return threadIdx.x; }
TRI_FUNCTION unsigned long get_group_id(int) { return blockIdx.x; }
TRI_FUNCTION unsigned long get_global_id(int) { return (unsigned long)blockIdx.x * blockDim.x + threadIdx.x; }
#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2
#define barrier(fences) __syncthreads()
TRI_FUNCTION int atomic_cmpxchg(volatile int *at, int old, int value) { return atomicCAS((int *)at, old, value); }

/* As in opencl.cl. */
#ifdef __CUDA_ARCH__
#define TRI_SWAP_BITS 5
TRI_FUNCTION unsigned tri_swap_word(unsigned x, int gap) { return __shfl_xor_sync(0xffffffffu, x, gap); }
#else
#define TRI_SWAP_BITS 0
#define tri_swap_word(x, gap) (x)
#endif
#define TRI_SWAPS (1 << TRI_SWAP_BITS)

/* ---- types ---- */

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
/* A half in memory: its bits. */
struct tri_half {
	ushort bits;
};
#define half tri_half

/* The signed integer of so many bytes, as which lanes are compared: 0 or -1. */
template <int bytes> struct tri_mask;
template <> struct tri_mask<1> { typedef char type; };
template <> struct tri_mask<2> { typedef short type; };
template <> struct tri_mask<4> { typedef int type; };
template <> struct tri_mask<8> { typedef long type; };

template <typename T, int lanes> struct tri_vector;
#define TRI_EACH_LANE(N) _Pragma("unroll") for (int k = 0; k < N; k++)
#define TRI_BINARY(N, OP)                                                                                     \
	friend __device__ __forceinline__ tri_vector operator OP(tri_vector a, tri_vector b)                  \
	{                                                                                                     \
		TRI_EACH_LANE(N) a.at[k] = (T)(a.at[k] OP b.at[k]);                                           \
		return a;                                                                                     \
	}                                                                                                     \
	friend __device__ __forceinline__ tri_vector &operator OP##=(tri_vector &a, tri_vector b) { return a = a OP b; }
#define TRI_UNARY(N, OP)                                                                                      \
	friend __device__ __forceinline__ tri_vector operator OP(tri_vector a)                                \
	{                                                                                                     \
		TRI_EACH_LANE(N) a.at[k] = (T)(OP a.at[k]);                                                   \
		return a;                                                                                     \
	}
#define TRI_COMPARE(N, OP)                                                                                    \
	friend __device__ __forceinline__ tri_vector<mask, N> operator OP(tri_vector a, tri_vector b)         \
	{                                                                                                     \
		tri_vector<mask, N> r;                                                                        \
		TRI_EACH_LANE(N) r.at[k] = (mask)-(a.at[k] OP b.at[k]);                                       \
		return r;                                                                                     \
	}
#define TRI_OPERATORS(N)                                                                                      \
	typedef typename tri_mask<sizeof(T)>::type mask;                                                      \
	tri_vector() = default;                                                                               \
	__device__ __forceinline__ tri_vector(T a)                                                            \
	{                                                                                                     \
		TRI_EACH_LANE(N) at[k] = a;                                                                   \
	}                                                                                                     \
	TRI_BINARY(N, +) TRI_BINARY(N, -) TRI_BINARY(N, *) TRI_BINARY(N, /) TRI_BINARY(N, &) TRI_BINARY(N, |) TRI_BINARY(N, ^) \
	TRI_BINARY(N, <<) TRI_BINARY(N, >>) TRI_UNARY(N, -) TRI_UNARY(N, ~) TRI_COMPARE(N, ==)                \
	TRI_COMPARE(N, !=) TRI_COMPARE(N, <) TRI_COMPARE(N, <=) TRI_COMPARE(N, >) TRI_COMPARE(N, >=)

template <typename T> struct __align__(2 * sizeof(T)) tri_vector<T, 2> {
	union {
		T at[2];
		struct {
			T s0, s1;
		};
		struct {
			T lo, hi;
		};
	};
	TRI_OPERATORS(2)
	__device__ __forceinline__ tri_vector(T a, T b) : s0(a), s1(b) {}
};
template <typename T> struct __align__(4 * sizeof(T)) tri_vector<T, 4> {
	union {
		T at[4];
		struct {
			T s0, s1, s2, s3;
		};
		struct {
			tri_vector<T, 2> lo, hi;
		};
	};
	TRI_OPERATORS(4)
	__device__ __forceinline__ tri_vector(T a, T b, T c, T d) : s0(a), s1(b), s2(c), s3(d) {}
};

/* Bits as a value of another type of the same size; lanes converted to another type. */
template <typename TO, typename FROM> TRI_FUNCTION TO tri_as(FROM a)
{
	static_assert(sizeof(TO) == sizeof(FROM), "as_ changes no size");
	TO r;
	memcpy(&r, &a, sizeof r);
	return r;
}
template <typename TO, typename T, int N> TRI_FUNCTION tri_vector<TO, N> tri_convert(tri_vector<T, N> a)
{
	tri_vector<TO, N> r;
	TRI_EACH_LANE(N) r.at[k] = (TO)a.at[k];
	return r;
}

#define TRI_TYPE(T)                                                                                           \
	typedef tri_vector<T, 2> tri_##T##2;                                                                  \
	typedef tri_vector<T, 4> tri_##T##4;                                                                  \
	template <typename FROM> TRI_FUNCTION T as_##T(FROM a) { return tri_as<T>(a); }                       \
	template <typename FROM> TRI_FUNCTION tri_##T##2 as_##T##2(FROM a) { return tri_as<tri_##T##2>(a); }  \
	template <typename FROM> TRI_FUNCTION tri_##T##4 as_##T##4(FROM a) { return tri_as<tri_##T##4>(a); }  \
	template <typename FROM> TRI_FUNCTION tri_##T##2 convert_##T##2(FROM a) { return tri_convert<T>(a); } \
	template <typename FROM> TRI_FUNCTION tri_##T##4 convert_##T##4(FROM a) { return tri_convert<T>(a); }
TRI_TYPE(uchar)
TRI_TYPE(char)
TRI_TYPE(ushort)
TRI_TYPE(short)
TRI_TYPE(uint)
TRI_TYPE(int)
TRI_TYPE(ulong)
TRI_TYPE(long)
TRI_TYPE(float)
TRI_TYPE(double)
/* CUDA has vectors of these names, without operators. */
#define uchar2 tri_uchar2
#define uchar4 tri_uchar4
#define char2 tri_char2
#define char4 tri_char4
#define ushort2 tri_ushort2
#define ushort4 tri_ushort4
#define short2 tri_short2
#define short4 tri_short4
#define uint2 tri_uint2
#define uint4 tri_uint4
#define int2 tri_int2
#define int4 tri_int4
#define ulong2 tri_ulong2
#define ulong4 tri_ulong4
#define long2 tri_long2
#define long4 tri_long4
#define float2 tri_float2
#define float4 tri_float4
#define double2 tri_double2
#define double4 tri_double4

/* ---- functions ---- */

template <typename T> TRI_FUNCTION T tri_choose(bool condition, T a, T b) { return condition ? a : b; }
template <typename M, typename T, int N> TRI_FUNCTION tri_vector<T, N> tri_choose(tri_vector<M, N> condition, tri_vector<T, N> a, tri_vector<T, N> b)
{
	TRI_EACH_LANE(N) a.at[k] = condition.at[k] < 0 ? a.at[k] : b.at[k];
	return a;
}
template <typename T> TRI_FUNCTION T select(T a, T b, int condition) { return condition ? b : a; }
template <typename M, typename T, int N> TRI_FUNCTION tri_vector<T, N> select(tri_vector<T, N> a, tri_vector<T, N> b, tri_vector<M, N> condition)
{
	return tri_choose(condition, b, a);
}
template <typename M, int N> TRI_FUNCTION bool all(tri_vector<M, N> a)
{
	bool r = true;
	TRI_EACH_LANE(N) r = r && a.at[k] < 0;
	return r;
}
template <typename T> TRI_FUNCTION T clamp(T a, T least, T most) { return tri_choose(a < least, least, tri_choose(a > most, most, a)); }

#define TRI_LANES_OF_1(NAME)                                                                                  \
	template <typename T, int N> TRI_FUNCTION tri_vector<T, N> NAME(tri_vector<T, N> a)                   \
	{                                                                                                     \
		TRI_EACH_LANE(N) a.at[k] = ::NAME(a.at[k]);                                                   \
		return a;                                                                                     \
	}
#define TRI_LANES_OF_2(NAME, VALUE)                                                                           \
	template <typename T, int N> TRI_FUNCTION tri_vector<T, N> NAME(tri_vector<T, N> a, tri_vector<T, N> b) \
	{                                                                                                     \
		TRI_EACH_LANE(N) a.at[k] = VALUE;                                                             \
		return a;                                                                                     \
	}
TRI_LANES_OF_1(fabs)
TRI_LANES_OF_1(sqrt)
TRI_LANES_OF_1(exp)
TRI_LANES_OF_1(log)
TRI_LANES_OF_1(tanh)
TRI_LANES_OF_1(rint)
TRI_LANES_OF_1(floor)
TRI_LANES_OF_1(ceil)
TRI_LANES_OF_2(copysign, ::copysign(a.at[k], b.at[k]))
TRI_LANES_OF_2(min, a.at[k] < b.at[k] ? a.at[k] : b.at[k])
TRI_LANES_OF_2(max, a.at[k] > b.at[k] ? a.at[k] : b.at[k])
template <typename T, int N> TRI_FUNCTION tri_vector<T, N> fma(tri_vector<T, N> a, tri_vector<T, N> b, tri_vector<T, N> c)
{
	TRI_EACH_LANE(N) a.at[k] = ::fma(a.at[k], b.at[k], c.at[k]);
	return a;
}
/* Of integers; that of the least one is itself. */
template <typename T, int N> TRI_FUNCTION tri_vector<T, N> abs(tri_vector<T, N> a)
{
	TRI_EACH_LANE(N) a.at[k] = a.at[k] < 0 ? (T)(0 - (ulong)a.at[k]) : a.at[k];
	return a;
}

TRI_FUNCTION uint popcount(uint a) { return (uint)__popc(a); }

template <typename T> TRI_FUNCTION tri_vector<T, 2> vload2(long i, const T *p) { return tri_vector<T, 2>(p[2 * i], p[2 * i + 1]); }
template <typename T> TRI_FUNCTION tri_vector<T, 4> vload4(long i, const T *p)
{
	return tri_vector<T, 4>(p[4 * i], p[4 * i + 1], p[4 * i + 2], p[4 * i + 3]);
}
template <typename T> TRI_FUNCTION void vstore2(tri_vector<T, 2> a, long i, T *p)
{
	TRI_EACH_LANE(2) p[2 * i + k] = a.at[k];
}
template <typename T> TRI_FUNCTION void vstore4(tri_vector<T, 4> a, long i, T *p)
{
	TRI_EACH_LANE(4) p[4 * i + k] = a.at[k];
}
TRI_FUNCTION float vload_half(long i, const tri_half *p) { return __half2float(__ushort_as_half(p[i].bits)); }
TRI_FUNCTION void vstore_half_rte(float a, long i, tri_half *p) { p[i].bits = __half_as_ushort(__float2half_rn(a)); }

/* Floats as integers: saturated, and rounded to zero. */
#define TRI_SATURATE(T, LEAST, MOST)                                                                          \
	template <typename F> TRI_FUNCTION T convert_##T##_sat_rtz(F a) { return a <= (F)(LEAST) ? (LEAST) : a >= (F)(MOST) ? (MOST) : (T)a; }
TRI_SATURATE(uchar, 0, 255)
TRI_SATURATE(char, -128, 127)
TRI_SATURATE(short, -32768, 32767)
TRI_SATURATE(int, -2147483647 - 1, 2147483647)
TRI_SATURATE(long, -9223372036854775807L - 1, 9223372036854775807L)
TRI_FUNCTION float convert_float_rtz(double a) { return __double2float_rz(a); }

