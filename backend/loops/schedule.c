/* Chooses the schedule of every nest. A target with work groups and one with vectors are different machines: schedule_device.c and schedule_vector.c. */
#include "backend/loops/schedule.h"
#include "backend/loops/build.h"
#include "backend/loops/loop_passes.h"
#include "backend/target/target.h"
#include "base/arena.h"

const char *axis_text(enum axis_kind k)
{
	static const char *const texts[] = {
#define AXIS(id, text) text,
#include "backend/loops/axes.def"
#undef AXIS
	};
	return texts[k];
}

void schedule_add(struct loop_schedule *s, enum axis_kind kind, uint32_t of, uint32_t width, int64_t step)
{
	s->axes[s->n_axes++] = (struct loop_axis){kind, of, width, step};
}

void loops_schedule(struct loop_fn *f, const struct plan_options *o)
{
	for (uint32_t k = 0; k < f->n_stmts; k++) {
		if (f->stmts[k].kind != STMT_NEST)
			continue;
		struct loop_nest *n = &f->stmts[k].u.nest;
		n->schedule = (struct loop_schedule){.axes = ARENA_ARRAY(f->unit, struct loop_axis, LOOP_AXES), .index_bytes = 8};
		if (o->target->group_size)
			schedule_for_device(f, n, o);
		else
			schedule_for_vectors(f, n, o);
	}
}

uint32_t loop_pass_schedule(struct loop_fn *f, struct loop_pass_context *c)
{
	loops_schedule(f, c->options);
	return f->n_stmts;
}
