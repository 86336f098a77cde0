/* The profile hook: units that were built with it call these functions around each statement. */
#include <stddef.h>
#include <time.h>
#include "context.h"

_Static_assert(offsetof(struct tri_context, profile) == 0, "generated code reads it there");

int64_t tri_profile_begin(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec + 1; /* 0 means that the hook is NULL */
}

void tri_profile_end(struct tri_context *ctx, uint32_t statement, int64_t start, const tri_unit_desc *unit)
{
	tri_profile_event event = {.size = sizeof event, .unit = unit, .statement = unit->first_statement + statement};
	event.ns = tri_profile_begin() - start;
	event.start_ns = start - 1;
	ctx->profile(ctx->profile_user, &event);
}
