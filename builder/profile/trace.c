/* Complete events ("X") for spans, counter events ("C") and names of threads ("M"). Times are microseconds. */
#include "builder/profile/trace.h"
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/os.h"
#include "builder/profile/profile.h"

/* A span, or a point of a counter. */
struct entry {
	int64_t at_ns, ns;
	const struct profile_span *span;       /* NULL: a point */
	const struct profile_counter *counter; /* of the point */
	double value;
};
struct trace {
	const struct profile *p;
	struct arena *a;
	struct json_writer w;
	int64_t clock_ns, pid;
};

/* By time; the outer span first. */
static int trace_by_time(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	return (x->ns < y->ns) - (x->ns > y->ns);
}

static void trace_open_event(struct trace *t, const char *name, const char *ph, uint32_t lane)
{
	json_open(&t->w, '{');
	json_member_str(&t->w, "name", name);
	json_member_str(&t->w, "ph", ph);
	json_member_int(&t->w, "pid", t->pid);
	json_member_int(&t->w, "tid", lane);
}

static void close_arguments(struct trace *t)
{
	json_close(&t->w, '}');
	json_close(&t->w, '}');
}

static void trace_put_name(struct trace *t, const char *what, const char *name, uint32_t lane)
{
	trace_open_event(t, what, "M", lane);
	json_member_open(&t->w, "args", '{');
	json_member_str(&t->w, "name", name);
	close_arguments(t);
}

/* The phase that a span is of: that of its outermost item, or its own name inside a unit. */
static const char *category(const struct profile *p, uint32_t item)
{
	const struct profile_item *i = &p->items.at[item], *inner = i;
	for (; i->parent != PROFILE_NONE; i = &p->items.at[i->parent])
		inner = i;
	return i->kind == ITEM_UNIT ? inner->name : i->name;
}

static void trace_put_span(struct trace *t, const struct profile_span *span)
{
	const struct profile_item *i = &t->p->items.at[span->item];
	bool of_unit = i->kind == ITEM_TASK && i->parent != PROFILE_NONE;
	trace_open_event(t, of_unit ? arena_printf(t->a, "%s %s", i->name, t->p->items.at[i->parent].name) : i->name, "X", span->lane);
	json_member_str(&t->w, "cat", category(t->p, span->item));
	json_member_num(&t->w, "ts", (double)(t->clock_ns + span->start_ns) / 1e3);
	json_member_num(&t->w, "dur", (double)span->ns / 1e3);
	if (span->is_critical) {
		json_member_open(&t->w, "args", '{');
		json_member_bool(&t->w, "critical", true);
		json_close(&t->w, '}');
	}
	json_close(&t->w, '}');
}

static void trace_put_point(struct trace *t, const struct entry *e)
{
	trace_open_event(t, e->counter->name, "C", 0);
	json_member_num(&t->w, "ts", (double)(t->clock_ns + e->at_ns) / 1e3);
	json_member_open(&t->w, "args", '{');
	json_member_num(&t->w, e->counter->unit == UNIT_BYTES ? "bytes" : "value", e->value);
	close_arguments(t);
}

static struct entry *sorted_entries(struct trace *t, uint32_t *n)
{
	const struct profile *p = t->p;
	uint32_t most = p->spans.len;
	for (uint32_t i = 0; i < p->counters.len; i++)
		most += p->counters.at[i].points.len;
	struct entry *list = ARENA_ARRAY(t->a, struct entry, most + 1);
	*n = 0;
	for (uint32_t i = 0; i < p->spans.len; i++)
		list[(*n)++] = (struct entry){.at_ns = p->spans.at[i].start_ns, .ns = p->spans.at[i].ns, .span = &p->spans.at[i]};
	for (uint32_t i = 0; i < p->counters.len; i++)
		for (uint32_t k = 0; k < p->counters.at[i].points.len; k++) {
			const struct profile_point *point = &p->counters.at[i].points.at[k];
			list[(*n)++] = (struct entry){.at_ns = point->at_ns, .counter = &p->counters.at[i], .value = point->value};
		}
	qsort(list, *n, sizeof *list, trace_by_time);
	return list;
}

void profile_print_trace(const struct profile *p, int64_t clock_ns, struct buf *out)
{
	struct trace t = {.p = p, .a = arena_new(0), .w = {.out = out}, .clock_ns = clock_ns, .pid = getpid()};
	uint32_t n, lanes = 1;
	const struct entry *list = sorted_entries(&t, &n);
	for (uint32_t i = 0; i < p->spans.len; i++)
		lanes = p->spans.at[i].lane >= lanes ? p->spans.at[i].lane + 1 : lanes;
	json_open(&t.w, '{');
	json_member_open(&t.w, "traceEvents", '[');
	trace_put_name(&t, "process_name", "trib", 0);
	for (uint32_t i = 0; i < lanes; i++)
		trace_put_name(&t, "thread_name", i ? arena_printf(t.a, "worker %u", i) : "main", i);
	for (uint32_t i = 0; i < n; i++)
		if (list[i].span)
			trace_put_span(&t, list[i].span);
		else
			trace_put_point(&t, &list[i]);
	json_close(&t.w, ']');
	json_member_str(&t.w, "displayTimeUnit", "ms");
	json_close(&t.w, '}');
	buf_putc(out, '\n');
	arena_free(t.a);
}

bool profile_write_trace(const struct profile *p, int64_t clock_ns, const char *path)
{
	struct buf b = {0};
	profile_print_trace(p, clock_ns, &b);
	bool ok = os_write_atomic(path, b.at, b.len, 0666, false);
	int e = errno;
	buf_free(&b);
	errno = e;
	return ok;
}
