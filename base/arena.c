/* A chain of blocks, newest first. A mark is a block and a fill level, so a release frees the blocks after it. Under ASan, unused bytes and
 * a gap after every allocation are poisoned; other debug builds overwrite released memory. */
#include "base/arena.h"
#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>
#include <string.h>
#include "base/bug.h"
#include "base/usage.h"

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_ASAN 1
#endif
#endif

#ifdef ARENA_ASAN
#include <sanitizer/asan_interface.h>
#define REDZONE 16
#define POISON(p, n) ASAN_POISON_MEMORY_REGION((p), (n))
#define UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION((p), (n))
#else
#define REDZONE 0
#define POISON(p, n) ((void)0)
#define UNPOISON(p, n) ((void)0)
#endif

#define DEFAULT_BLOCK ((size_t)16 << 10)
#define LARGEST_STEP ((size_t)1 << 20) /* blocks double up to this */

struct block {
	struct block *before;
	size_t used, size;  /* bytes of data */
	size_t used_before; /* sum over the blocks before */
	_Alignas(max_align_t) char data[];
};
struct arena {
	struct block *last;
	size_t next_size;
};

_Thread_local struct usage usage_of_thread;

void arena_peak_begin(void) { usage_of_thread.held = usage_of_thread.peak = 0; }

size_t arena_peak_end(void) { return (size_t)usage_of_thread.peak; }

struct arena *arena_new(size_t first)
{
	struct arena *a = malloc(sizeof *a);

	if (!a)
		bug_no_memory();
	*a = (struct arena){.next_size = first ? first : DEFAULT_BLOCK};
	return a;
}

static void drop_last(struct arena *a)
{
	struct block *b = a->last;

	a->last = b->before;
	usage_of_thread.held -= (ptrdiff_t)b->size;
	UNPOISON(b->data, b->size);
	free(b);
}

void arena_free(struct arena *a)
{
	if (!a)
		return;
	while (a->last)
		drop_last(a);
	free(a);
}

static void arena_add_block(struct arena *a, size_t least)
{
	size_t size = a->next_size < least ? least : a->next_size;
	struct block *b;

	if (size > SIZE_MAX / 2 || !(b = malloc(sizeof *b + size)))
		bug_no_memory();
	b->before = a->last;
	b->used = 0;
	b->size = size;
	b->used_before = a->last ? a->last->used_before + a->last->used : 0;
	struct usage *u = &usage_of_thread;
	u->held += (ptrdiff_t)size;
	u->peak = u->held > u->peak ? u->held : u->peak;
	u->allocations++;
	POISON(b->data, size);
	a->last = b;
	if (a->next_size < LARGEST_STEP)
		a->next_size *= 2;
}

/* The first aligned offset in the last block at which `size` bytes fit, or SIZE_MAX. */
static size_t arena_place(const struct arena *a, size_t size, size_t align)
{
	const struct block *b = a->last;
	size_t at, pad;

	if (!b)
		return SIZE_MAX;
	pad = -((uintptr_t)b->data + b->used) & (align - 1);
	at = b->used + pad;
	return at <= b->size && size <= b->size - at ? at : SIZE_MAX;
}

void *arena_alloc(struct arena *a, size_t size, size_t align)
{
	size_t at;
	char *p;

	BUG_ON(align == 0 || (align & (align - 1)) != 0);
	if (size > SIZE_MAX / 4)
		bug_no_memory();
	size += REDZONE;
	at = arena_place(a, size, align);
	if (at == SIZE_MAX) {
		arena_add_block(a, size + align);
		at = arena_place(a, size, align);
	}
	p = a->last->data + at;
	a->last->used = at + size;
	UNPOISON(p, size - REDZONE);
	return memset(p, 0, size - REDZONE);
}

void *arena_grow_array(struct arena *a, const void *array, uint32_t n, uint32_t *cap, uint32_t need, size_t size)
{
	uint32_t want = *cap ? *cap * 2 : 8;
	*cap = want < need ? need : want;
	void *copy = arena_alloc(a, size * *cap, _Alignof(max_align_t));
	if (n)
		memcpy(copy, array, size * n);
	return copy;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	char *p = arena_alloc(a, n + 1, 1);

	if (n)
		memcpy(p, s, n);
	return p;
}

char *arena_strdup(struct arena *a, const char *s) { return arena_strndup(a, s, strlen(s)); }

char *arena_vprintf(struct arena *a, const char *fmt, va_list ap)
{
	va_list again;
	char *p;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	BUG_ON(n < 0);
	p = arena_alloc(a, (size_t)n + 1, 1);
	vsnprintf(p, (size_t)n + 1, fmt, ap);
	return p;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	char *p;

	va_start(ap, fmt);
	p = arena_vprintf(a, fmt, ap);
	va_end(ap);
	return p;
}

arena_mark_t arena_mark(const struct arena *a) { return (arena_mark_t){a->last, a->last ? a->last->used : 0}; }

void arena_release(struct arena *a, arena_mark_t m)
{
	struct block *b;

	while (a->last != m.block) {
		BUG_ON(!a->last); /* a mark of another arena, or an older mark was released first */
		drop_last(a);
	}
	b = a->last;
	if (!b)
		return;
	BUG_ON(m.used > b->used);
#if !defined(NDEBUG) && !defined(ARENA_ASAN)
	memset(b->data + m.used, 0xA5, b->used - m.used);
#endif
	POISON(b->data + m.used, b->size - m.used);
	b->used = m.used;
}

size_t arena_used(const struct arena *a) { return a->last ? a->last->used_before + a->last->used : 0; }
