/* What the profile of a build shows to be wrong, by the rules of symptoms.def. */
#ifndef TRIB_BUILDER_PROFILE_SYMPTOMS_H
#define TRIB_BUILDER_PROFILE_SYMPTOMS_H
#include "builder/profile/profile.h"

struct symptom {
	const char *name; /* a phase, metric or fact */
	double value, limit;
	bool is_share; /* a fraction; else in the unit of the metric */
	bool is_below; /* the value is smaller than the limit */
	enum metric_unit unit;
	const char *advice;
};
#define MOST_SYMPTOMS 16
/* Returns how many there are. */
uint32_t symptoms_find(const struct profile *p, struct symptom out[MOST_SYMPTOMS]);
/* The time of all phases together, on all lanes. */
double symptoms_busy_ns(const struct profile *p);
#endif
