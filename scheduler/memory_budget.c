/* A task that does not fit is held, and others pass it. That must not go on for ever, so after `most_passes` nothing begins until it did. If anything is
 * held, something runs: with nothing running the first held one begins, whatever its size. So whoever ends a task lets somebody look at the held ones. */
#include "scheduler/memory_budget.h"
#include "base/bug.h"
#include "scheduler/graph.h"

void memory_budget_init(struct memory_budget *r, uint64_t budget, uint32_t workers)
{
	*r = (struct memory_budget){.budget = budget, .most_passes = workers};
	pthread_mutex_init(&r->lock, NULL);
}

void memory_budget_set_budget(struct memory_budget *r, uint64_t budget)
{
	pthread_mutex_lock(&r->lock);
	BUG_ON(r->running > 0 || r->held.len > 0);
	r->budget = budget;
	pthread_mutex_unlock(&r->lock);
}

void memory_budget_destroy(struct memory_budget *r)
{
	vec_free(&r->held);
	pthread_mutex_destroy(&r->lock);
}

bool memory_budget_full(const struct memory_budget *r) { return atomic_load(&r->full); }

/* The rest with the lock held. */
static bool fits(const struct memory_budget *r, const struct task *t)
{
	return r->running == 0 || (t->spec.memory <= r->budget && r->used <= r->budget - t->spec.memory);
}

static void begin(struct memory_budget *r, const struct task *t)
{
	r->used += t->spec.memory;
	r->running++;
}

static void hold(struct memory_budget *r, struct task *t)
{
	uint32_t i;

	if (r->held.len == 0)
		r->passes = 0;
	vec_push(&r->held, t);
	for (i = r->held.len - 1; i > 0 && r->held.at[i - 1]->rank < t->rank; i--)
		r->held.at[i] = r->held.at[i - 1];
	r->held.at[i] = t;
	if (r->running == 0) /* a moment ago there was one */
		atomic_store(&r->try_held, true);
	else if (r->held.len >= r->most_passes || r->passes >= r->most_passes)
		atomic_store(&r->full, true);
}

bool memory_budget_admit(struct memory_budget *r, struct task *t)
{
	bool ok;

	if (r->budget == 0)
		return true;
	pthread_mutex_lock(&r->lock);
	ok = fits(r, t) && r->passes < r->most_passes;
	if (ok) {
		begin(r, t);
		if (r->held.len > 0 && ++r->passes >= r->most_passes)
			atomic_store(&r->full, true);
	} else {
		hold(r, t);
	}
	pthread_mutex_unlock(&r->lock);
	return ok;
}

/* The first that fits; only the very first once too many have passed it. */
static uint32_t find_fitting(const struct memory_budget *r)
{
	uint32_t n = r->passes < r->most_passes ? r->held.len : r->held.len > 0, i = 0;

	while (i < n && !fits(r, r->held.at[i]))
		i++;
	return i < n ? i : r->held.len;
}

struct task *memory_budget_resume(struct memory_budget *r)
{
	struct task *t = NULL;
	uint32_t i;

	if (!atomic_load(&r->try_held))
		return NULL;
	pthread_mutex_lock(&r->lock);
	i = find_fitting(r);
	if (i < r->held.len) {
		t = r->held.at[i];
		begin(r, t);
		r->passes = i == 0 ? 0 : r->passes + 1;
		r->held.len--;
		for (; i < r->held.len; i++)
			r->held.at[i] = r->held.at[i + 1];
	} else {
		atomic_store(&r->try_held, false);
	}
	pthread_mutex_unlock(&r->lock);
	return t;
}

bool memory_budget_end(struct memory_budget *r, uint64_t memory)
{
	bool others;

	if (r->budget == 0)
		return false;
	pthread_mutex_lock(&r->lock);
	r->used -= memory;
	r->running--;
	others = r->held.len > 0;
	atomic_store(&r->try_held, others);
	atomic_store(&r->full, false);
	pthread_mutex_unlock(&r->lock);
	return others;
}

bool memory_budget_work(const struct memory_budget *r) { return atomic_load(&r->try_held); }
