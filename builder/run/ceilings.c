/* Each figure is the best of several short loops that all threads run at the same time, and of all widths of vectors that the processor has: the widest ones may lower its
 * clock. The loops are shorter than a turn of a neighbour on the processor. */
#include "builder/run/ceilings.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/os.h"
#ifdef __x86_64__
#include <immintrin.h>
#endif

#define ROUNDS 16
#define LEAST_NS 120000000        /* of all rounds: a neighbour may have a processor for some of them */
#define BYTES ((size_t)128 << 20) /* of all threads: beyond the caches, because a round reads the next window of it */
#define WINDOW ((size_t)16 << 20)
#define STEPS ((uint64_t)1 << 17) /* of a loop in registers: half a millisecond */

#define MOST_LOOPS 4

/* One loop: returns the bytes or operations that it did. `memory` is this thread's part. */
typedef double ceiling_loop(char *memory, size_t bytes);

struct runner {
	ceiling_loop *loop;
	char *memory;
	size_t bytes;
	double rate; /* of this thread */
	pthread_barrier_t *start;
};

static _Thread_local volatile uint64_t sink; /* keeps results, so that no loop is removed */

/* ---- memory ---- */

/* A line of the caches. */
typedef uint64_t line __attribute__((vector_size(64)));

static double read_memory(char *memory, size_t bytes)
{
	const line *lines = (const line *)(const void *)memory;
	line a = lines[0], b = a;
	for (size_t i = 0; i + 2 <= bytes / sizeof *lines; i += 2) {
		a += lines[i];
		b += lines[i + 1];
	}
	a += b;
	sink = a[0] + a[7];
	return (double)bytes;
}

static double copy_memory(char *memory, size_t bytes)
{
	memcpy(memory, memory + bytes / 2, bytes / 2);
	sink = (uint64_t)memory[0];
	return (double)bytes;
}

/* ---- arithmetic ---- */

/* `N` independent accumulators hide the latency of the instruction. */
#define ARITHMETIC(name, features, type, zero, step, lanes, N)                                   \
	__attribute__((target(features))) static double name(char *memory, size_t bytes)         \
	{                                                                                        \
		type acc[N], x = zero, y = zero;                                                 \
		(void)bytes;                                                                     \
		memcpy(&x, memory, sizeof x);                                                    \
		memcpy(&y, memory, sizeof y);                                                    \
		for (uint32_t k = 0; k < N; k++) {                                               \
			acc[k] = zero;                                                           \
			__asm__ volatile("" : "+x"(acc[k]));                                     \
		}                                                                                \
		for (uint64_t i = 0; i < STEPS; i++) {                                           \
			_Pragma("GCC unroll 16") for (uint32_t k = 0; k < N; k++) acc[k] = step; \
			__asm__ volatile("" : "+x"(x), "+x"(y));                                 \
		}                                                                                \
		for (uint32_t k = 0; k < N; k++)                                                 \
			memcpy(memory + k * sizeof acc[k], &acc[k], sizeof acc[k]);              \
		return 2.0 * lanes * N * STEPS;                                                  \
	}

#ifdef __x86_64__
ARITHMETIC(float_avx512, "avx512f", __m512, _mm512_setzero_ps(), _mm512_fmadd_ps(x, y, acc[k]), 16, 12)
ARITHMETIC(float_avx2, "avx2,fma", __m256, _mm256_setzero_ps(), _mm256_fmadd_ps(x, y, acc[k]), 8, 12)
ARITHMETIC(float_sse, "sse2", __m128, _mm_setzero_ps(), _mm_add_ps(_mm_mul_ps(x, y), acc[k]), 4, 12)
ARITHMETIC(int8_vnni, "avx512f,avx512vnni", __m512i, _mm512_setzero_si512(), _mm512_dpbusd_epi32(acc[k], x, y), 64, 12)
ARITHMETIC(int8_avx2, "avx2", __m256i, _mm256_setzero_si256(), _mm256_add_epi32(acc[k], _mm256_madd_epi16(_mm256_maddubs_epi16(x, y), x)),
	   32, 12)
ARITHMETIC(int8_sse, "ssse3", __m128i, _mm_setzero_si128(), _mm_add_epi32(acc[k], _mm_madd_epi16(_mm_maddubs_epi16(x, y), x)), 16, 12)

/* Loops that the processor has, the end is NULL. */
static void supported_loops(ceiling_loop *floats[MOST_LOOPS], ceiling_loop *int8s[MOST_LOOPS])
{
	*floats++ = float_sse;
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		*floats++ = float_avx2;
	if (__builtin_cpu_supports("avx512f"))
		*floats++ = float_avx512;
	if (__builtin_cpu_supports("ssse3"))
		*int8s++ = int8_sse;
	if (__builtin_cpu_supports("avx2"))
		*int8s++ = int8_avx2;
	if (__builtin_cpu_supports("avx512vnni"))
		*int8s++ = int8_vnni;
	*floats = *int8s = NULL;
}
#else
typedef float floats __attribute__((vector_size(16)));
typedef int16_t shorts __attribute__((vector_size(16)));
static double float_portable(char *memory, size_t bytes)
{
	floats acc[8], x, y;
	(void)bytes;
	memcpy(&x, memory, sizeof x);
	y = x;
	memset(acc, 0, sizeof acc);
	for (uint64_t i = 0; i < STEPS; i++)
		for (uint32_t k = 0; k < 8; k++)
			acc[k] = x * y + acc[k];
	memcpy(memory, acc, sizeof acc);
	return 2.0 * 4 * 8 * STEPS;
}
static double int8_portable(char *memory, size_t bytes)
{
	shorts acc[8], x;
	(void)bytes;
	memcpy(&x, memory, sizeof x);
	memset(acc, 0, sizeof acc);
	for (uint64_t i = 0; i < STEPS; i++)
		for (uint32_t k = 0; k < 8; k++)
			acc[k] = (shorts)(x * x + acc[k]);
	memcpy(memory, acc, sizeof acc);
	return 2.0 * 8 * 8 * STEPS;
}
static void supported_loops(ceiling_loop *floats[MOST_LOOPS], ceiling_loop *int8s[MOST_LOOPS])
{
	floats[0] = float_portable;
	int8s[0] = int8_portable;
	floats[1] = int8s[1] = NULL;
}
#endif

/* ---- threads ---- */

static void *ceilings_run(void *arg)
{
	struct runner *r = arg;
	pthread_barrier_wait(r->start);
	int64_t began = os_now_ns();
	double done = r->loop(r->memory, r->bytes);
	int64_t ns = os_now_ns() - began;
	r->rate = done / (double)(ns > 0 ? ns : 1) * 1e9;
	return NULL;
}

/* Runs the loop on all threads at once, each on its part of the window. Returns the sum of their rates. */
static double rate(ceiling_loop *loop, char *memory, uint32_t threads)
{
	size_t part = WINDOW / threads / 64 * 64;
	pthread_t *ids = alloc_zeroed(threads * sizeof *ids);
	struct runner *runners = alloc_zeroed(threads * sizeof *runners);
	pthread_barrier_t start;
	double sum = 0;
	pthread_barrier_init(&start, NULL, threads);
	for (uint32_t i = 0; i < threads; i++) {
		runners[i] = (struct runner){loop, memory + i * part, part, 0, &start};
		BUG_ON(pthread_create(&ids[i], NULL, ceilings_run, &runners[i]) != 0);
	}
	for (uint32_t i = 0; i < threads; i++) {
		pthread_join(ids[i], NULL);
		sum += runners[i].rate;
	}
	pthread_barrier_destroy(&start);
	free(runners);
	free(ids);
	return sum;
}

/* The best of some loops, the end is NULL. */
static double best_of(ceiling_loop *const *loops, char *memory, uint32_t threads)
{
	double most = 0;
	for (; *loops; loops++) {
		int64_t began = os_now_ns();
		for (uint32_t i = 0; i < ROUNDS || os_now_ns() - began < LEAST_NS; i++) {
			double r = rate(*loops, memory + i % (BYTES / WINDOW) * WINDOW, threads);
			most = r > most ? r : most;
		}
	}
	return most;
}

/* More threads than processors do no more: they would only take turns, each at the rate of a whole one. */
struct ceilings ceilings_measure(uint32_t threads)
{
	threads = threads < os_cpu_count() ? threads : os_cpu_count();
	char *memory = aligned_alloc((size_t)2 << 20, BYTES);
	BUG_ON(!memory);
	memset(memory, 0x3f, BYTES); /* 0.75 as float32, 63 as int8 */
	ceiling_loop *floats[MOST_LOOPS], *int8s[MOST_LOOPS];
	supported_loops(floats, int8s);
	struct ceilings c = {.read_bytes = best_of((ceiling_loop *[]){read_memory, NULL}, memory, threads),
			     .copy_bytes = best_of((ceiling_loop *[]){copy_memory, NULL}, memory, threads),
			     .float_ops = best_of(floats, memory, threads),
			     .int8_ops = best_of(int8s, memory, threads)};
	free(memory);
	return c;
}
