/* The micro-kernels of a processor level, their operands between guarded pages, and an epilogue that stores tiles. */
#ifndef TRIB_TESTS_KERNELS_FIXTURE_H
#define TRIB_TESTS_KERNELS_FIXTURE_H
#include "tests/unit/backend/link/elf/link_fixture.h"
#include "backend/link/elf/object.h"
#include "base/arena.h"
#include <math.h>
#include <pthread.h>
#include <sys/mman.h>
#include "backend/runtime/kernels/conv.h"
#include "backend/runtime/pack/f32_panels.h"
#include "backend/runtime/pack/trit2.h"
#include "backend/runtime/abi/unit.h"

enum { CONTEXT_BYTES = 4096, STACK_BYTES = 128 << 10 };

/* What the targets of kernels.def have for processors. */
#define OF_CPU(...) __VA_ARGS__
#define OF_CPU_DENSE(...) __VA_ARGS__
#define OF_CPU_VNNI(...) __VA_ARGS__
#define OF_DEVICES(...) __VA_ARGS__
#define OF_ANY(...) __VA_ARGS__
#define OF_ONLY_DEVICES(...)

/* The kernels of kernels.def by their names there, and the context that they need. */
struct kernels {
	void *library;
#define WHOLE(name)
#define FILLED(name) tri_filled_kernel_fn *name##_filled;
#define KERNEL(name, record, fits, targets, operands, filled, cost) OF_##targets(tri_kernel_fn *name; filled(name))
#include "backend/runtime/kernels/kernels.def"
#undef FILLED
#undef KERNEL
	void (*init)(void *ctx, uint32_t threads);
	void (*end)(void *ctx);
};

static inline bool kernels_open(struct arena *a, enum runtime_level level, struct kernels *k)
{
	static const char *const names[] = {
#define FILLED(name) "tri_" #name "_filled",
#define KERNEL(name, record, fits, targets, operands, filled, cost) OF_##targets("tri_" #name, filled(name))
#include "backend/runtime/kernels/kernels.def"
#undef FILLED
#undef KERNEL
		"tri_context_init", "tri_context_end"};
	struct object *objects[MOST_OBJECTS];
	if (!level_runs(level)) {
		print_message("this processor does not run level %d: skipped\n", (int)level);
		return false;
	}
	k->library = link_open(a, objects, runtime_parse(a, level, objects), names, sizeof names / sizeof *names);
#define FILLED(name) *(void **)&k->name##_filled = symbol(k->library, "tri_" #name "_filled");
#define KERNEL(name, record, fits, targets, operands, filled, cost) \
	OF_##targets(*(void **)&k->name = symbol(k->library, "tri_" #name); filled(name))
#include "backend/runtime/kernels/kernels.def"
#undef WHOLE
#undef FILLED
#undef KERNEL
	*(void **)&k->init = symbol(k->library, "tri_context_init");
	*(void **)&k->end = symbol(k->library, "tri_context_end");
	return true;
}

/* n bytes between two inaccessible pages, at the end; `mapped` is for the release. */
struct guarded {
	void *at;
	char *map;
	size_t mapped;
};
static inline struct guarded guarded(size_t n)
{
	size_t page = 4096, body = (n + page - 1) / page * page;
	struct guarded g = {NULL, NULL, body + 2 * page};
	g.map = mmap(NULL, g.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(g.map != MAP_FAILED);
	assert_int_equal(mprotect(g.map, page, PROT_NONE), 0);
	assert_int_equal(mprotect(g.map + page + body, page, PROT_NONE), 0);
	g.at = g.map + page + body - n;
	return g;
}
static inline void release(struct guarded g) { munmap(g.map, g.mapped); }

static uint64_t seed = 1;
static inline uint32_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 32);
}

struct problem {
	int64_t M, K, N;
	struct guarded i8, trits, packed, f32, w32, panels, y, y2;
};
static inline struct problem problem_new(int64_t M, int64_t K, int64_t N)
{
	size_t mk = (size_t)(M * K), kn = (size_t)(K * N), mn = (size_t)(M * N);
	struct problem p = {M,
			    K,
			    N,
			    guarded(mk),
			    guarded(kn),
			    guarded(tri_trit2_packed_size(K, N)),
			    guarded(4 * mk),
			    guarded(4 * kn),
			    guarded(tri_panels_size(K, N)),
			    guarded(4 * mn),
			    guarded(4 * mn)};
	for (size_t i = 0; i < mk; i++) {
		((int8_t *)p.i8.at)[i] = (int8_t)(rnd() % 8 == 0 ? 0x80u : rnd());
		((float *)p.f32.at)[i] = (float)((int32_t)rnd() % 100000) / 1000.0f;
	}
	for (size_t i = 0; i < kn; i++) {
		((int8_t *)p.trits.at)[i] = (int8_t)(rnd() % 3) - 1;
		((float *)p.w32.at)[i] = (float)((int32_t)rnd() % 100000) / 1000.0f;
	}
	tri_trit2_pack(p.trits.at, K, N, p.packed.at);
	tri_panels_pack(&(struct tri_panels_source){p.w32.at, K, 1, N, {N, 0, 1}}, p.panels.at);
	return p;
}
static inline void problem_free(struct problem *p)
{
	struct guarded all[] = {p->i8, p->trits, p->packed, p->f32, p->w32, p->panels, p->y, p->y2};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		release(all[i]);
}

/* A call of a kernel on a thread with a small stack, as host programs may have. */
struct call {
	tri_kernel_fn *fn;
	void *ctx, *const *bufs;
	const int64_t *dims;
	const struct tri_epilogue *epilogue;
};
static inline void *call_thread(void *arg)
{
	const struct call *c = arg;
	c->fn(c->ctx, c->bufs, c->dims, c->epilogue);
	return NULL;
}
static inline void call(tri_kernel_fn *fn, void *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue)
{
	struct call c = {fn, ctx, bufs, dims, epilogue};
	pthread_t thread;
	pthread_attr_t attr;
	pthread_attr_init(&attr);
	assert_int_equal(pthread_attr_setstacksize(&attr, STACK_BYTES), 0);
	assert_int_equal(pthread_create(&thread, &attr, call_thread, &c), 0);
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attr);
}

static inline void run(tri_kernel_fn *fn, void *ctx, struct problem *p, void *x, void *w, void *y)
{
	memset(y, 0x5a, (size_t)(4 * p->M * p->N));
	call(fn, ctx, (void *[]){x, w, y}, (int64_t[]){p->M, p->K, p->N}, NULL);
}
/* An epilogue that stores tiles in a [rows, columns] result of 4-byte elements, each element once. */
struct stored {
	struct tri_epilogue epilogue;
	int32_t *y;
	int64_t rows, columns;
	_Atomic int64_t elements;
};
static inline void store_tile(const struct tri_epilogue *e, const void *tile, int64_t stride, const int64_t at[3], int64_t rows,
			      int64_t columns)
{
	struct stored *s = (struct stored *)(uintptr_t)e;
	for (int64_t r = 0; r < rows; r++)
		memcpy(s->y + ((at[0] * s->rows + at[1] + r) * s->columns + at[2]), (const int32_t *)tile + r * stride,
		       (size_t)columns * sizeof(int32_t));
	s->elements += rows * columns;
}

/* The epilogue must get the bits that the kernel stores without one. */
static inline void check_epilogue(tri_kernel_fn *fn, void *ctx, void *const *bufs, const int64_t *dims, const void *want, int64_t batch,
				  int64_t rows, int64_t columns)
{
	size_t bytes = (size_t)(4 * batch * rows * columns);
	struct guarded y = guarded(bytes);
	struct stored s = {.epilogue = {.fn = store_tile}, .y = y.at, .rows = rows, .columns = columns};
	memset(y.at, 0x5a, bytes);
	call(fn, ctx, (void *[]){bufs[0], bufs[1], NULL}, dims, &s.epilogue);
	assert_memory_equal(y.at, want, bytes);
	assert_int_equal(s.elements, batch * rows * columns);
	release(y);
}

/* Calls `check` with the kernels of the level and contexts of 1, 2 and 5 threads. */
static inline void on_level(enum runtime_level level, void (*check)(const struct kernels *k, void *const *ctx))
{
	struct arena *a = arena_new(0);
	struct kernels k = {0};
	if (!kernels_open(a, level, &k)) {
		arena_free(a);
		skip();
	}
	_Alignas(64) static char contexts[3][CONTEXT_BYTES];
#if defined(__SANITIZE_THREAD__) /* which cannot see the synchronisation inside the library, as it is not instrumented; test_runtime.c is */
	static const uint32_t threads[] = {1, 1, 1};
#else
	static const uint32_t threads[] = {1, 2, 5};
#endif
	void *ctx[3];
	for (int i = 0; i < 3; i++) {
		ctx[i] = contexts[i];
		k.init(ctx[i], threads[i]);
	}
	check(&k, ctx);
	for (int i = 0; i < 3; i++)
		k.end(ctx[i]);
	dlclose(k.library);
	arena_free(a);
}

#endif
