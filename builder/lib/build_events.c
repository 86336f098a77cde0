#include "builder/lib/build_events.h"
#include <string.h>
#include "base/arena.h"
#include "builder/json_read.h"

static const char *build_events_text_of(const json_t *object, const char *key)
{
	const char *s = json_string_value(json_object_get(object, key));
	return s ? s : "";
}

static uint32_t build_events_count_of(const json_t *object, const char *key)
{
	return (uint32_t)json_integer_value(json_object_get(object, key));
}

static int64_t build_events_ns_of(const json_t *ms) { return (int64_t)(json_number_value(ms) * 1e6); }

/* ---- progress ---- */

static void report_progress(struct build_events *e, const json_t *j, enum tri_build_event event)
{
	const json_t *done = json_object_get(j, "done");
	if (done) {
		e->done = (uint32_t)json_integer_value(done);
		e->total = build_events_count_of(j, "total");
	}
	const tri_build_progress p = {.size = sizeof p,
				      .event = (int32_t)event,
				      .name = build_events_text_of(j, "name"),
				      .kind = build_events_text_of(j, "kind"),
				      .reason = build_events_text_of(j, "reason"),
				      .worker = build_events_count_of(j, "worker"),
				      .done = e->done,
				      .total = e->total,
				      .ok = json_is_true(json_object_get(j, "ok")),
				      .wall_ns = build_events_ns_of(json_object_get(j, "wall_ms"))};
	if (e->options->on_progress)
		e->options->on_progress(e->options->user, &p);
}

/* ---- diagnostics ---- */

static void build_events_report_place(struct build_events *e, const json_t *j, const json_t *span)
{
	bool warning = strcmp(build_events_text_of(j, "severity"), "error") != 0;
	const tri_build_diagnostic d = {.size = sizeof d,
					.severity = warning ? TRI_BUILD_WARNING : TRI_BUILD_ERROR,
					.code = build_events_text_of(j, "code"),
					.message = build_events_text_of(j, "message"),
					.label = build_events_text_of(span, "label"),
					.help = build_events_text_of(j, "help"),
					.file = build_events_text_of(span, "file"),
					.line = build_events_count_of(span, "line"),
					.column = build_events_count_of(span, "col"),
					.end_line = build_events_count_of(span, "end_line"),
					.end_column = build_events_count_of(span, "end_col")};
	e->summary->errors += !warning;
	e->summary->warnings += warning;
	if (!warning && !e->first_error)
		e->first_error = *d.file ? arena_printf(e->arena, "%s:%u:%u: %s: %s", d.file, d.line, d.column, d.code, d.message)
					 : arena_printf(e->arena, "%s: %s", d.code, d.message);
	if (e->options->on_diagnostic && !(warning && e->options->messages == TRI_BUILD_ERRORS))
		e->options->on_diagnostic(e->options->user, &d);
}

/* The first span is the primary one if there is any. */
static const json_t *primary_span(const json_t *j)
{
	const json_t *first = json_array_get(json_object_get(j, "spans"), 0);
	return json_is_true(json_object_get(first, "primary")) ? first : NULL;
}

static void report_diagnostic(struct build_events *e, const json_t *j)
{
	size_t i;
	json_t *place;
	build_events_report_place(e, j, primary_span(j));
	json_array_foreach(json_object_get(j, "places"), i, place) build_events_report_place(e, j, json_object_get(place, "span"));
}

/* ---- the summary ---- */

static void take_phases(struct build_events *e, json_t *phases)
{
	tri_build_phase *list = ARENA_ARRAY(e->arena, tri_build_phase, json_object_size(phases) + 1);
	const char *name;
	json_t *ms;
	uint32_t n = 0;
	json_object_foreach(phases, name, ms) list[n++] = (tri_build_phase){arena_strdup(e->arena, name), build_events_ns_of(ms)};
	e->summary->phases = list;
	e->summary->n_phases = n;
}

static void build_events_take_outputs(struct build_events *e, const json_t *outputs)
{
	const char **list = ARENA_ARRAY(e->arena, const char *, json_array_size(outputs) + 1);
	for (size_t i = 0; i < json_array_size(outputs); i++)
		list[i] = arena_strdup(e->arena, json_string_value(json_array_get(outputs, i)));
	e->summary->outputs = list;
	e->summary->n_outputs = (uint32_t)json_array_size(outputs);
}

static void take_summary(struct build_events *e, const json_t *j)
{
	tri_build_summary *s = e->summary;
	const json_t *units = json_object_get(j, "units"), *cache = json_object_get(j, "cache");
	s->units = build_events_count_of(units, "total");
	s->compiled = build_events_count_of(units, "compiled");
	s->reused = build_events_count_of(units, "reused");
	s->failed = build_events_count_of(units, "failed");
	s->cache_hits = build_events_count_of(cache, "hits");
	s->cache_misses = build_events_count_of(cache, "misses");
	s->jobs = build_events_count_of(j, "jobs");
	s->wall_ns = build_events_ns_of(json_object_get(j, "wall_ms"));
	s->peak_bytes = (uint64_t)json_integer_value(json_object_get(j, "peak_rss_kb")) << 10;
	s->efficiency = json_number_value(json_object_get(j, "efficiency"));
	take_phases(e, json_object_get(j, "phases_ms"));
	build_events_take_outputs(e, json_object_get(j, "outputs"));
}

static enum build_event lib_build_events_take(struct build_events *e, const json_t *j, int32_t *status)
{
	const char *type = build_events_text_of(j, "type");
	if (strcmp(type, "phase-started") == 0)
		report_progress(e, j, TRI_BUILD_PHASE);
	else if (strcmp(type, "compile") == 0)
		report_progress(e, j, TRI_BUILD_REASON);
	else if (strcmp(type, "task-started") == 0)
		report_progress(e, j, TRI_BUILD_TASK_START);
	else if (strcmp(type, "task-ended") == 0)
		report_progress(e, j, TRI_BUILD_TASK_END);
	else if (strcmp(type, "diagnostic") == 0)
		report_diagnostic(e, j);
	else if (strcmp(type, "build") == 0)
		take_summary(e, j);
	else if (strcmp(type, "ready") == 0)
		return EVENT_READY;
	else if (strcmp(type, "ended") == 0) {
		*status = (int32_t)json_integer_value(json_object_get(j, "status"));
		return EVENT_ENDED;
	}
	return EVENT_OTHER;
}

enum build_event build_events_take(struct build_events *e, const char *line, size_t len, int32_t *status)
{
	json_t *j = json_read(line, len, JSON_ALLOW_NUL, NULL);
	enum build_event event = j ? lib_build_events_take(e, j, status) : EVENT_OTHER;
	json_decref(j);
	return event;
}
