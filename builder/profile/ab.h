/* The verdict of `trib profile ab`: two sides that were measured in pairs. */
#ifndef TRIB_BUILDER_PROFILE_AB_H
#define TRIB_BUILDER_PROFILE_AB_H
#include "builder/profile/profile.h"
#include "builder/profile/report.h"
#include "builder/profile/statistics.h"

struct ab_side {
	const struct profile *profile; /* both have the same number of samples */
	const char *name;
};
enum ab_verdict { AB_EQUAL, AB_BETTER, AB_WORSE, AB_LARGER };
struct ab_result {
	struct ab_side a, b;
	struct ratio time; /* b / a, at 95 % */
	double memory;     /* the ratio of the peaks */
	enum ab_verdict verdict;
};
/* `b` is better only if it is faster, outside the noise, and takes at most 1.5 times the memory; LARGER: it takes more. */
struct ab_result ab_judge(const struct ab_side *a, const struct ab_side *b);
void ab_report(const struct ab_result *r, const struct report_options *options, struct buf *out);
#endif
