#include "builder/watch/debounce.h"

#define LEAST_NS 200000
#define MOST_NS 50000000
#define LONGEST_WAIT_NS 500000000 /* however much goes on */

void debounce_init(struct debounce *d) { d->pause = LEAST_NS; }

int64_t debounce_due(const struct debounce *d, const struct happened *h)
{
	int64_t due = h->last + d->pause, limit = h->first + LONGEST_WAIT_NS;
	due = h->whole_at > due ? h->whole_at : due;
	return due < limit ? due : limit;
}

void debounce_overtaken(struct debounce *d) { d->pause = d->pause * 2 < MOST_NS ? d->pause * 2 : MOST_NS; }

void debounce_undisturbed(struct debounce *d) { d->pause = d->pause / 2 > LEAST_NS ? d->pause / 2 : LEAST_NS; }
