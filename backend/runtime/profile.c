/* The profile hook: units that were built with it call these functions around each statement. */
#include <stddef.h>
#include <time.h>
#include "context.h"

_Static_assert(offsetof(struct tri_context, profile) == 0, "generated code reads it there");

static int64_t clock_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void tri_profile_begin(struct tri_profile_cost *cost)
{
	cost->cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	cost->wall_ns = clock_ns(CLOCK_MONOTONIC);
}

void tri_profile_end(struct tri_context *ctx, uint32_t statement, const struct tri_profile_cost *cost, const tri_unit_desc *unit)
{
	tri_profile_event event = {.size = sizeof event, .statement = unit->first_statement + statement, .unit = unit};
	event.start_ns = cost->wall_ns;
	event.ns = clock_ns(CLOCK_MONOTONIC) - cost->wall_ns;
	event.cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cost->cpu_ns;
	event.bytes = cost->of[0];
	event.operations = cost->of[1];
	event.memory = cost->of[2];
	ctx->profile(ctx->profile_user, &event);
}
