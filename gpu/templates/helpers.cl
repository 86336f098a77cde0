/* Scalar helpers of generated kernels: the operations of backend/ir/ops.def. TRI_FP64 is defined if the program uses doubles. */

/* Records the first run-time error: {taken, value, bound, where}. `where`: as in tri_fail_at of backend/runtime/abi/unit.h; 0: not known. */
TRI_FUNCTION void tri_fail_at(global long *fail, long value, long bound, ulong where)
{
	if (atomic_cmpxchg((volatile global int *)fail, 0, 1) == 0) {
		fail[1] = value;
		fail[2] = bound;
		fail[3] = (long)where;
	}
}

/* Returns the place, or 0 if it is out of range. */
TRI_FUNCTION long tri_check(global long *fail, long place, long bound, ulong where)
{
	if (place >= 0 && place < bound)
		return place;
	tri_fail_at(fail, place, bound, where);
	return 0;
}

/* Return the value of the item whose number differs in the bit `gap` (tri_swap_word). `all`: local memory for a value of each item, for TRI_EMULATED. */
#ifdef TRI_EMULATED
#define TRI_SWAP(T, VALUE)                                                                                \
	TRI_FUNCTION T tri_swap_##T(T x, int gap, local T *all)                                           \
	{                                                                                                 \
		all[get_local_id(0)] = x;                                                                 \
		barrier(CLK_LOCAL_MEM_FENCE);                                                             \
		x = all[(int)get_local_id(0) ^ gap];                                                      \
		barrier(CLK_LOCAL_MEM_FENCE);                                                             \
		return x;                                                                                 \
	}
#else
#define TRI_SWAP(T, VALUE) TRI_FUNCTION T tri_swap_##T(T x, int gap, local T *all) { return VALUE; }
#endif
#define TRI_SWAP_HALVES(x) ((ulong)tri_swap_word((uint)(x), gap) | (ulong)tri_swap_word((uint)((x) >> 32), gap) << 32)
TRI_SWAP(uchar, (uchar)tri_swap_word(x, gap))
TRI_SWAP(char, (char)tri_swap_word((uint)x, gap))
TRI_SWAP(short, (short)tri_swap_word((uint)x, gap))
TRI_SWAP(int, (int)tri_swap_word((uint)x, gap))
TRI_SWAP(long, (long)TRI_SWAP_HALVES((ulong)x))
TRI_SWAP(float, as_float(tri_swap_word(as_uint(x), gap)))
#ifdef TRI_FP64
TRI_SWAP(double, as_double(TRI_SWAP_HALVES(as_ulong(x))))
#endif

#if defined(TRI_SELF_CHECKS) && !defined(TRI_SWAPS_NONE)
/* The self-check of tri_swap_word, for 64 items. gpu/runtime/fast_forms.c knows the results. */
kernel TRI_SUB_GROUPS(64) void tri_check_swap(global int *y)
{
	TRI_SHARED int all[64];
	const int i = (int)get_local_id(0);
	uint sum = 0;
	for (int gap = 1; gap < 32; gap <<= 1) {
		const int own = (int)((uint)(i + 1) * 0x9e3779b9u), other = (int)((uint)((i ^ gap) + 1) * 0x9e3779b9u);
		sum = sum * 3u + (uint)(gap < TRI_SWAPS ? tri_swap_int(own, gap, all) : other);
	}
	y[i] = (int)sum;
}
#endif

/* Add and multiply floats, as tri_add_long and tri_mul_long do integers. */
#define tri_plus(a, b) ((a) + (b))
#define tri_times(a, b) ((a) * (b))

/* Returns a word that orders elements: -0 is 0, NaN is the greatest. U: the unsigned integer of the size of T. */
#define TRI_ORDER(T, U, IS_FLOAT)                                                                         \
	TRI_FUNCTION U tri_order_##T(T a, int descending)                                                              \
	{                                                                                                 \
		const U top = (U)1 << (8 * sizeof(U) - 1), bits = as_##U(a == 0 ? (T)0 : a);                 \
		const U word = a != a ? ~(U)0 : bits & top && IS_FLOAT ? ~bits : bits ^ top;                     \
		return descending ? ~word : word;                                                         \
	}
TRI_ORDER(float, uint, 1)
TRI_ORDER(long, ulong, 0)
#ifdef TRI_FP64
TRI_ORDER(double, ulong, 1)
#endif

/* Integers wrap (U is the unsigned type of the computation). */
#define TRI_INT(T, U)                                                                                     \
	TRI_FUNCTION T tri_neg_##T(T a) { return (T)((U)0 - (U)a); }                                      \
	TRI_FUNCTION T tri_add_##T(T a, T b) { return (T)((U)a + (U)b); }                                 \
	TRI_FUNCTION T tri_sub_##T(T a, T b) { return (T)((U)a - (U)b); }                                 \
	TRI_FUNCTION T tri_mul_##T(T a, T b) { return (T)((U)a * (U)b); }                                 \
	TRI_FUNCTION T tri_min_##T(T a, T b) { return a < b ? a : b; }                                    \
	TRI_FUNCTION T tri_max_##T(T a, T b) { return a > b ? a : b; }                                    \
	TRI_FUNCTION T tri_shl_##T(T a, T n) { return n < 0 || n >= (int)(8 * sizeof(T)) ? (T)0 : (T)((U)a << n); } \
	TRI_FUNCTION T tri_power_##T(T a, T b) /* b is not negative */                                    \
	{                                                                                                 \
		T r = 1;                                                                                  \
		for (; b > 0; b = (T)(b >> 1)) {                                                          \
			if (b & 1)                                                                        \
				r = tri_mul_##T(r, a);                                                    \
			a = tri_mul_##T(a, a);                                                            \
		}                                                                                         \
		return r;                                                                                 \
	}

/* Division by 0 gives 0. */
#define TRI_UNSIGNED(T, U)                                                                                \
	TRI_INT(T, U)                                                                                     \
	TRI_FUNCTION T tri_abs_##T(T a) { return a; }                                                     \
	TRI_FUNCTION T tri_sign_##T(T a) { return (T)(a != 0); }                                          \
	TRI_FUNCTION T tri_mod_##T(T a, T b) { return b == 0 ? (T)0 : (T)(a % b); }                       \
	TRI_FUNCTION T tri_floordiv_##T(T a, T b) { return b == 0 ? (T)0 : (T)(a / b); }                  \
	TRI_FUNCTION T tri_shr_##T(T a, T n) { return n >= (int)(8 * sizeof(T)) ? (T)0 : (T)(a >> n); }   \
	TRI_FUNCTION T tri_pow_##T(T a, T b) { return tri_power_##T(a, b); }

/* Floor division and modulus are those of Python. */
#define TRI_SIGNED(T, U)                                                                                  \
	TRI_INT(T, U)                                                                                     \
	TRI_FUNCTION T tri_abs_##T(T a) { return a < 0 ? tri_neg_##T(a) : a; }                            \
	TRI_FUNCTION T tri_sign_##T(T a) { return (T)((a > 0) - (a < 0)); }                               \
	TRI_FUNCTION T tri_mod_##T(T a, T b)                                                              \
	{                                                                                                 \
		if (b == 0 || b == (T)-1)                                                                 \
			return 0;                                                                         \
		T r = (T)(a % b);                                                                         \
		return r != 0 && (r < 0) != (b < 0) ? (T)(r + b) : r;                                     \
	}                                                                                                 \
	TRI_FUNCTION T tri_floordiv_##T(T a, T b)                                                         \
	{                                                                                                 \
		if (b == 0)                                                                               \
			return 0;                                                                         \
		if (b == (T)-1)                                                                           \
			return tri_neg_##T(a);                                                            \
		return (T)(a / b - (a % b != 0 && (a < 0) != (b < 0)));                                   \
	}                                                                                                 \
	TRI_FUNCTION T tri_shr_##T(T a, T n)                                                              \
	{                                                                                                 \
		int most = 8 * sizeof(T) - 1;                                                             \
		return (T)(a >> (n < 0 || n > most ? most : n));                                          \
	}                                                                                                 \
	TRI_FUNCTION T tri_pow_##T(T a, T b)                                                              \
	{                                                                                                 \
		if (b < 0)                                                                                \
			return a == 1 ? 1 : a == (T)-1 ? (b % 2 != 0 ? a : (T)1) : 0;                     \
		return tri_power_##T(a, b);                                                               \
	}
TRI_UNSIGNED(uchar, uint)
TRI_SIGNED(char, uint)
TRI_SIGNED(short, uint)
TRI_SIGNED(int, uint)
TRI_SIGNED(long, ulong)

/* erf of float32 (after N. Juffa): around 0 a polynomial, else 1 - exp of one. Device libraries may be off by 16 units in the last place. */
#define TRI_ERF(W)                                                                                        \
	TRI_INLINE float##W tri_erf_float##W(float##W a)                                                  \
	{                                                                                                 \
		float##W t = fabs(a), s = a * a;                                                          \
		float##W r = fma((float##W)-1.72853470e-5f, t, (float##W)3.83197126e-4f);                 \
		r = fma(r, s, fma((float##W)-3.88396438e-3f, t, (float##W)2.42546219e-2f));               \
		r = fma(r, t, (float##W)-1.06777877e-1f);                                                 \
		r = fma(r, t, (float##W)-6.34846687e-1f);                                                 \
		r = fma(r, t, (float##W)-1.28717512e-1f);                                                 \
		r = fma(r, t, -t);                                                                        \
		float##W p = fma((float##W)-5.96761703e-4f, s, (float##W)4.99119423e-3f);                 \
		p = fma(p, s, (float##W)-2.67681349e-2f);                                                 \
		p = fma(p, s, (float##W)1.12819925e-1f);                                                  \
		p = fma(p, s, (float##W)-3.76125336e-1f);                                                 \
		p = fma(p, s, (float##W)1.28379166e-1f);                                                  \
		float##W far = copysign(TRI_CHOOSE(t > (float##W)4.0f, (float##W)1, (float##W)1 - exp(r)), a); \
		return TRI_CHOOSE(t > (float##W)0.927734375f, far, fma(p, a, a));                         \
	}
TRI_ERF()

/* NaN wins in min and max. Casts to integers saturate, and NaN gives 0. Beyond TANH_IS_1 the nearest value of tanh is 1: a device
 * that returns a little less makes gelu(-infinity) an infinity, and gelu of a large negative number large. So with erf. */
#define TRI_FLOAT(T, TANH_IS_1)                                                                           \
	TRI_FUNCTION T tri_sign_##T(T a) { return (T)((a > 0) - (a < 0)); }                               \
	TRI_FUNCTION T tri_min_##T(T a, T b) { return a != a || a < b ? a : b; }                          \
	TRI_FUNCTION T tri_max_##T(T a, T b) { return a != a || a > b ? a : b; }                          \
	TRI_FUNCTION T tri_mod_##T(T a, T b)                                                              \
	{                                                                                                 \
		T r = fmod(a, b);                                                                         \
		return r != 0 && (r < 0) != (b < 0) ? r + b : r;                                          \
	}                                                                                                 \
	TRI_FUNCTION T tri_floordiv_##T(T a, T b)                                                         \
	{                                                                                                 \
		T r = fmod(a, b), q = rint((a - r) / b) - (T)(r != 0 && (r < 0) != (b < 0));              \
		return b == 0 ? a / b : q == 0 ? copysign((T)0, a / b) : q;                               \
	}                                                                                                 \
	TRI_FUNCTION uchar tri_##T##_to_uchar(T a) { return a != a ? (uchar)0 : convert_uchar_sat_rtz(a); } \
	TRI_FUNCTION char tri_##T##_to_char(T a) { return a != a ? (char)0 : convert_char_sat_rtz(a); }   \
	TRI_FUNCTION char tri_##T##_to_trit(T a) { return a != a ? (char)0 : clamp(convert_char_sat_rtz(a), (char)-1, (char)1); } \
	TRI_FUNCTION short tri_##T##_to_short(T a) { return a != a ? (short)0 : convert_short_sat_rtz(a); } \
	TRI_FUNCTION int tri_##T##_to_int(T a) { return a != a ? 0 : convert_int_sat_rtz(a); }            \
	TRI_FUNCTION long tri_##T##_to_long(T a) { return a != a ? 0 : convert_long_sat_rtz(a); }         \
	TRI_FUNCTION T tri_tanh_##T(T a) { return fabs(a) > (T)TANH_IS_1 ? copysign((T)1, a) : tanh(a); }
TRI_FLOAT(float, 9.02)
#ifdef TRI_FP64
TRI_FLOAT(double, 19.1)
TRI_FUNCTION double tri_erf_double(double a) { return fabs(a) > 5.93 ? copysign(1.0, a) : erf(a); }
#endif

/* 16-bit floats are computed in float. Each result is rounded to the storage type, to nearest even. */
TRI_FUNCTION float tri_round_f16(float a)
{
	ushort bits;
	vstore_half_rte(a, 0, (private half *)&bits);
	return vload_half(0, (private half *)&bits);
}
TRI_FUNCTION ushort tri_bf16_bits(float a)
{
	uint u = as_uint(a);
	if (a != a)
		return (ushort)(u >> 16 | 0x40);
	return (ushort)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}
TRI_FUNCTION float tri_bf16_value(ushort bits) { return as_float((uint)bits << 16); }
TRI_FUNCTION float tri_round_bf16(float a) { return tri_bf16_value(tri_bf16_bits(a)); }
#ifdef TRI_FP64
/* Rounds to odd, so that a second rounding to 16 bits gives the same as one rounding. */
TRI_FUNCTION float tri_double_to_odd(double a)
{
	float f = convert_float_rtz(a);
	if (a != a || (double)f == a || isinf(a))
		return f;
	return as_float(as_uint(f) | 1u);
}
#endif
