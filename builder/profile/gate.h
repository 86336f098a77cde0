/* The gate of `trib profile check`: decides whether a profile is worse than a baseline, or over a budget. */
#ifndef TRIB_BUILDER_PROFILE_GATE_H
#define TRIB_BUILDER_PROFILE_GATE_H
#include "base/vec.h"
#include "builder/profile/compare.h"

/* A limit: "total=1s", "peak=500MB", "unit:*=50ms". */
struct budget {
	const char *pattern; /* of paths, with `*`; NULL: the whole process */
	bool has_kind;
	enum profile_item_kind kind;
	enum profile_metric metric;
	double limit;
	const char *text;
};
/* Reads a list of budgets, separated by commas. False: *error is a sentence. Texts are allocated in `a`. */
bool gate_read_budgets(struct arena *a, const char *text, struct budget **out, uint32_t *n, struct buf *error);

struct gate_options {
	double threshold;           /* 1.2: slower by more than 20 % is a regression */
	enum profile_metric metric; /* WALL, CPU or INSTRUCTIONS: decides about times. Items without it: WALL */
	const struct budget *budgets;
	uint32_t n_budgets;
};
enum gate_verdict { GATE_PASSED, GATE_UNDECIDED, GATE_FAILED };
/* What is wrong, or may be. */
struct gate_finding {
	enum gate_verdict verdict;  /* UNDECIDED: the interval includes the threshold. PASSED: slower, but not by more than the threshold */
	const struct compared *row; /* NULL: a budget */
	const struct budget *budget;
	const char *item; /* its name */
	double value;
	const char *cause; /* NULL: unknown */
};
struct gate_result {
	enum gate_verdict verdict;
	struct gate_options options;
	const struct comparison *comparison;
	VEC(struct gate_finding) findings; /* failed ones first */
};

/* `c` compares the baseline with the current profile. It must outlive the result. */
void gate_check(const struct comparison *c, const struct gate_options *o, struct gate_result *out);
void gate_free(struct gate_result *r);
#endif
