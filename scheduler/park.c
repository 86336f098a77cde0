/* An event count. Prepared with tests/model/pool.pml. */
#include "scheduler/park.h"
#include <errno.h>
#include <time.h>

void park_init(struct park *p)
{
	pthread_condattr_t attr;

	atomic_init(&p->sleepers, 0);
	p->permits = 0;
	pthread_mutex_init(&p->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&p->woken, &attr);
	pthread_condattr_destroy(&attr);
}

void park_destroy(struct park *p)
{
	pthread_cond_destroy(&p->woken);
	pthread_mutex_destroy(&p->lock);
}

void park_prepare(struct park *p) { atomic_fetch_add(&p->sleepers, 1); }

/* With the lock held. */
static void leave(struct park *p)
{
	uint32_t left = atomic_fetch_sub(&p->sleepers, 1) - 1;

	if (p->permits > left)
		p->permits = left;
}

void park_cancel(struct park *p)
{
	pthread_mutex_lock(&p->lock);
	leave(p);
	pthread_mutex_unlock(&p->lock);
}

static struct timespec deadline_in(int ms)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += ms / 1000;
	t.tv_nsec += (long)(ms % 1000) * 1000000;
	if (t.tv_nsec >= 1000000000) {
		t.tv_nsec -= 1000000000;
		t.tv_sec++;
	}
	return t;
}

bool park_sleep(struct park *p, int timeout_ms)
{
	struct timespec deadline = deadline_in(timeout_ms < 0 ? 0 : timeout_ms);
	int rc = 0;
	bool woken;

	pthread_mutex_lock(&p->lock);
	while (p->permits == 0 && rc != ETIMEDOUT)
		rc = timeout_ms < 0 ? pthread_cond_wait(&p->woken, &p->lock) : pthread_cond_timedwait(&p->woken, &p->lock, &deadline);
	woken = p->permits > 0;
	if (woken)
		p->permits--;
	leave(p);
	pthread_mutex_unlock(&p->lock);
	return woken;
}

void park_wake(struct park *p, uint32_t n)
{
	if (atomic_load(&p->sleepers) == 0)
		return;
	pthread_mutex_lock(&p->lock);
	for (uint32_t most = atomic_load(&p->sleepers); n > 0 && p->permits < most; n--) {
		p->permits++;
		pthread_cond_signal(&p->woken);
	}
	pthread_mutex_unlock(&p->lock);
}
