/* Vector helpers of generated kernels: the operations of backend/ir/ops.def for 2, 4 … TRI_MOST_LANES lanes, with the meaning of the scalar helpers. A bool is 0 or
 * 1 in a byte of each lane. Names have the number of lanes: tri_max_float16(float16 a, float16 b). */

#if TRI_MOST_LANES > 4
/* Vectors in memory, aligned as their elements. Device libraries may load and store short elements one by one. */
#define TRI_UNALIGNED(T)                                                                                  \
	typedef T##2 tri_##T##2 __attribute__((aligned(sizeof(T))));                                      \
	typedef T##4 tri_##T##4 __attribute__((aligned(sizeof(T))));                                      \
	typedef T##8 tri_##T##8 __attribute__((aligned(sizeof(T))));                                      \
	typedef T##16 tri_##T##16 __attribute__((aligned(sizeof(T))));
TRI_UNALIGNED(uchar)
TRI_UNALIGNED(char)
TRI_UNALIGNED(ushort)
TRI_UNALIGNED(short)
TRI_UNALIGNED(int)
TRI_UNALIGNED(long)
TRI_UNALIGNED(float)
#ifdef TRI_FP64
TRI_UNALIGNED(double)
#endif
#endif

/* Rounding of floats to whole numbers. Functions of device libraries may call those of scalars for each lane. */
#if !defined(TRI_ROUND) && defined(__has_builtin)
#if __has_builtin(__builtin_elementwise_roundeven) && __has_builtin(__builtin_elementwise_floor) && __has_builtin(__builtin_elementwise_ceil)
#define TRI_ROUND __builtin_elementwise_roundeven
#define TRI_FLOOR __builtin_elementwise_floor
#define TRI_CEIL __builtin_elementwise_ceil
#endif
#endif
#ifndef TRI_ROUND
#define TRI_ROUND rint
#define TRI_FLOOR floor
#define TRI_CEIL ceil
#endif

/* Elements p[0], p[s], p[2 s] …; p[i.s0 * c], p[s + i.s1 * c] …; writes v.s0, v.s1 … to p[0], p[s] … */
#define TRI_STRIDED_2(p, s) (p)[0], (p)[s]
#define TRI_STRIDED_4(p, s) TRI_STRIDED_2(p, s), (p)[2 * (s)], (p)[3 * (s)]
#define TRI_STRIDED_8(p, s) TRI_STRIDED_4(p, s), (p)[4 * (s)], (p)[5 * (s)], (p)[6 * (s)], (p)[7 * (s)]
#define TRI_STRIDED_16(p, s)                                                                              \
	TRI_STRIDED_8(p, s), (p)[8 * (s)], (p)[9 * (s)], (p)[10 * (s)], (p)[11 * (s)], (p)[12 * (s)], (p)[13 * (s)], (p)[14 * (s)], (p)[15 * (s)]
#define TRI_INDEXED_2(p, s, i, c) (p)[(i).s0 * (c)], (p)[(s) + (i).s1 * (c)]
#define TRI_INDEXED_4(p, s, i, c) TRI_INDEXED_2(p, s, i, c), (p)[2 * (s) + (i).s2 * (c)], (p)[3 * (s) + (i).s3 * (c)]
#define TRI_INDEXED_8(p, s, i, c)                                                                         \
	TRI_INDEXED_4(p, s, i, c), (p)[4 * (s) + (i).s4 * (c)], (p)[5 * (s) + (i).s5 * (c)], (p)[6 * (s) + (i).s6 * (c)], (p)[7 * (s) + (i).s7 * (c)]
#define TRI_INDEXED_16(p, s, i, c)                                                                        \
	TRI_INDEXED_8(p, s, i, c), (p)[8 * (s) + (i).s8 * (c)], (p)[9 * (s) + (i).s9 * (c)], (p)[10 * (s) + (i).sa * (c)],       \
		(p)[11 * (s) + (i).sb * (c)], (p)[12 * (s) + (i).sc * (c)], (p)[13 * (s) + (i).sd * (c)], (p)[14 * (s) + (i).se * (c)],  \
		(p)[15 * (s) + (i).sf * (c)]
#define TRI_SCATTER_2(p, s, v) (p)[0] = (v).s0, (p)[s] = (v).s1
#define TRI_SCATTER_4(p, s, v) TRI_SCATTER_2(p, s, v), (p)[2 * (s)] = (v).s2, (p)[3 * (s)] = (v).s3
#define TRI_SCATTER_8(p, s, v)                                                                            \
	TRI_SCATTER_4(p, s, v), (p)[4 * (s)] = (v).s4, (p)[5 * (s)] = (v).s5, (p)[6 * (s)] = (v).s6, (p)[7 * (s)] = (v).s7
#define TRI_SCATTER_16(p, s, v)                                                                           \
	TRI_SCATTER_8(p, s, v), (p)[8 * (s)] = (v).s8, (p)[9 * (s)] = (v).s9, (p)[10 * (s)] = (v).sa, (p)[11 * (s)] = (v).sb,    \
		(p)[12 * (s)] = (v).sc, (p)[13 * (s)] = (v).sd, (p)[14 * (s)] = (v).se, (p)[15 * (s)] = (v).sf
#define TRI_STEPS_2 0, 1
#define TRI_STEPS_4 TRI_STEPS_2, 2, 3
#define TRI_STEPS_8 TRI_STEPS_4, 4, 5, 6, 7
#define TRI_STEPS_16 TRI_STEPS_8, 8, 9, 10, 11, 12, 13, 14, 15

/* 16-bit floats in memory are their bits. */
TRI_FUNCTION ushort tri_f16_bits(float a)
{
	ushort bits;
	vstore_half_rte(a, 0, (private half *)&bits);
	return bits;
}
TRI_FUNCTION float tri_f16_value(ushort bits) { return vload_half(0, (private half *)&bits); }
#define TRI_LOAD_F16(at, p) tri_f16_value((p)[at])
#define TRI_STORE_F16(v, at, p) (p)[at] = tri_f16_bits(v)

/* Calls the scalar helper for each lane: of one operand, and of two. W: lanes, R and T: types of result and operands. */
#define TRI_EACH_1(NAME, SCALAR, R, T, W)                                                                 \
	TRI_INLINE R##W NAME(T##W a)                                                                          \
	{                                                                                                 \
		T x[W];                                                                                   \
		R r[W];                                                                                   \
		vstore##W(a, 0, x);                                                                       \
		for (int k = 0; k < W; k++)                                                               \
			r[k] = SCALAR(x[k]);                                                              \
		return vload##W(0, r);                                                                    \
	}
#define TRI_EACH_2(NAME, SCALAR, T, W)                                                                    \
	TRI_INLINE T##W NAME(T##W a, T##W b)                                                                  \
	{                                                                                                 \
		T x[W], y[W];                                                                             \
		vstore##W(a, 0, x);                                                                       \
		vstore##W(b, 0, y);                                                                       \
		for (int k = 0; k < W; k++)                                                               \
			x[k] = SCALAR(x[k], y[k]);                                                        \
		return vload##W(0, x);                                                                    \
	}

/* sin and cos of float32: k pi/2 is subtracted in three parts, then a polynomial of the quadrant (Cephes by S. Moshier). The scalar functions compute
 * lanes beside huge numbers. */
#define TRI_LANES_SIN(NAME, QUADRANT, W)                                                                  \
	TRI_EACH_1(tri_##NAME##_each_float##W, NAME, float, float, W)                                     \
	TRI_INLINE float##W tri_##NAME##_float##W(float##W a)                                                 \
	{                                                                                                 \
		if (!all(fabs(a) < (float##W)8192.0f))                                                    \
			return tri_##NAME##_each_float##W(a);                                             \
		float##W k = rint(a * (float##W)0.636619772f);                                            \
		int##W q = convert_int##W(k) + (int##W)QUADRANT;                                          \
		float##W r = fma(k, (float##W)-1.5703125f, a);                                            \
		r = fma(k, (float##W)-4.837512969970703125e-4f, r);                                       \
		r = fma(k, (float##W)-7.54978995489188216e-8f, r);                                        \
		float##W z = r * r;                                                                       \
		float##W s = fma((float##W)-1.9515295891e-4f, z, (float##W)8.3321608736e-3f);             \
		s = fma(fma(s, z, (float##W)-1.6666654611e-1f) * z, r, r);                                \
		float##W c = fma((float##W)2.443315711809948e-5f, z, (float##W)-1.388731625493765e-3f);   \
		c = fma(fma(c, z, (float##W)4.166664568298827e-2f) * z, z, z * (float##W)-0.5f) + (float##W)1.0f;                 \
		float##W y = TRI_CHOOSE((q & (int##W)1) != (int##W)0, c, s);                              \
		return as_float##W(as_int##W(y) ^ (q & (int##W)2) << 30);                                 \
	}

/* Of all types. M: the signed integer of the size of T, as which comparisons give 0 or -1. H: half of the lanes, empty for one. */
#define TRI_LANES_ANY(T, M, W)                                                                            \
	TRI_INLINE uchar##W tri_##T##W##_to_bool_##W(T##W a) { return convert_uchar##W(a != (T##W)0) & (uchar##W)1; }                 \
	TRI_INLINE uchar##W tri_eq_##T##W(T##W a, T##W b) { return convert_uchar##W(a == b) & (uchar##W)1; }  \
	TRI_INLINE uchar##W tri_ne_##T##W(T##W a, T##W b) { return convert_uchar##W(a != b) & (uchar##W)1; }  \
	TRI_INLINE uchar##W tri_lt_##T##W(T##W a, T##W b) { return convert_uchar##W(a < b) & (uchar##W)1; }   \
	TRI_INLINE uchar##W tri_le_##T##W(T##W a, T##W b) { return convert_uchar##W(a <= b) & (uchar##W)1; }  \
	TRI_INLINE T##W tri_select_##T##W(uchar##W c, T##W a, T##W b) { return TRI_CHOOSE(convert_##M##W(c != (uchar##W)0), a, b); } \
	TRI_EACH_2(tri_mod_##T##W, tri_mod_##T, T, W)                                                     \
	TRI_EACH_2(tri_floordiv_##T##W, tri_floordiv_##T, T, W)
#define TRI_LANES_FOLD(T, W, H)                                                                           \
	TRI_INLINE T tri_fold_add_##T##W(T##W a) { return tri_fold_add_##T##H(tri_add_##T##H(a.lo, a.hi)); }  \
	TRI_INLINE T tri_fold_mul_##T##W(T##W a) { return tri_fold_mul_##T##H(tri_mul_##T##H(a.lo, a.hi)); }  \
	TRI_INLINE T tri_fold_min_##T##W(T##W a) { return tri_fold_min_##T##H(tri_min_##T##H(a.lo, a.hi)); }  \
	TRI_INLINE T tri_fold_max_##T##W(T##W a) { return tri_fold_max_##T##H(tri_max_##T##H(a.lo, a.hi)); }

/* Integers wrap (U is the unsigned type of the same size). */
#define TRI_LANES_INT(T, U, M, W)                                                                         \
	TRI_LANES_ANY(T, M, W)                                                                            \
	TRI_INLINE T##W tri_neg_##T##W(T##W a) { return as_##T##W((U##W)0 - as_##U##W(a)); }                  \
	TRI_INLINE T##W tri_add_##T##W(T##W a, T##W b) { return as_##T##W(as_##U##W(a) + as_##U##W(b)); }     \
	TRI_INLINE T##W tri_sub_##T##W(T##W a, T##W b) { return as_##T##W(as_##U##W(a) - as_##U##W(b)); }     \
	TRI_INLINE T##W tri_mul_##T##W(T##W a, T##W b) { return as_##T##W(as_##U##W(a) * as_##U##W(b)); }     \
	TRI_INLINE T##W tri_min_##T##W(T##W a, T##W b) { return min(a, b); }                                  \
	TRI_INLINE T##W tri_max_##T##W(T##W a, T##W b) { return max(a, b); }                                  \
	TRI_INLINE T##W tri_abs_##T##W(T##W a) { return as_##T##W(abs(a)); }                                  \
	TRI_EACH_2(tri_shl_##T##W, tri_shl_##T, T, W)                                                     \
	TRI_EACH_2(tri_shr_##T##W, tri_shr_##T, T, W)                                                     \
	TRI_EACH_2(tri_pow_##T##W, tri_pow_##T, T, W)
#define TRI_LANES_UNSIGNED(T, M, W)                                                                       \
	TRI_LANES_INT(T, T, M, W)                                                                         \
	TRI_INLINE T##W tri_sign_##T##W(T##W a) { return convert_##T##W(a != (T##W)0) & (T##W)1; }            \
	TRI_INLINE char##W tri_##T##W##_to_trit_##W(T##W a) { return convert_char##W(a != (T##W)0) & (char##W)1; }
#define TRI_LANES_SIGNED(T, U, W)                                                                         \
	TRI_LANES_INT(T, U, T, W)                                                                         \
	TRI_INLINE T##W tri_sign_##T##W(T##W a) { return (a < (T##W)0) - (a > (T##W)0); }                     \
	TRI_INLINE char##W tri_##T##W##_to_trit_##W(T##W a) { return convert_char##W(clamp(a, (T##W)-1, (T##W)1)); }

/* A float as an integer of less than 32 bits: clamped, then converted. NaN gives 0. */
#define TRI_LANES_NARROW(F, TO, NAME, LEAST, MOST, W)                                                     \
	TRI_INLINE TO##W tri_##F##W##_to_##NAME(F##W a)                                                       \
	{                                                                                                 \
		a = TRI_CHOOSE(a == a, a, (F##W)0);                                                       \
		a = TRI_CHOOSE(a < (F##W)(LEAST), (F##W)(LEAST), a);                                      \
		a = TRI_CHOOSE(a > (F##W)(MOST), (F##W)(MOST), a);                                        \
		return convert_##TO##W(convert_int##W(a));                                                \
	}
#define TRI_LANES_FLOAT(T, M, U, W)                                                                       \
	TRI_LANES_ANY(T, M, W)                                                                            \
	TRI_INLINE T##W tri_add_##T##W(T##W a, T##W b) { return a + b; }                                      \
	TRI_INLINE T##W tri_mul_##T##W(T##W a, T##W b) { return a * b; }                                      \
	TRI_INLINE T##W tri_round_##T##W(T##W a) { return TRI_ROUND(a); }                                     \
	TRI_INLINE T##W tri_floor_##T##W(T##W a) { return TRI_FLOOR(a); }                                     \
	TRI_INLINE T##W tri_ceil_##T##W(T##W a) { return TRI_CEIL(a); }                                       \
	TRI_INLINE T##W tri_min_##T##W(T##W a, T##W b) { return TRI_CHOOSE((a != a) | (a < b), a, b); }   \
	TRI_INLINE T##W tri_max_##T##W(T##W a, T##W b) { return TRI_CHOOSE((a != a) | (a > b), a, b); }   \
	TRI_INLINE T##W tri_sign_##T##W(T##W a) { return convert_##T##W((a < (T##W)0) - (a > (T##W)0)); }     \
	TRI_EACH_2(tri_pow_##T##W, pow, T, W)                                                             \
	TRI_LANES_NARROW(T, uchar, uchar##W, 0, 255, W)                                                   \
	TRI_LANES_NARROW(T, char, char##W, -128, 127, W)                                                  \
	TRI_LANES_NARROW(T, char, trit_##W, -1, 1, W)                                                     \
	TRI_LANES_NARROW(T, short, short##W, -32768, 32767, W)                                            \
	TRI_EACH_1(tri_##T##W##_to_long##W, tri_##T##_to_long, long, T, W)

#define TRI_LANES_ALL(W, H)                                                                               \
	TRI_LANES_UNSIGNED(uchar, char, W)                                                                \
	TRI_LANES_SIGNED(char, uchar, W)                                                                  \
	TRI_LANES_SIGNED(short, ushort, W)                                                                \
	TRI_LANES_SIGNED(int, uint, W)                                                                    \
	TRI_LANES_SIGNED(long, ulong, W)                                                                  \
	TRI_LANES_FLOAT(float, int, uint, W)                                                              \
	TRI_ERF(W)                                                                                        \
	TRI_INLINE float##W tri_tanh_float##W(float##W a) { return TRI_CHOOSE(fabs(a) > (float##W)9.02f, copysign((float##W)1, a), tanh(a)); } \
	TRI_LANES_SIN(sin, 0, W)                                                                          \
	TRI_LANES_SIN(cos, 1, W)                                                                          \
	TRI_LANES_FOLD(uchar, W, H)                                                                       \
	TRI_LANES_FOLD(char, W, H)                                                                        \
	TRI_LANES_FOLD(short, W, H)                                                                       \
	TRI_LANES_FOLD(int, W, H)                                                                         \
	TRI_LANES_FOLD(long, W, H)                                                                        \
	TRI_LANES_FOLD(float, W, H)                                                                       \
	TRI_INLINE int##W tri_float##W##_to_int##W(float##W a)                                                \
	{                                                                                                 \
		int##W over = a >= (float##W)2147483648.0f, under = a < (float##W)-2147483648.0f;         \
		int##W i = convert_int##W(TRI_CHOOSE((a == a) & ~(over | under), a, (float##W)0));        \
		return TRI_CHOOSE(over, (int##W)2147483647, TRI_CHOOSE(under, (int##W)(-2147483647 - 1), i)); \
	}                                                                                                 \
	TRI_INLINE ushort##W tri_f16_bits_##W(float##W a)                                                     \
	{                                                                                                 \
		uint##W u = as_uint##W(a) & (uint##W)0x7fffffffu, sign = as_uint##W(a) >> 16 & (uint##W)0x8000u; \
		uint##W normal = (u + (uint##W)0xc8000fffu + (u >> 13 & (uint##W)1)) >> 13;               \
		uint##W small = as_uint##W(as_float##W(u) + (float##W)0.5f) - (uint##W)0x3f000000u;       \
		uint##W bits = TRI_CHOOSE(u < (uint##W)0x38800000u, small, normal);                       \
		uint##W huge = TRI_CHOOSE(u > (uint##W)0x7f800000u, (uint##W)0x7e00u, (uint##W)0x7c00u);  \
		return convert_ushort##W(TRI_CHOOSE(u >= (uint##W)0x47800000u, huge, bits) | sign);       \
	}                                                                                                 \
	TRI_INLINE float##W tri_f16_value_##W(ushort##W a)                                                    \
	{                                                                                                 \
		uint##W u = convert_uint##W(a), bits = (u & (uint##W)0x7fffu) << 13, exponent = bits & (uint##W)0x0f800000u; \
		uint##W small = as_uint##W(as_float##W(bits + (uint##W)0x38800000u) - (float##W)0x1p-14f); \
		uint##W huge = bits + (uint##W)0x70000000u, normal = bits + (uint##W)0x38000000u;         \
		bits = TRI_CHOOSE(exponent == (uint##W)0x0f800000u, huge, TRI_CHOOSE(exponent == (uint##W)0, small, normal)); \
		return as_float##W(bits | (u & (uint##W)0x8000u) << 16);                                  \
	}                                                                                                 \
	TRI_INLINE float##W tri_round_f16_##W(float##W a)                                                     \
	{                                                                                                 \
		uint##W u = as_uint##W(a) & (uint##W)0x7fffffffu, sign = as_uint##W(a) & (uint##W)0x80000000u; \
		uint##W normal = (u + (uint##W)0xfffu + (u >> 13 & (uint##W)1)) & (uint##W)0xffffe000u;   \
		uint##W small = as_uint##W((as_float##W(u) + (float##W)0.5f) - (float##W)0.5f);           \
		uint##W bits = TRI_CHOOSE(u < (uint##W)0x38800000u, small, normal);                       \
		uint##W huge = TRI_CHOOSE(u > (uint##W)0x7f800000u, u, (uint##W)0x7f800000u);             \
		return as_float##W(TRI_CHOOSE(bits >= (uint##W)0x47800000u, huge, bits) | sign);          \
	}                                                                                                 \
	TRI_INLINE ushort##W tri_bf16_bits_##W(float##W a)                                                    \
	{                                                                                                 \
		uint##W u = as_uint##W(a), rounded = u + (uint##W)0x7fff + (u >> 16 & (uint##W)1);        \
		return convert_ushort##W(TRI_CHOOSE(a != a, u | (uint##W)0x400000, rounded) >> 16);       \
	}                                                                                                 \
	TRI_INLINE float##W tri_bf16_value_##W(ushort##W a) { return as_float##W(convert_uint##W(a) << 16); } \
	TRI_INLINE float##W tri_round_bf16_##W(float##W a) { return tri_bf16_value_##W(tri_bf16_bits_##W(a)); }                       \
	TRI_INLINE long##W tri_check_##W(global long *fail, long##W a, long bound, ulong where)               \
	{                                                                                                 \
		long x[W];                                                                                \
		vstore##W(a, 0, x);                                                                       \
		for (int k = 0; k < W; k++)                                                               \
			x[k] = tri_check(fail, x[k], bound, where);                                       \
		return vload##W(0, x);                                                                    \
	}

/* One lane is folded to itself. */
#define TRI_LANES_ONE(T)                                                                                  \
	TRI_INLINE T tri_fold_add_##T(T a) { return a; }                                                      \
	TRI_INLINE T tri_fold_mul_##T(T a) { return a; }                                                      \
	TRI_INLINE T tri_fold_min_##T(T a) { return a; }                                                      \
	TRI_INLINE T tri_fold_max_##T(T a) { return a; }
TRI_LANES_ONE(uchar)
TRI_LANES_ONE(char)
TRI_LANES_ONE(short)
TRI_LANES_ONE(int)
TRI_LANES_ONE(long)
TRI_LANES_ONE(float)
TRI_INLINE float tri_add_float(float a, float b) { return a + b; }
TRI_INLINE float tri_mul_float(float a, float b) { return a * b; }
TRI_LANES_ALL(2, )
TRI_LANES_ALL(4, 2)
#if TRI_MOST_LANES > 4
TRI_LANES_ALL(8, 4)
TRI_LANES_ALL(16, 8)
#endif
#ifdef TRI_FP64
#define TRI_LANES_DOUBLE(W, H)                                                                            \
	TRI_LANES_FLOAT(double, long, ulong, W)                                                           \
	TRI_LANES_FOLD(double, W, H)                                                                      \
	TRI_EACH_1(tri_double##W##_to_int##W, tri_double_to_int, int, double, W)                          \
	TRI_EACH_1(tri_double_to_odd_##W, tri_double_to_odd, float, double, W)                            \
	TRI_EACH_1(tri_exp_double##W, exp, double, double, W)                                             \
	TRI_EACH_1(tri_log_double##W, log, double, double, W)                                             \
	TRI_EACH_1(tri_tanh_double##W, tri_tanh_double, double, double, W)                                \
	TRI_EACH_1(tri_sin_double##W, sin, double, double, W)                                             \
	TRI_EACH_1(tri_cos_double##W, cos, double, double, W)                                             \
	TRI_EACH_1(tri_erf_double##W, tri_erf_double, double, double, W)
TRI_LANES_ONE(double)
TRI_INLINE double tri_add_double(double a, double b) { return a + b; }
TRI_INLINE double tri_mul_double(double a, double b) { return a * b; }
TRI_LANES_DOUBLE(2, )
TRI_LANES_DOUBLE(4, 2)
#if TRI_MOST_LANES > 4
TRI_LANES_DOUBLE(8, 4)
TRI_LANES_DOUBLE(16, 8)
#endif
#endif
