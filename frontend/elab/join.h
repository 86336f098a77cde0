/* Checking: the value of a local where two paths meet, after a branch or at the start of a loop's iterations. A size that differs becomes a
 * new symbol; rank and element type stay. */
#ifndef TRIB_FRONTEND_ELAB_JOIN_H
#define TRIB_FRONTEND_ELAB_JOIN_H
#include "frontend/elab/elab.h"

/* Where two values meet: a branch or loop that the elaboration of an entry may decide, or a run-time branch or loop. */
enum join_kind { JOIN_COMPILE_TIME, JOIN_BRANCH, JOIN_LOOP };
struct join {
	struct elab *e;
	enum join_kind how;
	const struct local *local; /* whose values they are, for errors; NULL: none */
	span at;
	uint32_t own; /* joined symbols from this one on are of this join: each means any size at one place */
	bool changed; /* a result has another type than its first value */
};
/* A value that is either a or b. Poison unless both have one type; types that differ at run time are reported. */
struct value join_values(struct join *j, struct value a, struct value b);
/* The same of a branch. */
struct value value_join(struct elab *e, struct value a, struct value b, enum join_kind how, const struct local *local, span at);
/* Joins the first n locals with what they were before. */
void locals_join(struct elab *e, const struct local *before, uint32_t n, enum join_kind how, span at);
/* a new symbol that means any size. */
dim joined_size(struct elab *e);

/* Two values that a run-time `if` cannot join. */
struct branch_values {
	const char *what; /* "`x`"; NULL: the value of the `if` */
	const char *texts[2];
	span ats[2];    /* SPAN_NONE: no label */
	dtype elems[2]; /* DT_COUNT: not a tensor */
};
void report_branch_values(struct elab *e, span cond, const struct branch_values *v);
#endif
