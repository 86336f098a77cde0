#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "builder/profile/figures.h"
#include "builder/profile/reports.h"
#include "builder/profile/statistics.h"
#include "builder/profile/table.h"
#include "builder/store/build_log.h"

#define WEEK (7 * 24 * 3600)

static const char *date(uint64_t seconds, char out[32])
{
	time_t t = (time_t)seconds;
	struct tm tm;
	if (!localtime_r(&t, &tm))
		return "-";
	strftime(out, 32, "%Y-%m-%d %H:%M", &tm);
	return out;
}

static void add_entry(struct table *t, const struct build_entry *e)
{
	char text[FIGURE_SIZE], when[32];
	table_add(t, date(e->at, when));
	table_add(t, e->models);
	table_add(t, figure_text(UNIT_NS, (double)e->wall_ns, text));
	table_addf(t, "%u", e->compiled);
	table_addf(t, "%u", e->reused);
	table_add(t, figure_text(UNIT_NS, (double)e->saved_ns, text));
	table_add(t, e->slowest);
	table_add(t, e->slowest_ns ? figure_text(UNIT_NS, (double)e->slowest_ns, text) : "");
}

static struct table new_table(struct arena *a)
{
	return (struct table){.arena = a,
			      .columns = {{"when", false},
					  {"models", false},
					  {"wall", true},
					  {"compiled", true},
					  {"reused", true},
					  {"saved by the cache", true},
					  {"slowest task", false},
					  {"time", true}},
			      .n_columns = 8};
}

/* Appends the median wall time of the builds in a time. */
static void put_median(struct buf *out, const struct build_entry *list, uint32_t n, uint64_t from, uint64_t to, const char *when)
{
	double *walls = calloc(n + 1, sizeof *walls), saved = 0;
	char text[FIGURE_SIZE], saving[FIGURE_SIZE];
	uint32_t count = 0;
	for (uint32_t i = 0; i < n && walls; i++)
		if (list[i].at >= from && list[i].at < to) {
			walls[count++] = (double)list[i].wall_ns;
			saved += (double)list[i].saved_ns;
		}
	if (count)
		buf_printf(out, "%s: %u build%s, median %s; the cache saved %s\n", when, count, count == 1 ? "" : "s",
			   figure_text(UNIT_NS, statistics_median(walls, count), text), figure_text(UNIT_NS, saved, saving));
	free(walls);
}

static int by_wall(const void *a, const void *b)
{
	const struct build_entry *x = *(const struct build_entry *const *)a, *y = *(const struct build_entry *const *)b;
	return x->wall_ns != y->wall_ns ? (x->wall_ns < y->wall_ns) - (x->wall_ns > y->wall_ns) : (x > y) - (x < y);
}

/* Returns the builds since `from`, the slowest first. */
static const struct build_entry **slowest_since(struct arena *a, const struct build_entry *list, uint32_t n, uint64_t from, uint32_t *found)
{
	const struct build_entry **slow = ARENA_ARRAY(a, const struct build_entry *, n + 1);
	*found = 0;
	for (uint32_t i = 0; i < n; i++)
		if (list[i].at >= from)
			slow[(*found)++] = &list[i];
	qsort(slow, *found, sizeof(struct build_entry *), by_wall);
	return slow;
}

static void print_text(const struct build_entry *list, uint32_t n, uint64_t now, const struct report_options *o, struct buf *out)
{
	struct arena *a = arena_new(0);
	struct table last = new_table(a), slow = new_table(a);
	uint32_t found, shown = n < o->top ? n : o->top;
	uint64_t week = now > WEEK ? now - WEEK : 0;
	const struct build_entry **slowest = slowest_since(a, list, n, week, &found);
	for (uint32_t i = n - shown; i < n; i++)
		add_entry(&last, &list[i]);
	for (uint32_t i = 0; i < found && i < o->top; i++)
		add_entry(&slow, slowest[i]);
	buf_printf(out, "the last %u of %u builds\n\n", shown, n);
	table_print(&last, o->format == REPORT_MARKDOWN, out);
	buf_puts(out, "\nslowest builds of the week\n\n");
	table_print(&slow, o->format == REPORT_MARKDOWN, out);
	buf_putc(out, '\n');
	put_median(out, list, n, week, UINT64_MAX, "this week");
	put_median(out, list, n, week > WEEK ? week - WEEK : 0, week, "the week before");
	arena_free(a);
}

static void print_json(const struct build_entry *list, uint32_t n, struct buf *out)
{
	struct json_writer w = {.out = out};
	json_open(&w, '{');
	json_member_str(&w, "type", "history");
	json_member_open(&w, "builds", '[');
	for (uint32_t i = 0; i < n; i++) {
		json_open(&w, '{');
		json_member_int(&w, "at", (int64_t)list[i].at);
		json_member_str(&w, "models", list[i].models);
		json_member_int(&w, "wall_ns", (int64_t)list[i].wall_ns);
		json_member_int(&w, "saved_ns", (int64_t)list[i].saved_ns);
		json_member_int(&w, "compiled", list[i].compiled);
		json_member_int(&w, "reused", list[i].reused);
		json_member_int(&w, "hits", list[i].hits);
		json_member_int(&w, "misses", list[i].misses);
		json_member_str(&w, "slowest", list[i].slowest);
		json_member_int(&w, "slowest_ns", (int64_t)list[i].slowest_ns);
		json_close(&w, '}');
	}
	json_close(&w, ']');
	json_close(&w, '}');
	buf_putc(out, '\n');
}

void report_history(const struct build_entry *list, uint32_t n, uint64_t now, const struct report_options *o, struct buf *out)
{
	if (o->format == REPORT_JSON)
		print_json(list, n, out);
	else if (!n)
		buf_puts(out, "no build of this project has done anything yet\n");
	else
		print_text(list, n, now, o, out);
}
