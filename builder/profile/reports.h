/* Prints profiles, comparisons, gates and suggestions as text, markdown or JSON. */
#ifndef TRIB_BUILDER_PROFILE_REPORTS_H
#define TRIB_BUILDER_PROFILE_REPORTS_H
#include <stdbool.h>
#include <stdint.h>
#include "base/foreign.h"

struct arena;
struct buf;
struct build_entry;
struct comparison;
struct gate_result;
struct json_writer;
struct profile;
struct suggestions;

enum report_format { REPORT_TEXT, REPORT_MARKDOWN, REPORT_JSON };
struct report_options {
	enum report_format format;
	uint32_t top;        /* the most rows of each list */
	double threshold_ns; /* only items that took at least this long */
};

/* Of foreign text in a report. */
enum foreign_form report_form(const struct report_options *o);
/* Appends text of a report. The texts of %s are foreign (base/foreign.h). */
void report_printf(const struct report_options *o, struct buf *out, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* All append to `out`. */
void report_profile(const struct profile *p, const struct report_options *o, struct buf *out);
/* A table of a run's longest statements beside what the machine can do, and what all of them together are of a run. Cells are in `a`. */
void report_kernels(struct arena *a, const struct profile *p, const struct report_options *o, struct buf *out);
/* `before_name`, `after_name`: what the two are called, such as their files. */
void report_comparison(const struct comparison *c, const char *before_name, const char *after_name, const struct report_options *o,
		       struct buf *out);
/* The last builds of a project, the oldest first. now: seconds since 1970. */
void report_history(const struct build_entry *list, uint32_t n, uint64_t now, const struct report_options *o, struct buf *out);
/* At most o->top of them. */
void report_suggestions(const struct suggestions *s, bool only_critical, const struct report_options *o, struct buf *out);
/* A JSON array of the bottlenecks of a build. */
void report_symptoms(const struct profile *p, struct json_writer *w);
void report_gate(const struct gate_result *r, const struct report_options *o, struct buf *out);
#endif
