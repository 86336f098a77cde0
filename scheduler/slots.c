#include "scheduler/slots.h"
#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "base/bug.h"
#include "base/os.h"
#include "scheduler/jobserver.h"

enum { LOAD_MS = 200 };

void slots_init(struct slots *s, struct jobserver *jobserver, double load)
{
	*s = (struct slots){.jobserver = jobserver, .load = load, .wake = -1};
	if (jobserver || load > 0)
		s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

void slots_destroy(struct slots *s)
{
	BUG_ON(s->running > 0);
	if (s->wake >= 0)
		close(s->wake);
}

enum slot_outcome slots_take(struct slots *s, struct slot *slot)
{
	*slot = (struct slot){0};
	if (s->running > 0 && s->load > 0 && os_load_average() >= s->load)
		return SLOT_LOAD;
	if (s->jobserver && s->own_taken) {
		if (!jobserver_take(s->jobserver, &slot->token))
			return SLOT_NO_TOKEN;
		slot->borrowed = true;
	} else {
		s->own_taken = true;
	}
	s->running++;
	return SLOT_TAKEN;
}

void slots_return(struct slots *s, const struct slot *slot)
{
	if (slot->borrowed)
		jobserver_return(s->jobserver, slot->token);
	else
		s->own_taken = false;
	s->running--;
}

void slots_wait(const struct slots *s, enum slot_outcome why)
{
	struct pollfd fds[] = {{s->wake, POLLIN, 0}, {why == SLOT_NO_TOKEN ? jobserver_fd(s->jobserver) : -1, POLLIN, 0}};
	uint64_t count;

	if (poll(fds, 2, why == SLOT_LOAD || s->wake < 0 ? LOAD_MS : -1) > 0 && fds[0].revents)
		while (read(s->wake, &count, sizeof count) < 0 && errno == EINTR)
			continue;
}

void slots_wake(const struct slots *s)
{
	uint64_t one = 1;

	if (s->wake >= 0 && write(s->wake, &one, sizeof one) < 0)
		return; /* it is full of calls already */
}
