#include "gpu/runtime/report.h"

static struct tri_cl_interval interval_of(const struct tri_cl_device *d, cl_event e)
{
	struct tri_cl_interval x = {0, 0};
	bool ok = e && d->cl.clGetEventProfilingInfo(e, CL_PROFILING_COMMAND_START, sizeof x.began, &x.began, NULL) == CL_SUCCESS &&
		  d->cl.clGetEventProfilingInfo(e, CL_PROFILING_COMMAND_END, sizeof x.ended, &x.ended, NULL) == CL_SUCCESS &&
		  x.ended >= x.began;
	return ok ? x : (struct tri_cl_interval){0, 0};
}

/* From the first launch of a statement to its last one. The queue runs them in order. */
static struct tri_cl_interval interval_between(const struct tri_cl_done *first, const struct tri_cl_done *end)
{
	struct tri_cl_interval all = {0, 0};
	for (const struct tri_cl_done *x = first; x < end; x++) {
		all.began = all.began ? all.began : x->at.began;
		all.ended = x->at.ended ? x->at.ended : all.ended;
	}
	return all;
}

/* Reads when each step ran. Clocks of devices may be coarse. A launch that began with the one before it would be taken for its caller, so it
 * begins later. */
static void read_times(const struct tri_cl_measured *m)
{
	const struct tri_cl_prepared *p = m->prepared;
	cl_ulong last = 0;
	for (int64_t i = 0; i < p->n_done; i++) {
		struct tri_cl_done *x = &p->done[i];
		if (p->code->steps[x->step].kind == TRI_CL_END) {
			x->at = interval_between(&p->done[x->began], x);
			continue;
		}
		x->at = interval_of(m->device, x->event);
		if (x->at.began && x->at.began <= last)
			x->at.began = last + 1;
		x->at.ended = x->at.ended < x->at.began ? x->at.began : x->at.ended;
		last = x->at.began ? x->at.began : last;
	}
}

/* Reports a launch, or the end of a statement that calls units. `zero`: when the run began, by the clock of the device. */
static void report_step(const struct tri_cl_measured *m, const struct tri_cl_done *x, cl_ulong zero)
{
	const struct tri_cl_prepared *p = m->prepared;
	const struct tri_cl_step *l = &p->code->steps[x->step];
	if (!x->at.began || l->unit == TRI_NONE)
		return;
	const tri_unit_desc *u = &m->desc->units[l->unit];
	tri_profile_event event = {.size = sizeof event, .statement = u->first_statement + l->statement, .unit = u};
	event.start_ns = p->began_ns + (int64_t)(x->at.began - zero);
	event.ns = (int64_t)(x->at.ended - x->at.began);
	event.bytes = tri_cl_size(&l->bytes, m->dims);
	event.operations = tri_cl_size(&l->operations, m->dims);
	event.memory = tri_cl_size(&l->memory, m->dims);
	if (l->kind == TRI_CL_LAUNCH)
		event.launch = p->shapes[x->step];
	m->profiling->event(m->collector, &event);
}

void tri_cl_report(const struct tri_cl_measured *m)
{
	const struct tri_cl_prepared *p = m->prepared;
	cl_ulong zero = 0;
	read_times(m);
	for (int64_t i = 0; i < p->n_done && !zero; i++)
		zero = p->done[i].at.began;
	for (int64_t i = 0; i < p->n_done; i++)
		report_step(m, &p->done[i], zero);
	for (int32_t i = 0; i < m->entry->n_inputs + m->entry->n_outputs; i++) {
		struct tri_cl_interval x = interval_of(m->device, p->copied[i]);
		if (p->copied[i])
			m->profiling->transfer(m->collector, i < m->entry->n_inputs, (int64_t)(x.ended - x.began), p->io_bytes[i]);
	}
}

static void release_event(const struct tri_cl_device *d, cl_event *e)
{
	if (*e)
		d->cl.clReleaseEvent(*e);
	*e = NULL;
}

void tri_cl_release_events(struct tri_cl_prepared *p, const struct tri_cl_device *d, const tri_entry_desc *e)
{
	for (int64_t i = 0; i < p->n_done; i++)
		release_event(d, &p->done[i].event);
	for (int32_t i = 0; i < e->n_inputs + e->n_outputs; i++)
		release_event(d, &p->copied[i]);
	p->n_done = 0;
}
