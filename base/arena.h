/* Bump allocation by lifetime: everything in an arena is freed at once. One arena per job, never shared between threads. */
#ifndef TRIB_BASE_ARENA_H
#define TRIB_BASE_ARENA_H
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
typedef struct {
	void *block;
	size_t used;
} arena_mark_t;

/* Makes an empty arena. `first`: bytes of its first block (0: a default). Aborts when out of memory. */
struct arena *arena_new(size_t first);
void arena_free(struct arena *a); /* NULL is accepted */

/* Zeroed memory, aligned to `align` (a power of two). Never NULL. */
void *arena_alloc(struct arena *a, size_t size, size_t align);
/* Copies: `n` bytes plus a terminating NUL; a C string; formatted text. */
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_strdup(struct arena *a, const char *s);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *a, const char *fmt, va_list ap);

/* For scratch memory: arena_release frees everything that was allocated after arena_mark. */
arena_mark_t arena_mark(const struct arena *a);
void arena_release(struct arena *a, arena_mark_t m);
/* Measures the peak of arena memory of the calling thread, in bytes, since arena_peak_begin. Calls do not nest. */
void arena_peak_begin(void);
size_t arena_peak_end(void);
/* Bytes allocated so far. */
size_t arena_used(const struct arena *a);

/* Doubles the capacity of an array, or more. */
void *arena_grow_array(struct arena *a, const void *array, uint32_t n, uint32_t *cap, uint32_t need, size_t size);
/* Returns an array of n elements with room for `need`: `array` itself, or a larger copy. */
static inline void *arena_grow(struct arena *a, void *array, uint32_t n, uint32_t *cap, uint32_t need, size_t size)
{
	return need <= *cap ? array : arena_grow_array(a, array, n, cap, need, size);
}

#define ARENA_NEW(a, T) ((T *)arena_alloc((a), sizeof(T), _Alignof(T)))
#define ARENA_ARRAY(a, T, n) ((T *)arena_alloc((a), sizeof(T) * (size_t)(n), _Alignof(T)))
#endif
