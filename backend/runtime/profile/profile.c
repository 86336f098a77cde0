/* The profile hook: units that were built with it call these functions around each statement. */
#include <stddef.h>
#include "backend/runtime/context.h"

enum { ROUNDS = 8, READS = 32 };

_Static_assert(offsetof(struct tri_context, profile) == 0, "generated code reads it there");

/* Returns the time of the profile's clock, and shows it: later than the one before. */
static int64_t profile_show(struct tri_profile_clock *c, int64_t now)
{
	c->shown_ns = now - c->hook_ns > c->shown_ns ? now - c->hook_ns : c->shown_ns + 1;
	return c->shown_ns;
}

/* The mean of many reads, because a clock may count in steps of that length; the least of several rounds, of which others are interrupted. */
static void measure_clock(struct tri_profile_clock *c)
{
	for (int i = 0; i < ROUNDS; i++) {
		int64_t began = tri_clock_ns(), read_ns;
		for (int k = 0; k < READS - 1; k++)
			tri_clock_ns();
		read_ns = (tri_clock_ns() - began) / READS;
		c->read_ns = i == 0 || read_ns < c->read_ns ? read_ns : c->read_ns;
	}
	c->read_ns = c->read_ns ? c->read_ns : 1;
}

void tri_profile_begin(struct tri_context *ctx, struct tri_profile_cost *cost)
{
	struct tri_profile_clock *c = &ctx->clock;
	if (!c->read_ns)
		measure_clock(c);
	cost->others_ns = atomic_load_explicit(&c->others_ns, memory_order_relaxed);
	cost->start_ns = profile_show(c, tri_clock_ns());
	c->hook_ns += c->read_ns;
}

void tri_profile_end(struct tri_context *ctx, uint32_t statement, const struct tri_profile_cost *cost, const tri_unit_desc *unit)
{
	struct tri_profile_clock *c = &ctx->clock;
	int64_t now = tri_clock_ns();
	tri_profile_event event = {.size = sizeof event, .statement = unit->first_statement + statement, .unit = unit};
	event.start_ns = cost->start_ns;
	event.ns = profile_show(c, now) - cost->start_ns;
	int64_t all = event.ns + atomic_load_explicit(&c->others_ns, memory_order_relaxed) - cost->others_ns,
		most = event.ns * ctx->threads;
	event.cpu_ns = all < 1 ? 1 : all > most ? most : all;
	event.bytes = cost->of[0];
	event.operations = cost->of[1];
	event.memory = cost->of[2];
	ctx->profile(ctx->profile_user, &event);
	c->hook_ns += tri_clock_ns() - now + c->read_ns;
}
