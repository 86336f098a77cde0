/* D. Chase, Y. Lev: Dynamic Circular Work-Stealing Deque, SPAA 2005. Memory orders after N. M. Lê, A. Pop, A. Cohen, F. Zappa Nardelli: Correct and
 * Efficient Work-Stealing for Weak Memory Models, PPoPP 2013; where they put fences between two accesses, these are sequentially consistent. The
 * protocol is checked by tests/model/deque.pml. */
#include "scheduler/deque.h"
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include "base/bug.h"

enum { FIRST_SIZE = 32 };

/* An array is kept until the deque is freed, since a slow thief may still read it; all of them together are less than twice the last. */
struct array {
	struct array *smaller;
	int64_t size; /* a power of two */
	_Atomic(void *) at[];
};
struct deque {
	_Alignas(64) _Atomic int64_t top; /* only grows */
	_Alignas(64) _Atomic int64_t bottom;
	_Atomic(struct array *) array;
};

static struct array *array_new(int64_t size, struct array *smaller)
{
	struct array *a = malloc(sizeof *a + (size_t)size * sizeof *a->at);

	if (!a)
		bug_no_memory();
	a->smaller = smaller;
	a->size = size;
	for (int64_t i = 0; i < size; i++)
		atomic_init(&a->at[i], NULL);
	return a;
}

static void *array_get(struct array *a, int64_t i) { return atomic_load_explicit(&a->at[i & (a->size - 1)], memory_order_relaxed); }

static void array_put(struct array *a, int64_t i, void *x) { atomic_store_explicit(&a->at[i & (a->size - 1)], x, memory_order_relaxed); }

struct deque *deque_new(void)
{
	struct deque *d = aligned_alloc(_Alignof(struct deque), sizeof *d);

	if (!d)
		bug_no_memory();
	atomic_init(&d->top, 0);
	atomic_init(&d->bottom, 0);
	atomic_init(&d->array, array_new(FIRST_SIZE, NULL));
	return d;
}

void deque_free(struct deque *d)
{
	struct array *a, *smaller;

	if (!d)
		return;
	for (a = atomic_load(&d->array); a; a = smaller) {
		smaller = a->smaller;
		free(a);
	}
	free(d);
}

static struct array *grow(struct deque *d, struct array *old, int64_t top, int64_t bottom)
{
	struct array *a = array_new(old->size * 2, old);

	for (int64_t i = top; i < bottom; i++)
		array_put(a, i, array_get(old, i));
	atomic_store_explicit(&d->array, a, memory_order_release);
	return a;
}

void deque_push(struct deque *d, void *x)
{
	int64_t b = atomic_load_explicit(&d->bottom, memory_order_relaxed), t = atomic_load_explicit(&d->top, memory_order_acquire);
	struct array *a = atomic_load_explicit(&d->array, memory_order_relaxed);

	if (b - t >= a->size)
		a = grow(d, a, t, b);
	array_put(a, b, x);
	atomic_store_explicit(&d->bottom, b + 1, memory_order_seq_cst);
}

void *deque_take(struct deque *d)
{
	int64_t b = atomic_load_explicit(&d->bottom, memory_order_relaxed) - 1, t;
	void *x = NULL;

	if (atomic_load_explicit(&d->top, memory_order_relaxed) > b)
		return NULL;
	/* From here no thief may take the last one unseen: the store comes before the load for everybody. */
	atomic_store_explicit(&d->bottom, b, memory_order_seq_cst);
	t = atomic_load_explicit(&d->top, memory_order_seq_cst);
	if (t <= b)
		x = array_get(atomic_load_explicit(&d->array, memory_order_relaxed), b);
	if (t < b)
		return x;
	if (t == b && !atomic_compare_exchange_strong_explicit(&d->top, &t, t + 1, memory_order_seq_cst, memory_order_relaxed))
		x = NULL;
	atomic_store_explicit(&d->bottom, b + 1, memory_order_release);
	return x;
}

void *deque_steal(struct deque *d)
{
	int64_t t = atomic_load_explicit(&d->top, memory_order_seq_cst), b = atomic_load_explicit(&d->bottom, memory_order_seq_cst);
	void *x;

	if (t >= b)
		return NULL;
	/* Read before the exchange: after it the owner may reuse the place. */
	x = array_get(atomic_load_explicit(&d->array, memory_order_acquire), t);
	if (!atomic_compare_exchange_strong_explicit(&d->top, &t, t + 1, memory_order_seq_cst, memory_order_relaxed))
		return NULL;
	return x;
}

bool deque_any(const struct deque *d)
{
	int64_t t = atomic_load_explicit(&d->top, memory_order_seq_cst);

	return t < atomic_load_explicit(&d->bottom, memory_order_seq_cst);
}
