/* Compares two profiles item by item. A difference is a change only if it is larger than a threshold and outside the noise of repeated
 * processes. */
#ifndef TRIB_BUILDER_PROFILE_COMPARE_H
#define TRIB_BUILDER_PROFILE_COMPARE_H
#include "base/foreign.h"
#include "builder/profile/pace.h"
#include "builder/profile/statistics.h"

struct buf;

enum change {
#define CHANGE(id, ...) CHANGE_##id,
#include "builder/profile/changes.def"
	CHANGES
};
struct change_row {
	const char *name, *title; /* in reports, and of a list of them */
	const char *word, *style; /* on the page */
};
extern const struct change_row change_table[CHANGES];

struct compare_options {
	double threshold; /* the smallest change, as a fraction: 0.05 */
	double alpha;     /* the chance that any part, or any figure of the whole, of two equal profiles is called a change: 0.01 */
	enum profile_metric metric; /* decides about times; METRIC_CPU: the least noisy one that was measured */
};
#define COMPARE_DEFAULTS {.threshold = 0.05, .alpha = 0.01, .metric = METRIC_CPU}

/* One metric of one item. */
struct compared {
	enum profile_item_kind kind;
	const char *kernel;     /* all calls of this kernel together; NULL: an item, or the whole process */
	uint32_t before, after; /* items; PROFILE_NONE: absent, the whole process or all calls of a kernel */
	enum profile_metric metric;
	double before_value,
		after_value;      /* medians; tested times: statistics_fastest, of `after` at the speed of the machine of `before` */
	struct ratio ratio;       /* after / before */
	double measured;          /* after / before as measured, with the influence of the machine */
	bool decides;             /* the metric that says whether the item became slower */
	bool is_tested;           /* false: too few processes for a test, or nothing to test */
	double bytes, operations; /* of one call before, or of all in a run; 0: unknown, or the test is of many items */
	enum change change;
	double medians[2], means[2]; /* of before and after, as measured */
	const char *reason;          /* of UNDECIDED and NOT_JUDGED; else NULL */
};
struct comparison {
	struct arena *arena;
	const struct profile *before, *after;
	struct compare_options options;
	struct pace pace;      /* of processes that build; NULL: unknown */
	double speed;          /* times of `after` were multiplied by it: both then have the same calibration */
	struct compared *rows; /* the whole process first; then as in `before`; then the new ones */
	uint32_t n_rows;
	uint32_t counts[CHANGES];
	bool can_decide; /* false: with so few samples no row can pass the test */
};

/* Appends a line for each machine or setting that differs, in the form of foreign text. True: nothing does. */
bool compare_conditions(const struct profile *before, const struct profile *after, enum foreign_form form, struct buf *differences);
/* The profiles must outlive the comparison. Freed with compare_free. */
struct comparison *compare_profiles(const struct profile *before, const struct profile *after, struct compare_options o);
bool compare_is_whole(const struct compared *r);
/* Returns the path of an item, the name of a kernel, or "whole process". Allocated in c->arena. */
const char *compare_name(const struct comparison *c, const struct compared *r);
/* Returns the smallest change of the whole process that would have been seen with this noise, as a fraction; 0: unknown. */
double compare_visible(const struct comparison *c, enum profile_metric m);
void compare_free(struct comparison *c); /* NULL is accepted */
/* Returns indices of the rows with this change, those with the largest difference of the metric first. Allocated in c->arena. */
const uint32_t *compare_rows(const struct comparison *c, enum change change, uint32_t *n);
/* judge.c: sets the change of each row that is in both profiles, and what of *c depends on it. */
void judge_rows(struct comparison *c);
#endif
