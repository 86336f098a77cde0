/* Reports as text, markdown or JSON. A table is described once: its columns say how a cell is printed in each of them. */
#ifndef TRIB_BUILDER_PROFILE_REPORT_H
#define TRIB_BUILDER_PROFILE_REPORT_H
#include <stdbool.h>
#include <stdint.h>
#include "base/json.h"
#include "base/vec.h"

struct arena;
struct build_entry;
struct comparison;
struct gate_result;
struct profile;
struct suggestions;

enum report_format { REPORT_TEXT, REPORT_MARKDOWN, REPORT_JSON };
struct report_options {
	enum report_format format;
	uint32_t top;        /* the most rows of each list */
	double threshold_ns; /* only items that took at least this long */
};

/* All append to `out`. */
void report_profile(const struct profile *p, const struct report_options *o, struct buf *out);
/* A table of a run's longest statements beside what the machine can do, and what all of them together are of a run. */
void report_kernels(const struct profile *p, const struct report_options *o, struct buf *out);
/* A table of the kernels that a run launched on a device, in the order of the model: groups, memory, occupancy as the driver tells, and the least time. */
void report_launches(const struct profile *p, const char *model, const char *device, const struct report_options *o, struct buf *out);
/* `before_name`, `after_name`: what the two are called, such as their files. */
void report_comparison(const struct comparison *c, const char *before_name, const char *after_name, const struct report_options *o,
		       struct buf *out);
/* The last builds of a project, the oldest first. now: seconds since 1970. */
void report_history(const struct build_entry *list, uint32_t n, uint64_t now, const struct report_options *o, struct buf *out);
/* At most o->top of them. */
void report_suggestions(const struct suggestions *s, bool only_critical, const struct report_options *o, struct buf *out);
/* A JSON array of the bottlenecks of a build. */
void report_symptoms(const struct profile *p, struct json_writer *w);
void report_gate(const struct gate_result *result, const struct report_options *o, struct buf *out);

/* ---- how they are made ---- */

struct report {
	struct report_options options;
	struct arena *arena; /* of texts and cells, until report_close */
	struct buf *out;
	struct json_writer json; /* writes to `out` */
};
/* type: the member "type" of the JSON object; NULL: the report is a part of another text. */
struct report report_open(const struct report_options *o, struct buf *out, const char *type);
void report_close(struct report *r);
static inline bool report_is_json(const struct report *r) { return r->options.format == REPORT_JSON; }
/* Appends text, but not to JSON. The texts of %s are foreign (base/foreign.h). */
void report_say(struct report *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same of our own words, as they are. */
void report_put(struct report *r, const char *text);
void report_title(struct report *r, const char *title);
/* Appends text that others have written, in the form of code. */
void report_code(struct report *r, const char *text);

/* A text or a number. */
struct cell {
	const char *text;
	double number;
	enum {
		CELL_IS_NUMBER,
		CELL_IS_TEXT,
		CELL_IS_BLANK
	} is; /* blank: JSON has no such member, and text the words `text`, which may be NULL */
};
static inline struct cell word(const char *text) { return (struct cell){text, 0, CELL_IS_TEXT}; }
static inline struct cell figure(double number) { return (struct cell){"", number, CELL_IS_NUMBER}; }
static inline struct cell blank(const char *instead) { return (struct cell){instead, 0, CELL_IS_BLANK}; }
static inline struct cell figure_or(bool known, double number, const char *instead) { return known ? figure(number) : blank(instead); }

/* How text shows a number: with a unit; as a count with separators; as it is, with no, one or two decimals; in percent; as what a ratio adds to 1. Words are at
 * the left or, as RIGHT, under the numbers. */
enum cell_kind {
	CELL_WORD,
	CELL_RIGHT,
	CELL_BOOL,
	CELL_NS,
	CELL_BYTES,
	CELL_COUNT,
	CELL_WHOLE,
	CELL_TENTHS,
	CELL_HUNDREDTHS,
	CELL_SHARE,
	CELL_PERCENT,
	CELL_CHANGE
};
struct column {
	const char *name, *title; /* of the member in JSON, and in text; NULL: not there */
	enum cell_kind kind;
};
#define COLUMN(name, title, kind) {name, title, CELL_##kind}
#define COLUMNS(list, ...) static const struct column list[] = {__VA_ARGS__}
#define ONLY_JSON(name) COLUMN(name, NULL, WORD)
#define ONLY_TEXT(title, kind) COLUMN(NULL, title, kind)
#define TABLE_COLUMNS 20
struct table {
	struct report *report;
	const struct column *columns;
	uint32_t n_columns;
	VEC(struct cell) cells; /* row after row; texts are not copied */
};
#define TABLE(r, list) ((struct table){.report = (r), .columns = (list), .n_columns = sizeof(list) / sizeof *(list)})
/* Appends a row: a cell for each column. */
#define TABLE_ROW(t, ...) table_add(t, (const struct cell[]){__VA_ARGS__}, sizeof((const struct cell[]){__VA_ARGS__}) / sizeof(struct cell))
void table_add(struct table *t, const struct cell *cells, uint32_t n);
uint32_t table_rows(const struct table *t);
/* Prints the table below its title, or as the JSON member `name`, an array of objects. NULL: no title, or not in JSON. Text has no empty table, and
 * no column whose cells are all blank(NULL). Frees the cells. */
void table_print(struct table *t, const char *name, const char *title);
/* The members of an object that the caller opened and closes. */
void report_members(struct report *r, const struct column *columns, const struct cell *cells, uint32_t n);
void report_member(struct report *r, const char *name, struct cell value);

/* ---- the parts of the report of a profile ---- */

/* The part of JSON that describes a statement or kernel of a run; nothing for other items. */
void report_kernel_members(struct report *r, const struct profile *p, uint32_t item);
/* Tables of the first and second runs of scenarios, the look-ups in caches, the functions of the compiler, if the profile has them. whole: the time of all. */
void report_scenarios(struct report *r, const struct profile *p);
void report_caches(struct report *r, const struct profile *p);
bool report_is_of_caches(const char *fact);
void report_functions(struct report *r, const struct profile *p, double whole);
#endif
