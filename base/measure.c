#include "base/measure.h"
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/os.h"
#include "base/usage.h"

#define SHORTEST_EVENT_NS 20000

_Thread_local struct measure_log *measure_log_of_thread;

struct measure_log *measure_log_new(void)
{
	struct measure_log *log = alloc_zeroed(sizeof *log);
	log->wall_ns = os_now_ns;
	log->cpu_ns = os_thread_cpu_ns;
	log->first_root = MEASURE_NONE;
	return log;
}

void measure_log_free(struct measure_log *log)
{
	if (!log)
		return;
	for (uint32_t i = 0; i < log->events.len; i++)
		free((char *)(uintptr_t)log->events.at[i].subject);
	vec_free(&log->events);
	vec_free(&log->nodes);
	vec_free(&log->open);
	free(log);
}

struct measure_log *measure_attach(struct measure_log *log)
{
	struct measure_log *before = measure_log_of_thread;
	measure_log_of_thread = log;
	return before;
}

uint32_t measure_node(struct measure_log *log, uint32_t parent, const char *name)
{
	uint32_t first = parent == MEASURE_NONE ? log->first_root : log->nodes.at[parent].first_child;
	uint32_t last = MEASURE_NONE;
	for (uint32_t i = first; i != MEASURE_NONE; last = i, i = log->nodes.at[i].next)
		if (log->nodes.at[i].name == name || strcmp(log->nodes.at[i].name, name) == 0)
			return i;
	uint32_t added = log->nodes.len;
	struct measure_node n = {.name = name, .parent = parent, .first_child = MEASURE_NONE, .next = MEASURE_NONE};
	vec_push(&log->nodes, n);
	if (last != MEASURE_NONE)
		log->nodes.at[last].next = added;
	else if (parent != MEASURE_NONE)
		log->nodes.at[parent].first_child = added;
	else
		log->first_root = added;
	return added;
}

void measure_open(const char *name, const char *subject)
{
	struct measure_log *log = measure_log_of_thread;
	uint32_t parent = log->open.len ? log->open.at[log->open.len - 1].node : MEASURE_NONE;
	struct usage *u = &usage_of_thread;
	struct measure_open o = {.node = measure_node(log, parent, name), .before = *u};
	o.subject = subject ? strdup(subject) : NULL;
	u->peak = u->held;
	o.cpu_ns = log->cpu_ns();
	o.wall_ns = log->wall_ns();
	vec_push(&log->open, o);
}

static struct measure_cost cost_since(struct measure_log *log, const struct measure_open *o)
{
	struct usage *u = &usage_of_thread;
	struct measure_cost c = {.wall_ns = log->wall_ns() - o->wall_ns,
				 .cpu_ns = log->cpu_ns() - o->cpu_ns,
				 .net_bytes = u->held - o->before.held,
				 .peak_bytes = u->peak - o->before.held,
				 .calls = 1,
				 .allocations = u->allocations - o->before.allocations,
				 .read_bytes = u->read - o->before.read,
				 .written_bytes = u->written - o->before.written,
				 .files_read = u->files_read - o->before.files_read,
				 .files_written = u->files_written - o->before.files_written};
	u->peak = u->peak > o->before.peak ? u->peak : o->before.peak;
	return c;
}

void measure_add(struct measure_cost *to, const struct measure_cost *c)
{
	to->wall_ns += c->wall_ns;
	to->cpu_ns += c->cpu_ns;
	to->net_bytes += c->net_bytes;
	to->peak_bytes = c->peak_bytes > to->peak_bytes ? c->peak_bytes : to->peak_bytes;
	to->calls += c->calls;
	to->allocations += c->allocations;
	to->read_bytes += c->read_bytes;
	to->written_bytes += c->written_bytes;
	to->files_read += c->files_read;
	to->files_written += c->files_written;
}

void measure_close(void)
{
	struct measure_log *log = measure_log_of_thread;
	BUG_ON(log->open.len == 0);
	struct measure_open o = log->open.at[--log->open.len];
	struct measure_cost c = cost_since(log, &o);
	struct measure_event e = {.node = o.node, .subject = o.subject, .start_ns = o.wall_ns, .ns = c.wall_ns};
	measure_add(&log->nodes.at[o.node].cost, &c);
	if (log->open.len == 0)
		e.cost = c;
	else if (c.wall_ns < SHORTEST_EVENT_NS) {
		free((char *)(uintptr_t)o.subject);
		return;
	}
	vec_push(&log->events, e);
}
