/* How slow each process of two builds was: other processes make all stages slower at once. */
#ifndef TRIB_BUILDER_PROFILE_PACE_H
#define TRIB_BUILDER_PROFILE_PACE_H
#include "builder/profile/profile.h"
#include "builder/profile/statistics.h"

/* The share of the processes that are taken for undisturbed: what they do is what the builds do. */
#define PACE_QUIET 0.05

/* True if other processes used enough of the machine beside one of them to take caches and the other thread of a core from it. */
bool pace_is_disturbed(const struct profile *before, const struct profile *after);
/* The most that the machine can make all stages slower by, as a logarithm. */
double pace_most(const struct profile *before, const struct profile *after);

/* Factors for the samples of each profile; 1: as the median process of `before`. */
struct pace {
	const double *before, *after;
	double common; /* the logarithm of what the machine made all of `after` slower by; 0: nothing, or too much for it */
};
/* The pace of a process is the median over the stages and passes without parts of their CPU time, each relative to its median in `before`. If all of `after` is
 * slower or faster than the machine makes it, the difference of the two profiles is left in the times. False: too few stages are long enough to tell. */
bool pace_of(struct arena *a, const struct profile *before, const struct profile *after, struct pace *out);
/* Compares samples of the two profiles, all > 0, at the pace of each process, or of the least disturbed ones if that scatters less. A stage that other
 * processes hit in some samples only is not slower: the estimate is that of all samples or of the fastest ones, whichever is smaller; that of the fastest
 * ones if their test is the surer one. *median: of `before`. */
struct ratio pace_ratio(struct arena *a, const struct pace *p, const double *before, uint32_t n_before, const double *after,
			uint32_t n_after, double alpha, double *median);
#endif
