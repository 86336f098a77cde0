/* Verifies many inputs. A stat takes half a microsecond, and several processors run it in parallel without contention. */
#include <pthread.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/os.h"
#include "builder/store/inputs.h"

enum { MOST_THREADS = 8, LEAST_SHARE = 1000 }; /* starting a thread costs as much as a few hundred stats */

struct share {
	pthread_t thread;
	bool started;
	const struct disk *disk;
	struct input *list;
	uint32_t from, to;
	bool *changed, touched;
};

static void *verify_share(void *arg)
{
	struct share *s = arg;
	struct arena *scratch = arena_new(0);
	for (uint32_t i = s->from; i < s->to; i++)
		s->changed[i] = !input_verify(s->disk, scratch, &s->list[i], &s->touched);
	arena_free(scratch);
	return NULL;
}

static uint32_t threads_for(uint32_t n)
{
	uint32_t most = n < 2 * LEAST_SHARE ? 1 : os_cpu_count();
	most = most < MOST_THREADS ? most : MOST_THREADS;
	return n / LEAST_SHARE < most ? n / LEAST_SHARE : most;
}

void inputs_verify(const struct disk *d, struct input *list, uint32_t n, bool *changed, bool *touched)
{
	struct share shares[MOST_THREADS];
	uint32_t m = threads_for(n);
	m = m ? m : 1;
	for (uint32_t k = m; k-- > 0;) {
		shares[k] = (struct share){.disk = d,
					   .list = list,
					   .from = (uint32_t)((uint64_t)n * k / m),
					   .to = (uint32_t)((uint64_t)n * (k + 1) / m),
					   .changed = changed};
		shares[k].started = k && pthread_create(&shares[k].thread, NULL, verify_share, &shares[k]) == 0;
		if (!shares[k].started)
			verify_share(&shares[k]);
	}
	for (uint32_t k = 0; k < m; k++) {
		if (shares[k].started)
			pthread_join(shares[k].thread, NULL);
		*touched = *touched || shares[k].touched;
	}
}
