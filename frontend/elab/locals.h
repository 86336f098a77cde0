/* Frames and their locals. */
#ifndef TRIB_FRONTEND_ELAB_LOCALS_H
#define TRIB_FRONTEND_ELAB_LOCALS_H
#include "frontend/elab/elab.h"

/* Enters a frame whose mod, self, func, unit and site.at are set; its address must stay valid until frame_pop. */
void frame_push(struct elab *e, struct frame *fr);
/* Leaves the current frame and drops its locals. */
void frame_pop(struct elab *e);
void local_push(struct elab *e, name_id name, struct value v, bool constant);
/* The innermost local of the name in the current frame, or NULL. */
struct local *local_find(struct elab *e, name_id name);
/* Notes an error about the type of the expression at `at`. A local with MOST_REPEATED such errors becomes poison, so that no more follow. */
void local_note_type_error(struct elab *e, span at);
/* A copy of the frame's locals. */
void locals_snapshot(struct elab *e, struct local **copy, uint32_t *n);
void locals_restore(struct elab *e, const struct local *from, uint32_t n);

/* Where two values of a local meet: a branch that the elaboration of an entry may decide, or a run-time branch or loop. */
enum join_kind { JOIN_COMPILE_TIME, JOIN_COMPILE_TIME_LOOP, JOIN_BRANCH, JOIN_LOOP };
/* Checking: a value that is either a or b. Poison unless both have one type; types that differ at run time are reported. `l` or NULL:
 * its local. */
struct value value_join(struct elab *e, struct value a, struct value b, enum join_kind how, const struct local *l, span at);
/* Checking: joins the first n locals with what they were before. */
void locals_join(struct elab *e, const struct local *before, uint32_t n, enum join_kind how, span at);

/* Two values that a run-time `if` cannot join. */
struct branch_values {
	const char *what; /* "`x`"; NULL: the value of the `if` */
	const char *texts[2];
	span ats[2];    /* SPAN_NONE: no label */
	dtype elems[2]; /* DT_COUNT: not a tensor */
};
void report_branch_values(struct elab *e, span cond, const struct branch_values *v);
#endif
