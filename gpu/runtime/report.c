#include "gpu/runtime/report.h"

static struct tri_cl_interval interval_of(cl_event e)
{
	struct tri_cl_interval x = {0, 0};
	bool ok = e && clGetEventProfilingInfo(e, CL_PROFILING_COMMAND_START, sizeof x.began, &x.began, NULL) == CL_SUCCESS &&
		  clGetEventProfilingInfo(e, CL_PROFILING_COMMAND_END, sizeof x.ended, &x.ended, NULL) == CL_SUCCESS && x.ended >= x.began;
	return ok ? x : (struct tri_cl_interval){0, 0};
}

/* From the first launch of a call to its last one. The queue runs them in order. */
static struct tri_cl_interval interval_of_call(const struct tri_cl_prepared *p, int64_t i, uint32_t n_inside)
{
	struct tri_cl_interval all = {0, 0};
	for (int64_t k = i - n_inside; k < i; k++) {
		all.began = all.began ? all.began : p->times[k].began;
		all.ended = p->times[k].ended ? p->times[k].ended : all.ended;
	}
	return all;
}

/* Reads when each launch ran. Clocks of devices may be coarse. A launch that began with the one before it would be taken for its caller, so it
 * begins later. */
static void read_times(const struct tri_cl_prepared *p, const struct tri_cl_code *code)
{
	cl_ulong last = 0;
	for (int64_t i = 0; i < code->n_launches; i++) {
		struct tri_cl_interval x = interval_of(p->launched[i]);
		if (x.began && x.began <= last)
			x.began = last + 1;
		x.ended = x.ended < x.began ? x.began : x.ended;
		last = x.began ? x.began : last;
		p->times[i] = code->launches[i].kernel ? x : interval_of_call(p, i, code->launches[i].n_inside);
	}
}

/* Reports a launch, or the end of a call. `zero`: when the run began, by the clock of the device. */
static void report_launch(const struct tri_cl_measured *m, int64_t i, cl_ulong zero)
{
	const struct tri_cl_prepared *p = m->prepared;
	const struct tri_cl_launch *l = &m->prepared->code->launches[i];
	struct tri_cl_interval x = p->times[i];
	if (!x.began || l->unit == TRI_NONE)
		return;
	const tri_unit_desc *u = &m->desc->units[l->unit];
	tri_profile_event event = {.size = sizeof event, .statement = u->first_statement + l->statement, .unit = u};
	event.start_ns = p->began_ns + (int64_t)(x.began - zero);
	event.ns = (int64_t)(x.ended - x.began);
	event.bytes = tri_cl_size(&l->bytes, m->dims);
	event.operations = tri_cl_size(&l->operations, m->dims);
	event.memory = tri_cl_size(&l->memory, m->dims);
	if (l->kernel)
		event.launch = p->shapes[i];
	m->profiling->event(m->collector, &event);
}

void tri_cl_report(const struct tri_cl_measured *m)
{
	const struct tri_cl_prepared *p = m->prepared;
	const struct tri_cl_code *code = m->prepared->code;
	cl_ulong zero = 0;
	read_times(p, code);
	for (int64_t i = 0; i < code->n_launches && !zero; i++)
		zero = p->times[i].began;
	for (int64_t i = 0; i < code->n_launches; i++)
		report_launch(m, i, zero);
	for (int32_t i = 0; i < m->entry->n_inputs + m->entry->n_outputs; i++) {
		struct tri_cl_interval x = interval_of(p->copied[i]);
		if (p->copied[i])
			m->profiling->transfer(m->collector, i < m->entry->n_inputs, (int64_t)(x.ended - x.began), p->io_bytes[i]);
	}
}

static void release_events(cl_event *events, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		if (events[i])
			clReleaseEvent(events[i]);
		events[i] = NULL;
	}
}

void tri_cl_release_events(struct tri_cl_prepared *p, const tri_entry_desc *e)
{
	release_events(p->launched, p->code->n_launches);
	release_events(p->copied, e->n_inputs + e->n_outputs);
}
