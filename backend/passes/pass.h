/* What the lists of program passes, tensor passes and loop passes share: a row, the facts between passes, and what a run reports. */
#ifndef TRIB_BACKEND_PASSES_PASS_H
#define TRIB_BACKEND_PASSES_PASS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;
struct ir_notes;

enum pass_fact_index {
#define FACT(id, text) FACT_INDEX_##id,
#include "backend/passes/facts.def"
#undef FACT
};
enum pass_fact {
#define FACT(id, text) FACT_##id = 1 << FACT_INDEX_##id,
#include "backend/passes/facts.def"
#undef FACT
};
/* What holds of a function that was lowered, or read from text. */
#define FACTS_OF_LOWERED FACT_BUILD_TIME

struct pass {
	const char *text;
	uint8_t level;                 /* the lowest -O that runs the pass; -Os runs those of -O2 */
	uint32_t needs, makes, breaks; /* facts */
};

/* What all runs of one pass have cost and changed. */
struct pass_figures {
	uint64_t runs, changes;
	int64_t wall_ns;
	size_t bytes; /* by which the function's memory grew */
};

/* What the caller wants to see of a run. All members may be zero: nothing. */
struct pass_trace {
	struct buf *text;             /* receives the text of each stage, and after every pass that changed something */
	const char *only;             /* text of only this pass, changed or not, or of this stage. NULL: of all */
	const char *stop;             /* the pass after which nothing more runs. NULL: none */
	struct pass_figures *figures; /* of each row of the list that runs */
	const struct ir_notes *notes; /* comments in the text of tensor IR; NULL: none */
};

/* A run through a list. */
struct pass_run {
	uint8_t level;
	bool verify, stopped;
	bool shown; /* the text of trace->only was written */
	uint32_t facts;
	struct pass_trace *trace; /* NULL: none */
	struct arena *arena;      /* of the function */
	int64_t began_ns;
	size_t began_bytes;
};

/* Aborts unless all facts in `needs` hold. `who` needs them. */
void pass_require(const struct pass_run *r, uint32_t needs, const char *who);
/* Returns true if p runs: at this level, and before the pass that is the last. Aborts unless what it needs holds. */
bool pass_begin(struct pass_run *r, const struct pass *p);
/* Records that p, row `number` of its list, has changed something `changes` times. */
void pass_end(struct pass_run *r, const struct pass *p, uint32_t number, uint32_t changes);
/* Return where the text of a stage, or after pass p, goes, after its title was written there; NULL: it is not wanted. */
struct buf *pass_stage_text(const struct pass_run *r, const char *stage);
struct buf *pass_text(struct pass_run *r, const struct pass *p, uint32_t changes);
#endif
