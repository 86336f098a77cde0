/* tri_parallel: loops over the threads of a context. Results do not depend on which thread runs which index. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "backend/runtime/context.h"
#include "backend/runtime/cpu.h"
#include "backend/runtime/thread.h"

enum { OPEN = 1, INSIDE = 2, SPINS = 10000, MAX_THREADS = 1024, MASK_BYTES = 1024, PAGE = 4096 };

static void pause_cpu(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

static void threads_work(struct tri_context *ctx, uint32_t self)
{
	for (uint32_t k = 0; k < ctx->threads; k++) {
		struct tri_share *s = &ctx->shares[(self + k) % ctx->threads];
		int64_t i;
		while ((i = atomic_fetch_add_explicit(&s->next, 1, memory_order_relaxed)) < s->end)
			ctx->fn(ctx->arg, i);
	}
}

/* Divides 0 … n-1 into shares that differ by one index at most. */
static void divide(struct tri_context *ctx, int64_t n)
{
	int64_t threads = ctx->threads, each = n / threads, more = n % threads, at = 0;
	for (int64_t k = 0; k < threads; k++) {
		atomic_store_explicit(&ctx->shares[k].next, at, memory_order_relaxed);
		at += each + (k < more);
		ctx->shares[k].end = at;
	}
}

/* Works on the open loop, if there is one. */
static void join_job(struct tri_context *ctx, uint32_t self)
{
	uint32_t s = atomic_load(&ctx->state);
	while (s & OPEN) {
		if (!atomic_compare_exchange_weak(&ctx->state, &s, s + INSIDE))
			continue;
		int64_t began = ctx->profile ? tri_clock_ns() : 0;
		threads_work(ctx, self);
		if (ctx->profile)
			atomic_fetch_add(&ctx->clock.others_ns, tri_clock_ns() - began);
		if (atomic_fetch_sub(&ctx->state, INSIDE) == INSIDE)
			tri_futex_wake(&ctx->state, 1);
		return;
	}
}

static void *worker(void *arg)
{
	struct tri_context *ctx = arg;
	uint32_t seen = 0, self = 1 + atomic_fetch_add(&ctx->numbered, 1);
	for (;;) {
		for (int spin = 0; spin < SPINS && atomic_load_explicit(&ctx->jobs, memory_order_relaxed) == seen; spin++)
			pause_cpu();
		while (atomic_load(&ctx->jobs) == seen) {
			atomic_fetch_add(&ctx->sleepers, 1);
			tri_futex_wait(&ctx->jobs, seen, NULL);
			atomic_fetch_sub(&ctx->sleepers, 1);
		}
		seen = atomic_load(&ctx->jobs);
		if (atomic_load(&ctx->quit)) /* read after `jobs`: a closing context announces once more, for the last time */
			return NULL;
		join_job(ctx, self);
	}
}

static void announce(struct tri_context *ctx)
{
	atomic_fetch_add(&ctx->jobs, 1);
	if (atomic_load(&ctx->sleepers))
		tri_futex_wake(&ctx->jobs, INT_MAX);
}

static void drop_workers(struct tri_context *ctx)
{
	free(ctx->workers);
	free(ctx->shares);
	free(ctx->spaces);
	ctx->spaces = NULL;
	ctx->workers = NULL;
	ctx->shares = NULL;
	ctx->started = 0;
	atomic_store(&ctx->numbered, 0);
}

/* Starts as many workers as possible; without workers, loops run on the caller. */
static void threads_start(struct tri_context *ctx)
{
	ctx->workers = malloc((ctx->threads - 1) * sizeof *ctx->workers);
	ctx->shares = aligned_alloc(_Alignof(struct tri_share), ctx->threads * sizeof *ctx->shares);
	ctx->spaces = aligned_alloc(PAGE, (size_t)(ctx->threads - 1) * TRI_SPACE);
	if (!ctx->workers || !ctx->shares || !ctx->spaces) {
		drop_workers(ctx);
		ctx->threads = 1;
		return;
	}
	while (ctx->started + 1 < ctx->threads && tri_thread_start(&ctx->workers[ctx->started], worker, ctx))
		ctx->started++;
	ctx->threads = ctx->started + 1;
	ctx->owner = getpid();
}

/* The handles of the workers were stored before a loop was opened. */
void *tri_space(struct tri_context *ctx)
{
	pthread_t self = pthread_self();
	for (uint32_t i = 0; i < ctx->started; i++)
		if (pthread_equal(ctx->workers[i], self))
			return ctx->spaces + (size_t)i * TRI_SPACE;
	return ctx->space;
}

uint32_t tri_threads(const struct tri_context *ctx) { return ctx->threads; }
_Bool tri_has_vbmi(const struct tri_context *ctx) { return ctx->has_vbmi; }
_Bool tri_counts_words(const struct tri_context *ctx) { return ctx->counts_words; }

void tri_parallel(struct tri_context *ctx, void (*fn)(void *arg, int64_t i), void *arg, int64_t n)
{
	if (n > 1 && ctx->threads > 1 && !ctx->busy && !ctx->started)
		threads_start(ctx);
	if (n <= 1 || ctx->threads <= 1 || ctx->busy) {
		for (int64_t i = 0; i < n; i++)
			fn(arg, i);
		return;
	}
	ctx->busy = true;
	ctx->fn = fn;
	ctx->arg = arg;
	divide(ctx, n);
	atomic_store(&ctx->state, OPEN);
	announce(ctx);
	threads_work(ctx, 0);
	int64_t waits = ctx->profile ? tri_clock_ns() : 0;
	uint32_t s = atomic_fetch_and(&ctx->state, ~(uint32_t)OPEN) & ~(uint32_t)OPEN;
	for (int spin = 0; s && spin < SPINS; spin++, s = atomic_load(&ctx->state))
		pause_cpu();
	while ((s = atomic_load(&ctx->state)))
		tri_futex_wait(&ctx->state, s, NULL);
	if (ctx->profile)
		atomic_fetch_sub(&ctx->clock.others_ns, tri_clock_ns() - waits);
	ctx->busy = false;
}

static uint32_t cpu_count(void)
{
	unsigned long mask[MASK_BYTES / sizeof(unsigned long)];
	long bytes = syscall(SYS_sched_getaffinity, 0, sizeof mask, mask);
	uint32_t count = 0;
	for (long i = 0; i < bytes / (long)sizeof *mask; i++)
		for (unsigned long m = mask[i]; m; m &= m - 1)
			count++;
	return count ? count : 1;
}

bool tri_context_init(struct tri_context *ctx, uint32_t threads)
{
	memset(ctx, 0, sizeof *ctx);
	ctx->threads = threads ? threads : cpu_count();
	if (ctx->threads > MAX_THREADS)
		ctx->threads = MAX_THREADS;
	ctx->has_vbmi = !tri_cpu_lacks("x86-64-v4 avx512vbmi");
	ctx->counts_words = !tri_cpu_lacks("x86-64-v4 avx512vpopcntdq");
	ctx->space = aligned_alloc(PAGE, TRI_SPACE);
	return ctx->space != NULL;
}

/* A forked child has no workers: the next loop starts new ones. */
static void forget_lost_threads(struct tri_context *ctx)
{
	if (!ctx->started || ctx->owner == getpid())
		return;
	drop_workers(ctx);
	ctx->busy = false;
	atomic_store(&ctx->jobs, 0);
	atomic_store(&ctx->sleepers, 0);
	atomic_store(&ctx->state, 0);
}

void tri_context_begin(struct tri_context *ctx)
{
	forget_lost_threads(ctx);
	ctx->clock.hook_ns = 0;
	atomic_store_explicit(&ctx->clock.others_ns, 0, memory_order_relaxed);
	atomic_store_explicit(&ctx->failed, 0, memory_order_relaxed);
}

void tri_context_end(struct tri_context *ctx)
{
	forget_lost_threads(ctx);
	atomic_store(&ctx->quit, true);
	announce(ctx);
	for (uint32_t i = 0; i < ctx->started; i++)
		pthread_join(ctx->workers[i], NULL);
	drop_workers(ctx);
	free(ctx->space);
	ctx->space = NULL;
}

static void threads_record(struct tri_context *ctx, int32_t code, int64_t value, int64_t bound, uint64_t place)
{
	uint32_t none = 0;
	if (!atomic_compare_exchange_strong(&ctx->failed, &none, 1))
		return;
	ctx->fail_code = code;
	ctx->fail_value = value;
	ctx->fail_bound = bound;
	ctx->fail_place = place;
	atomic_store(&ctx->failed, 2);
}

void tri_fail(struct tri_context *ctx, int32_t code, int64_t value, int64_t bound) { threads_record(ctx, code, value, bound, 0); }

void tri_fail_at(struct tri_context *ctx, int64_t value, int64_t bound, uint64_t place)
{
	threads_record(ctx, TRI_ERR_RANGE, value, bound, place);
}

void tri_fail_text(struct tri_context *ctx, int32_t code, const char *fmt, ...)
{
	uint32_t none = 0;
	va_list ap;
	if (!atomic_compare_exchange_strong(&ctx->failed, &none, 1))
		return;
	va_start(ap, fmt);
	vsnprintf(ctx->fail_text, sizeof ctx->fail_text, fmt, ap);
	va_end(ap);
	ctx->fail_code = code;
	atomic_store(&ctx->failed, 2);
}

int32_t tri_failed(const struct tri_context *ctx) { return atomic_load_explicit(&ctx->failed, memory_order_relaxed) != 0; }
