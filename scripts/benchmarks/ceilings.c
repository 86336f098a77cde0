/* What one core can do at most: prints JSON with GFLOP/s of float32 multiply-add, GOP/s of int8 dot products, and GB/s of reading and copying.
 * Compile with -O2 -march=native. An operation is a multiplication or an addition. The argument is the number of threads that read. */
#include <immintrin.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { CHAINS = 12, ROUNDS = 2000000, REPEATS = 7, BYTES = 256 << 20, MOST_THREADS = 64 };

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Independent chains of operations, enough to hide their latency. Variables with names, because compilers keep arrays in memory. */
#define EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
/* KEEP makes the compiler believe that a register changes, so that it removes no instruction. */
#define KEEP(x) __asm__ volatile("" : "+v"(x))

#if defined(__AVX512F__)
typedef __m512 floats;
#define FLOATS_SET _mm512_set1_ps
#define FLOATS_FMA _mm512_fmadd_ps
#else
typedef __m256 floats;
#define FLOATS_SET _mm256_set1_ps
#define FLOATS_FMA _mm256_fmadd_ps
#endif

static double fma_ops(void)
{
	floats x = FLOATS_SET(0.5f), y = FLOATS_SET(0.25f);
#define DECLARE(c) floats a##c = y;
#define STEP(c)                        \
	a##c = FLOATS_FMA(x, y, a##c); \
	KEEP(a##c);
	EACH(DECLARE)
	for (int r = 0; r < ROUNDS; r++) {
		EACH(STEP)
	}
#undef DECLARE
#undef STEP
	return 2.0 * ROUNDS * CHAINS * sizeof(floats) / sizeof(float);
}

#if defined(__AVX512VNNI__)
typedef __m512i bytes;
#define BYTES_DOT(acc, x, y) _mm512_dpbusd_epi32(acc, x, y)
#define BYTES_SET _mm512_set1_epi8
#else /* without VNNI: multiply pairs, add pairs, accumulate */
typedef __m256i bytes;
#define BYTES_DOT(acc, x, y) _mm256_add_epi32(acc, _mm256_madd_epi16(_mm256_maddubs_epi16(x, y), _mm256_set1_epi16(1)))
#define BYTES_SET _mm256_set1_epi8
#endif

static double dot_ops(void)
{
	bytes x = BYTES_SET(1), y = BYTES_SET(1);
#define DECLARE(c) bytes a##c = y;
#define STEP(c)                                               \
	KEEP(x); /* no chain shares a product with another */ \
	a##c = BYTES_DOT(a##c, x, y);                         \
	KEEP(a##c);
	EACH(DECLARE)
	for (int r = 0; r < ROUNDS; r++) {
		EACH(STEP)
	}
	return 2.0 * ROUNDS * CHAINS * sizeof(bytes);
}

static char *memory[2];

static int n_threads = 1;

static void *read_part(void *number)
{
	size_t each = BYTES / (size_t)n_threads / 128 * 128, from = each * (size_t)(intptr_t)number;
	__m256i sum[4] = {0};
	for (size_t k = from; k < from + each; k += 128)
		for (int c = 0; c < 4; c++)
			sum[c] = _mm256_add_epi64(sum[c], _mm256_load_si256((const __m256i *)(memory[0] + k) + c));
	for (int c = 0; c < 4; c++)
		KEEP(sum[c]);
	return NULL;
}

static double read_bytes(void)
{
	pthread_t threads[MOST_THREADS];
	for (int t = 1; t < n_threads; t++)
		if (pthread_create(&threads[t], NULL, read_part, (void *)(intptr_t)t))
			exit(1);
	read_part(NULL);
	for (int t = 1; t < n_threads; t++)
		pthread_join(threads[t], NULL);
	return BYTES;
}

static double copy_bytes(void)
{
	memcpy(memory[1], memory[0], BYTES);
	return 2.0 * BYTES;
}

/* Returns the best rate of several runs, in units of 1e9 a second. */
static double best(double (*run)(void))
{
	double most = 0;
	for (int k = 0; k < REPEATS; k++) {
		double start = seconds(), done = run(), rate = done / (seconds() - start) / 1e9;
		most = rate > most ? rate : most;
	}
	return most;
}

int main(int argc, char **argv)
{
	n_threads = argc > 1 ? atoi(argv[1]) : 1;
	if (n_threads < 1 || n_threads > MOST_THREADS)
		return 1;
	for (int k = 0; k < 2; k++) {
		memory[k] = aligned_alloc(1 << 21, BYTES);
		if (!memory[k])
			return 1;
		madvise(memory[k], BYTES, MADV_HUGEPAGE); /* twice as fast to read */
		memset(memory[k], 1, BYTES);
	}
	printf("{\"float32_gflops\": %.1f, \"int8_gops\": %.1f, \"read_gbs\": %.1f, \"copy_gbs\": %.1f}\n", best(fma_ops), best(dot_ops),
	       best(read_bytes), best(copy_bytes));
	return 0;
}
