/* What the parts of the report of a profile share. */
#ifndef TRIB_BUILDER_PROFILE_REPORT_VIEW_H
#define TRIB_BUILDER_PROFILE_REPORT_VIEW_H
#include "builder/profile/profile.h"
#include "builder/profile/reports.h"

/* What a report needs of its profile. */
struct view {
	const struct profile *p;
	const struct report_options *o;
	struct arena *a;
	struct buf *out;
	double whole; /* busy time, of which shares are printed */
};

/* The item's wall time, the median of the samples. */
static inline double report_wall(const struct profile *p, uint32_t item)
{
	return profile_median(p, &p->items.at[item].values, METRIC_WALL);
}
/* Appends the rates, the bound and the verdict of an item, if it is a statement or kernel of a run. */
void report_kernel(const struct view *v, struct json_writer *w, uint32_t item);
/* Appends a table of the look-ups in each level of the caches, if there were any. Their facts are not listed again. */
void report_caches(const struct view *v);
bool report_is_of_caches(const struct profile_fact *f);
/* Appends a table of the first and second runs, if the profile has scenarios. */
void report_scenarios(const struct view *v);
/* Appends the member "scenarios". */
void report_scenarios_json(const struct view *v, struct json_writer *w);
void report_title(const struct view *v, const char *title);
/* Appends the functions of the compiler that took the most time without what they call. */
void report_functions(const struct view *v);
#endif
