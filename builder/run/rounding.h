/* How far rounding errors may carry in a model: steps such as the rounding of int8 activations amplify the last bit of a float. */
#ifndef TRIB_BUILDER_RUN_ROUNDING_H
#define TRIB_BUILDER_RUN_ROUNDING_H
#include "builder/run/run.h"
#include "builder/run/results.h"

/* Runs the entry eight times more, with all float inputs changed by a relative 2^-20: up or down at random, and by the last bit at least. A value that is rounded to the other
 * side in the first run is likely to be so in one of them. Returns for each float output the largest difference between two of the runs; `io` has the results of the first. Without float inputs the reference interpreter runs four times instead, on the
 * one model of the options, and its float parameters are changed: vectors if there are any, because matrices may be quantised. In `a`. NULL: *error says why. */
double *rounding_measure(struct arena *a, const struct run_model *m, uint32_t entry, const struct run_io *io, const struct options *o,
			 struct buf *error);
/* Widens the tolerance of `want` by 4 times that difference, but by no more than half of its largest element: whatever the model amplifies, zeros are wrong. */
struct tolerance rounding_widen(struct tolerance t, double difference, const struct tensor *want);
#endif
