/* How a nest is executed: which loops run in parallel, in vectors, unrolled, in which order. It changes no result but the order of float
 * sums. schedule.c chooses it; the printers only print it. */
#ifndef TRIB_BACKEND_LOOPS_IR_SCHEDULE_H
#define TRIB_BACKEND_LOOPS_IR_SCHEDULE_H
#include <stdbool.h>
#include <stdint.h>

struct loop_fn;
struct plan_options;

enum axis_kind {
#define AXIS(id, text) AXIS_##id,
#include "backend/loops/ir/axes.def"
#undef AXIS
	AXIS_KINDS
};

/* One loop of the code: it runs over loop `of` of the nest in steps, which the axes of the same loop further inside divide. */
struct loop_axis {
	enum axis_kind kind;
	uint32_t of;
	uint32_t width; /* lanes, copies or work items; 1 for other kinds */
	int64_t step;   /* iterations of the nest's loop for one iteration of the axis */
};

enum loop_tail {
#define TAIL(id, text) TAIL_##id,
#include "backend/loops/ir/tails.def"
#undef TAIL
	TAIL_KINDS
};

/* A nest has an axis that runs over each loop, and axes for vectors inside them. Axes of parallel loops precede those of reductions. A
 * loop that one step covers has only the axes of the vector. */
struct loop_schedule {
	struct loop_axis *axes; /* outermost first */
	uint32_t n_axes;
	enum loop_tail tail;
	uint32_t index_bytes; /* size of the integers that count and address; 0: no schedule was chosen yet */
	bool apart;           /* of a nest in a block: its code is a function of its own */
	uint32_t sum_block;   /* partial sums of floats are added after so many terms; 0: there are no partial sums */
};
enum { LOOP_MAX_UNROLL = 4, LOOP_MAX_LANES = 256, LOOP_MAX_STEP = 1 << 30 };

/* Chooses the schedule of every nest for the target. */
void loops_schedule(struct loop_fn *f, const struct plan_options *o);
/* True if every nest has a schedule, as the printers need. */
bool loops_is_scheduled(const struct loop_fn *f);
const char *axis_text(enum axis_kind k);
#endif
