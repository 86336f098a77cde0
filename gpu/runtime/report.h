/* What the device did in a run, from the events of its commands. */
#ifndef TRI_REPORT_H
#define TRI_REPORT_H
#include "backend/runtime/profile/collect.h"
#include "gpu/runtime/prepare.h"

/* A run that ended. */
struct tri_cl_measured {
	const struct tri_cl_device *device;
	const tri_model_desc *desc;
	const tri_entry_desc *entry;
	const struct tri_cl_prepared *prepared;
	const int64_t *dims;
	const struct tri_profiling *profiling;
	struct tri_collector *collector;
};

/* Reports launches, calls and copies to the collector, by the clock of the device: its first launch counts as begun when the run began. */
void tri_cl_report(const struct tri_cl_measured *m);
void tri_cl_release_events(struct tri_cl_prepared *p, const struct tri_cl_device *d, const tri_entry_desc *e);
#endif
