/* Times products of int8 with trits in every packed form, whatever the packer would choose: prints a JSON object a line. It contains the packer, to
 * have its parts. Linked with the runtime's objects of a processor level. Arguments: rows of x, pattern, percentages of zeros. */
#include <stdio.h>
#include <time.h>
#include "backend/runtime/pack/trit_blocks_pack.c"
#include "backend/runtime/context.h"
#include "backend/runtime/kernels/kernel.h"

enum { K = 2560, N = 2560, REPEATS = 40 };

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Trits of which about `percent` are zero: single ones, blocks of 4 x 32, whole rows or whole columns. */
static void fill(int8_t *w, const char *pattern, int percent)
{
	const int64_t high = strcmp(pattern, "columns") == 0 ? K : strcmp(pattern, "blocks") == 0 ? 4 : 1;
	const int64_t wide = strcmp(pattern, "rows") == 0 ? N : strcmp(pattern, "blocks") == 0 ? 32 : 1;
	for (int64_t i = 0; i < (int64_t)K * N; i++)
		w[i] = (int8_t)(rand() % 2 * 2 - 1);
	for (int64_t k = 0; k < K; k += high)
		for (int64_t n = 0; n < N; n += wide)
			if (rand() % 100 < percent)
				for (int64_t i = 0; i < high * wide; i++)
					w[(k + i / wide) * N + n + i % wide] = 0;
}

/* The fastest of many runs, in microseconds. */
static double time_of(struct tri_context *ctx, tri_kernel_fn *kernel, void *w, int64_t rows)
{
	static int8_t x[512 * K];
	static int32_t y[512 * N];
	double best = 1e9;
	for (int i = 0; i < REPEATS; i++) {
		double start = seconds();
		kernel(ctx, (void *[]){x, w, y}, (int64_t[]){rows, K, N}, NULL);
		double end = seconds();
		best = end - start < best ? end - start : best;
	}
	return 1e6 * best;
}

static void *allocate(size_t n)
{
	void *p = aligned_alloc(64, (n + 63) / 64 * 64);
	return p ? memset(p, 0, (n + 63) / 64 * 64) : (exit(1), NULL);
}

static void measure(struct tri_context *ctx, int64_t rows, const char *pattern, int percent)
{
	int8_t *w = allocate((size_t)K * N);
	char *dense = allocate(tri_blocks_size(K, N));
	struct tri_blocks_source s = {w, K, N, N, 1};
	struct survey v = {.s = &s, .panels = panels_of(N), .quads = K / TRI_BLOCK_ROWS, .steps = tri_trit2_steps(K)};
	fill(w, pattern, percent);
	v.used = allocate((size_t)(v.panels * v.steps) * sizeof *v.used);
	v.some = allocate((size_t)(v.panels * v.quads));
	v.kept = allocate((size_t)K * sizeof *v.kept);
	pack_dense(&s, dense);
	tri_trit2_zeros(dense, K, N, v.used, &v.zeros);
	survey(&v);
	struct tri_blocks h = describe(&v), lists = h;
	h.steps = lists.steps = tri_lists_steps(&s);
	char *blocks = allocate(place(&v, &h)), *listed = allocate(tri_lists_place(&s, &lists));
	memcpy(blocks, &h, sizeof h);
	pack_sparse(&v, &h, blocks);
	memcpy(listed, &lists, sizeof lists);
	tri_lists_pack(&s, listed);
	printf("{\"pattern\": \"%s\", \"zeros\": %.3f, \"rows_of_x\": %lld, \"kept_rows\": %lld, \"blocks\": %u, \"steps\": %u, ", pattern,
	       (double)v.zeros.trits / K / N, (long long)rows, (long long)(v.rows < K ? v.rows : 0), h.blocks, h.steps);
	printf("\"dense_us\": %.2f, \"blocks_us\": %.2f, \"lists_us\": %.2f}\n", time_of(ctx, tri_matmul_i8_trit2, dense, rows),
	       time_of(ctx, tri_matmul_i8_lists, blocks, rows), time_of(ctx, tri_matmul_i8_lists, listed, rows));
	free(w), free(dense), free(v.used), free(v.some), free(v.kept), free(blocks), free(listed);
}

int main(int n, char **args)
{
	struct tri_context ctx;
	if (n < 4 || !tri_context_init(&ctx, 1))
		return 1;
	for (int i = 3; i < n; i++)
		measure(&ctx, strtoll(args[1], NULL, 10), args[2], atoi(args[i]));
	tri_context_end(&ctx);
	return 0;
}
