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

static void begin(struct loop_fn *f, struct loop_nest *n)
{
	n->schedule = (struct loop_schedule){.axes = ARENA_ARRAY(f->unit, struct loop_axis, LOOP_AXES), .index_bytes = 8};
}

static void schedule_nest(struct loop_fn *f, struct loop_nest *n, const struct plan_options *o)
{
	begin(f, n);
	if (o->target->group_size)
		schedule_for_device(f, n, o);
	else
		schedule_for_vectors(f, n, o);
}

/* On a device the kernel's work items call it for one element. */
static void schedule_epilogue(struct loop_fn *f, struct loop_nest *n, const struct plan_options *o)
{
	begin(f, n);
	if (!o->target->group_size)
		schedule_for_epilogue(f, n, o);
	else
		for (uint32_t k = 0; k < TILE_AXES; k++)
			schedule_add(&n->schedule, AXIS_PARALLEL, k, 1, 1);
}

void loops_schedule(struct loop_fn *f, const struct plan_options *o)
{
	for (uint32_t k = 0; k < f->n_stmts; k++)
		if (f->stmts[k].kind == STMT_NEST)
			schedule_nest(f, &f->stmts[k].u.nest, o);
		else if (f->stmts[k].kind == STMT_KERNEL && f->stmts[k].u.kernel.epilogue)
			schedule_epilogue(f, f->stmts[k].u.kernel.epilogue, o);
}

uint32_t loop_pass_schedule(struct loop_fn *f, struct loop_pass_context *c)
{
	loops_schedule(f, c->options);
	return f->n_stmts;
}
