/* Levels are logarithmic: OCTAVES powers of two above a microsecond, STEPS levels in each. A set's bitmap says which of its levels may hold something; its
 * owner alone writes it: it sets a bit after the first push and clears it when it finds the deque empty. After D. Nguyen, A. Lenharth, K. Pingali:
 * A Lightweight Infrastructure for Graph Analytics, SOSP 2013, with deques for their chunked bags. */
#include "scheduler/ready.h"
#include <stdatomic.h>
#include <stdlib.h>
#include "base/bug.h"
#include "scheduler/deque.h"

enum {
	LOWEST_BIT = 10,
	OCTAVES = 32,
	STEP_BITS = 5,
	LEVELS = OCTAVES << STEP_BITS,
	WORDS = LEVELS / 64,
	SAMPLE = 8,
	MANY_STALE = 8,
	NONE = -1
};

struct set {
	_Alignas(64) _Atomic uint32_t summary; /* which words are not zero */
	uint32_t random;                       /* the owner's */
	_Atomic uint64_t words[WORDS];
	_Atomic(struct deque *) levels[LEVELS];
};
struct ready {
	uint32_t n; /* workers, and one for the outside */
	_Atomic bool stale;
	struct set sets[];
};
struct place {
	int level;
	uint32_t set;
};

struct ready *ready_new(uint32_t workers)
{
	size_t size = sizeof(struct ready) + (workers + 1) * sizeof(struct set);
	struct ready *r = aligned_alloc(_Alignof(struct ready), size);

	if (!r)
		bug_no_memory();
	r->n = workers + 1;
	atomic_init(&r->stale, false);
	for (uint32_t i = 0; i < r->n; i++) {
		struct set *s = &r->sets[i];

		atomic_init(&s->summary, 0);
		s->random = i * 2654435769u + 1;
		for (int k = 0; k < WORDS; k++)
			atomic_init(&s->words[k], 0);
		for (int k = 0; k < LEVELS; k++)
			atomic_init(&s->levels[k], NULL);
	}
	return r;
}

void ready_free(struct ready *r)
{
	for (uint32_t i = 0; r && i < r->n; i++)
		for (int k = 0; k < LEVELS; k++)
			deque_free(atomic_load_explicit(&r->sets[i].levels[k], memory_order_relaxed));
	free(r);
}

static int level_of(uint64_t rank)
{
	int top, level;

	if (rank >> LOWEST_BIT == 0)
		return 0;
	top = 63 - __builtin_clzll(rank);
	level = (top - LOWEST_BIT) << STEP_BITS | (int)(rank >> (top - STEP_BITS) & ((1 << STEP_BITS) - 1));
	return level < LEVELS ? level : LEVELS - 1;
}

static void clear_bit(struct set *s, int level)
{
	uint64_t word = atomic_load_explicit(&s->words[level / 64], memory_order_relaxed) & ~(1ull << level % 64);
	uint32_t summary = atomic_load_explicit(&s->summary, memory_order_relaxed);

	atomic_store_explicit(&s->words[level / 64], word, memory_order_relaxed);
	if (!word)
		atomic_store_explicit(&s->summary, summary & ~(1u << level / 64), memory_order_relaxed);
}

static void set_bit(struct set *s, int level)
{
	uint64_t word = atomic_load_explicit(&s->words[level / 64], memory_order_relaxed);

	if (word >> level % 64 & 1)
		return;
	atomic_store(&s->words[level / 64], word | 1ull << level % 64);
	if (!word)
		atomic_store(&s->summary, atomic_load_explicit(&s->summary, memory_order_relaxed) | 1u << level / 64);
}

/* The highest level above `floor` that holds something, or NONE. `own`: the caller owns the set and clears bits that say too much. */
static int best_level(struct ready *r, uint32_t set, int floor, bool own)
{
	struct set *s = &r->sets[set];
	uint32_t stale = 0;

	for (uint32_t summary = atomic_load(&s->summary); summary;) {
		int w = 31 - __builtin_clz(summary);

		for (uint64_t word = atomic_load(&s->words[w]); word;) {
			int bit = 63 - __builtin_clzll(word), level = w * 64 + bit;

			if (level <= floor)
				return NONE;
			if (deque_any(atomic_load(&s->levels[level])))
				return level;
			word &= ~(1ull << bit);
			if (own)
				clear_bit(s, level);
			else if (set == r->n - 1 && ++stale == MANY_STALE)
				atomic_store_explicit(&r->stale, true, memory_order_relaxed);
		}
		summary &= ~(1u << w);
	}
	return NONE;
}

void ready_push(struct ready *r, uint32_t owner, void *x, uint64_t rank)
{
	struct set *s = &r->sets[owner];
	int level = level_of(rank);
	struct deque *d = atomic_load_explicit(&s->levels[level], memory_order_relaxed);

	if (!d) {
		d = deque_new();
		atomic_store(&s->levels[level], d);
	}
	if (owner == r->n - 1) /* nobody takes there as its owner, so bits are cleared here */
		best_level(r, owner, NONE, true);
	deque_push(d, x);
	set_bit(s, level);
}

static uint32_t next_random(struct set *s)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 17;
	s->random ^= s->random << 5;
	return s->random;
}

static void consider(struct ready *r, uint32_t set, uint32_t worker, struct place *best)
{
	int level = best_level(r, set, best->level, set == worker);

	if (level != NONE)
		*best = (struct place){level, set};
}

/* Itself, the outside and `count` others from a place that changes, so that thieves spread. */
static struct place look(struct ready *r, uint32_t worker, uint32_t count)
{
	struct place best = {NONE, worker};
	uint32_t others = r->n - 1, at = others > 1 ? next_random(&r->sets[worker]) % others : 0;

	consider(r, worker, worker, &best);
	consider(r, others, worker, &best);
	for (uint32_t i = 0; i < count; i++, at = at + 1 == others ? 0 : at + 1)
		if (at != worker)
			consider(r, at, worker, &best);
	return best;
}

void *ready_take(struct ready *r, uint32_t worker)
{
	uint32_t others = r->n - 1;
	void *x = NULL;

	while (!x) {
		struct place p = look(r, worker, others <= SAMPLE + 1 ? others : SAMPLE);
		struct deque *d;

		if (p.level == NONE && others > SAMPLE + 1)
			p = look(r, worker, others);
		if (p.level == NONE)
			return NULL;
		d = atomic_load(&r->sets[p.set].levels[p.level]);
		x = p.set == worker ? deque_take(d) : deque_steal(d);
	}
	return x;
}

bool ready_any(const struct ready *r)
{
	struct ready *look_at = (struct ready *)(uintptr_t)r; /* best_level writes for owners only */

	for (uint32_t i = 0; i < r->n; i++)
		if (best_level(look_at, i, NONE, false) != NONE)
			return true;
	return false;
}

bool ready_stale(const struct ready *r) { return atomic_load_explicit(&r->stale, memory_order_relaxed); }

void ready_tidy(struct ready *r)
{
	atomic_store_explicit(&r->stale, false, memory_order_relaxed);
	best_level(r, r->n - 1, NONE, true);
}
