/* One of those who wait, the watcher, polls the jobserver, the clock and a descriptor to wake it; the others sleep on a condition. Whoever gets a slot or
 * goes away lets the next one look. */
#include "scheduler/slots.h"
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "base/bug.h"
#include "base/os.h"
#include "scheduler/jobserver.h"

enum { LOAD_MS = 200 };
enum outcome { ENTERED, TOO_MUCH_LOAD, NO_TOKEN };

struct slots {
	struct jobserver *jobserver;
	double load;
	int wake;             /* an eventfd; -1: there is none, so the watcher looks from time to time */
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t changed;
	uint32_t active;
	bool own_taken, watching;
};

struct slots *slots_new(struct jobserver *j, double load)
{
	struct slots *s;

	if (!j && load <= 0)
		return NULL;
	s = calloc(1, sizeof *s);
	if (!s)
		bug_no_memory();
	s->jobserver = j;
	s->load = load;
	s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->changed, NULL);
	return s;
}

void slots_free(struct slots *s)
{
	if (!s)
		return;
	BUG_ON(s->active > 0);
	if (s->wake >= 0)
		close(s->wake);
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->changed);
	free(s);
}

/* With the lock held. */
static enum outcome try_enter(struct slots *s, struct slot *slot)
{
	*slot = (struct slot){0};
	if (s->active > 0 && s->load > 0 && os_load_average() >= s->load)
		return TOO_MUCH_LOAD;
	if (s->jobserver && s->own_taken) {
		if (!jobserver_take(s->jobserver, &slot->token))
			return NO_TOKEN;
		slot->borrowed = true;
	} else {
		s->own_taken = true;
	}
	s->active++;
	return ENTERED;
}

static void call_one(struct slots *s)
{
	uint64_t one = 1;

	if (!s->watching)
		pthread_cond_signal(&s->changed);
	else if (s->wake >= 0 && write(s->wake, &one, sizeof one) < 0)
		return; /* it is full of calls already */
}

/* Without the lock. */
static void watch(struct slots *s, enum outcome why)
{
	struct pollfd fds[] = {{s->wake, POLLIN, 0}, {why == NO_TOKEN ? jobserver_fd(s->jobserver) : -1, POLLIN, 0}};
	uint64_t count;

	if (poll(fds, 2, why == TOO_MUCH_LOAD || s->wake < 0 ? LOAD_MS : -1) > 0 && fds[0].revents)
		while (read(s->wake, &count, sizeof count) < 0 && errno == EINTR)
			continue;
}

bool slots_enter(struct slots *s, struct slot *slot, slots_wanted *wanted, const void *ctx)
{
	bool entered = false;

	*slot = (struct slot){0};
	if (!s)
		return true;
	pthread_mutex_lock(&s->lock);
	while (wanted(ctx)) {
		enum outcome o = try_enter(s, slot);

		entered = o == ENTERED;
		if (entered)
			break;
		if (s->watching) {
			pthread_cond_wait(&s->changed, &s->lock);
			continue;
		}
		s->watching = true;
		pthread_mutex_unlock(&s->lock);
		watch(s, o);
		pthread_mutex_lock(&s->lock);
		s->watching = false;
	}
	if (!s->watching) /* another should watch, or take what this one left */
		pthread_cond_signal(&s->changed);
	pthread_mutex_unlock(&s->lock);
	return entered;
}

void slots_leave(struct slots *s, const struct slot *slot)
{
	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	if (slot->borrowed)
		jobserver_return(s->jobserver, slot->token);
	else
		s->own_taken = false;
	s->active--;
	call_one(s);
	pthread_mutex_unlock(&s->lock);
}

void slots_wake(struct slots *s)
{
	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	pthread_cond_broadcast(&s->changed);
	call_one(s);
	pthread_mutex_unlock(&s->lock);
}
