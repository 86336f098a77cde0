/* Macros that templates use where OpenCL C 1.2 and CUDA C++ differ, for OpenCL C: TRI_GROUP after `kernel`, for exactly so many items; TRI_SUB_GROUPS, too,
 * if they exchange values or read in blocks; TRI_FUNCTION and TRI_INLINE before functions that kernels call; TRI_SHARED before variables in local memory, to which pointers
 * are `local`; vectors of four values; TRI_CHOOSE, also for lanes. */
#pragma OPENCL FP_CONTRACT OFF
#ifdef TRI_FP64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#define TRI_SELF_CHECKS /* kernels with which the host checks fast forms */
#define TRI_GROUP(items) __attribute__((reqd_work_group_size(items, 1, 1)))
#if (defined(TRI_SWAP_INTEL) || defined(TRI_READ_INTEL)) && !defined(TRI_EMULATED)
#define TRI_SUB_GROUPS(items) TRI_GROUP(items) __attribute__((intel_reqd_sub_group_size(16)))
#else
#define TRI_SUB_GROUPS TRI_GROUP
#endif
#define TRI_FUNCTION
#define TRI_INLINE static __attribute__((always_inline)) /* a call would pass vectors through memory */
#define TRI_SHARED local
#define TRI_VECTOR4(T, a, b, c, d) (T##4)(a, b, c, d)
#define TRI_CHOOSE(condition, a, b) ((condition) ? (a) : (b))

/* TRI_SWAPS neighbours of a group exchange values without local memory, a power of two. tri_swap_word returns the word of the item whose number differs in the
 * bit `gap`, which is less than TRI_SWAPS; all items call it. TRI_EMULATED: helpers.cl exchanges values through local memory. */
#if defined(TRI_SWAP_NVIDIA) || defined(TRI_SWAP_AMD)
#define TRI_SWAP_BITS 5
#elif defined(TRI_SWAP_INTEL)
#define TRI_SWAP_BITS 4
#elif defined(TRI_SWAP_KHR)
#define TRI_SWAP_BITS tri_swap_bits() /* the driver chooses the size of sub-groups, for each kernel */
#else
#define TRI_SWAP_BITS 0
#define TRI_SWAPS_NONE
#endif
#define TRI_SWAPS (1 << TRI_SWAP_BITS)
#if defined(TRI_SWAPS_NONE)
#define tri_swap_word(x, gap) (x)
#elif defined(TRI_EMULATED)
int tri_swap_bits(void) { return 3; }
#elif defined(TRI_SWAP_NVIDIA)
uint tri_swap_word(uint x, int gap)
{
	uint y;
	__asm__ volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(y) : "r"(x), "r"(gap));
	return y;
}
#elif defined(TRI_SWAP_AMD)
uint tri_swap_word(uint x, int gap) { return (uint)__builtin_amdgcn_ds_bpermute(((int)get_local_id(0) ^ gap) * 4, (int)x); }
#elif defined(TRI_SWAP_INTEL)
uint tri_swap_word(uint x, int gap) { return intel_sub_group_shuffle_xor(x, (uint)gap); }
#else
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
int tri_swap_bits(void) { return min(31 - (int)clz(get_max_sub_group_size()), 5); }
uint tri_swap_word(uint x, int gap) { return sub_group_shuffle_xor(x, (uint)gap); }
#endif
