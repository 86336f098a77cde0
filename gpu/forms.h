/* How the micro-kernels of a library run on devices: the table forms.def. */
#ifndef TRIB_GPU_FORMS_H
#define TRIB_GPU_FORMS_H
#include <stdbool.h>
#include "backend/loops/ir/loops.h"
#include "gpu/runtime/launch.h"

enum { FORM_SIDES = 4, FORM_CONDITIONS = 12, MOST_FORMS = 8 };
#define FORM_ROWS UINT32_MAX
struct form_side {
	uint32_t field; /* of the record; FORM_ROWS: all rows of its TILE */
	uint32_t n;     /* elements of it; 0: behind the last one */
};
enum form_condition_kind { FORM_ALWAYS, FORM_UP_TO, FORM_EXACTLY, FORM_MULTIPLE, FORM_PART_MULTIPLE, FORM_SAME, FORM_TILES };
struct form_condition {
	enum form_condition_kind kind; /* FORM_ALWAYS: behind the last one */
	uint32_t field;                /* of the record; FORM_TILES: not used */
	uint32_t n;                    /* FORM_SAME: another field */
	uint32_t part, whole;          /* FORM_PART_MULTIPLE: fields */
};
/* Terms of sums are divided, too, where the tiles are few: a launch leaves the sums of each part in scratch, a second one adds them up. */
struct form_split {
	const char *sum;           /* the source of the second one, whose items compute an element each; NULL: nothing is divided */
	uint32_t groups;           /* as many as there should be at the most */
	uint32_t depth;            /* a part has a multiple of so many terms */
	uint32_t beside;           /* numbers that a part has for each of the record's items, beside those of the result */
	struct kernel_shape terms; /* of a sum */
};
struct form {
	enum kernel kernel;
	enum tri_cl_variant variant;
	const char *source; /* of the template, and the name of its kernel */
	bool by_group;      /* a work group computes a tile; false: a work item does */
	uint32_t group;     /* work items of a group */
	bool beside;        /* its source also computes the products of a launch (loops/ir/beside.h), if they have one row */
	struct form_condition when[FORM_CONDITIONS];
	struct form_side tile[FORM_SIDES];
	struct form_split split;
};

/* Writes the forms of a call of a micro-kernel whose dims are in `d`, and returns how many: of several, the first one that holds at run time is launched, and
 * the last one always holds. Forms of one variant and source are equal. They are constant, or in `a`. */
uint32_t forms_of(struct arena *a, enum tri_cl_variant variant, enum kernel kernel, const struct dims *d, const dim *dims,
		  const struct form *out[MOST_FORMS]);
/* Returns how many of these forms come before those that a micro-kernel beside others has for itself: the last of them computes all of the launch if it
 * holds. 0: it is in no such launch. */
uint32_t forms_shared(const struct loop_fn *f, uint32_t stmt, const struct form *const *of, uint32_t n);
/* Dims are in `d`, which may grow. form_holds: 1 if the form holds, else 0. */
dim form_holds(const struct form *x, struct dims *d, const dim *dims);
/* Returns the number of work items, of complete groups if groups compute the tiles; 0 if the result has no elements. */
dim form_items(const struct form *x, struct dims *d, const dim *dims);
/* Of a form that is split: the terms of a part, the bytes of all parts in scratch, the work items of the launch that adds them up. */
dim form_part(const struct form *x, struct dims *d, const dim *dims);
dim form_scratch(const struct form *x, struct dims *d, const dim *dims);
dim form_sum_items(const struct form *x, struct dims *d, const dim *dims);
/* Returns the text of a template: templates/wide/NAME.cl if the variant is wide, else templates/groups/NAME.cl or templates/NAME.cl. NULL: there is none. */
const char *form_template(enum tri_cl_variant variant, const char *name);
#endif
