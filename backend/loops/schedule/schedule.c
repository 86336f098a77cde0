/* Chooses the schedule of every nest. A target with work groups and one with vectors are different machines: schedule_device.c and schedule_vector.c. */
#include "backend/loops/ir/schedule.h"
#include "backend/loops/build/build.h"
#include "backend/loops/loop_passes.h"
#include "backend/loops/schedule/choose.h"
#include "backend/target/target.h"
#include "base/arena.h"

const char *axis_text(enum axis_kind k)
{
	static const char *const texts[] = {
#define AXIS(id, text) text,
#include "backend/loops/ir/axes.def"
#undef AXIS
	};
	return texts[k];
}

void schedule_add(struct loop_schedule *s, enum axis_kind kind, uint32_t of, uint32_t width, int64_t step)
{
	s->axes[s->n_axes++] = (struct loop_axis){kind, of, width, step};
}

static void schedule_begin(struct loop_fn *f, struct loop_nest *n)
{
	n->schedule = (struct loop_schedule){.axes = ARENA_ARRAY(f->unit, struct loop_axis, LOOP_AXES), .index_bytes = 8};
}

static void schedule_nest(struct loop_fn *f, struct loop_stmt *s, const struct plan_options *o)
{
	struct loop_nest *n = &s->u.nest;
	schedule_begin(f, n);
	if (o->target->group_size) {
		schedule_for_device(f, n, o);
		return;
	}
	schedule_for_vectors(f, n, o);
	/* Such a nest has many constants. In one function, registers would hold those of all nests of the block. */
	n->schedule.apart = n->n_outer && loop_nest_is_expensive(n);
	if (!o->target->vector_bytes)
		schedule_sum_blocks(f, n);
	else if (!n->n_outer)
		schedule_chunks(f, s);
}

/* The loops of a block count in the widest integers of its nests. */
static void widen_indices(void *ctx, const struct loop_nest *n)
{
	struct loop_nest *block = ctx;
	if (n->schedule.index_bytes > block->schedule.index_bytes)
		block->schedule.index_bytes = n->schedule.index_bytes;
}

static void schedule_count_lanes(void *ctx, const struct loop_nest *n)
{
	uint32_t *most = ctx;
	for (uint32_t k = 0; k < n->schedule.n_axes; k++)
		if (n->schedule.axes[k].kind == AXIS_LANE && n->schedule.axes[k].width > *most)
			*most = n->schedule.axes[k].width;
}

static void schedule_set_lanes(void *ctx, const struct loop_nest *n)
{
	for (uint32_t k = 0; k < n->schedule.n_axes; k++)
		if (n->schedule.axes[k].kind == AXIS_LANE)
			n->schedule.axes[k].width = *(const uint32_t *)ctx;
}

/* A work group executes all nests of a block with the same items. */
static void schedule_group(const struct loop_stmt *s)
{
	uint32_t lanes = 0;
	loop_stmt_nests(s, schedule_count_lanes, &lanes);
	loop_stmt_nests(s, schedule_set_lanes, &lanes);
}

/* The loops of an outermost block run in chunks on threads, or as work groups; those of others one iteration after the other. */
static void schedule_block(struct loop_fn *f, struct loop_stmt *s, const struct plan_options *o)
{
	struct loop_nest *n = &s->u.block.loops;
	bool groups = o->target->group_size && !n->n_outer;
	schedule_begin(f, n);
	n->schedule.index_bytes = 4;
	for (uint32_t k = 0; k < s->u.block.n_stmts; k++)
		loop_stmt_nests(&s->u.block.stmts[k], widen_indices, n);
	if (groups)
		schedule_group(s);
	for (uint32_t k = n->n_outer; k < n->n_parallel; k++)
		schedule_add(&n->schedule, groups ? AXIS_GROUP : AXIS_SERIAL, k, 1, 1);
	if (!o->target->group_size && o->target->vector_bytes && !n->n_outer)
		schedule_chunks(f, s);
}

/* Of a prologue or epilogue. On a device the kernel's work items call it for one element. */
static void schedule_tile(struct loop_fn *f, struct loop_nest *n, const struct plan_options *o)
{
	schedule_begin(f, n);
	if (!o->target->group_size)
		schedule_for_tile(f, n, o);
	else
		for (uint32_t k = 0; k < TILE_AXES; k++)
			schedule_add(&n->schedule, AXIS_PARALLEL, k, 1, 1);
}

static void schedule_stmt(struct loop_fn *f, struct loop_stmt *s, const struct plan_options *o)
{
	if (s->kind == STMT_NEST)
		schedule_nest(f, s, o);
	if (s->kind == STMT_KERNEL && s->u.kernel.prologue)
		schedule_tile(f, s->u.kernel.prologue, o);
	if (s->kind == STMT_KERNEL && s->u.kernel.epilogue)
		schedule_tile(f, s->u.kernel.epilogue, o);
	for (uint32_t k = 0; s->kind == STMT_BLOCK && k < s->u.block.n_stmts; k++)
		schedule_stmt(f, &s->u.block.stmts[k], o);
	if (s->kind == STMT_BLOCK)
		schedule_block(f, s, o);
}

void loops_schedule(struct loop_fn *f, const struct plan_options *o)
{
	for (uint32_t k = 0; k < f->n_stmts; k++)
		schedule_stmt(f, &f->stmts[k], o);
}

uint32_t loop_pass_schedule(struct loop_fn *f, struct loop_pass_context *c)
{
	loops_schedule(f, c->options);
	return f->n_stmts;
}
