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
static void put_median(const struct report_options *o, struct buf *out, const struct build_entry *list, uint32_t n, uint64_t from,
		       uint64_t to, const char *when)
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
		report_printf(o, out, "%s: %u build%s, median %s; the cache saved %s\n", when, count, count == 1 ? "" : "s",
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

/* ---- look-ups ---- */

/* What the builds of one command looked up in a week, which is counted back from now. */
struct usage_of_week {
	uint64_t weeks_ago;
	const char *command;
	uint32_t builds;
	struct lookups lookups[LOOKUP_LEVELS];
};

/* Entries without a command are of a trib that did not record look-ups. Returns the newest week first. */
static struct usage_of_week *sum_weeks(struct arena *a, const struct build_entry *list, uint32_t n, uint64_t now, uint32_t *n_sums)
{
	struct usage_of_week *sums = ARENA_ARRAY(a, struct usage_of_week, n + 1);
	*n_sums = 0;
	for (uint32_t i = n; i-- > 0;) {
		const struct build_entry *e = &list[i];
		uint64_t weeks_ago = now > e->at ? (now - e->at) / WEEK : 0;
		uint32_t k = 0;
		if (!*e->command)
			continue;
		while (k < *n_sums && !(sums[k].weeks_ago == weeks_ago && strcmp(sums[k].command, e->command) == 0))
			k++;
		if (k == *n_sums)
			sums[(*n_sums)++] = (struct usage_of_week){.weeks_ago = weeks_ago, .command = e->command};
		sums[k].builds++;
		for (uint32_t l = 0; l < LOOKUP_LEVELS; l++) {
			sums[k].lookups[l].hits += e->lookups[l].hits;
			sums[k].lookups[l].misses += e->lookups[l].misses;
		}
	}
	return sums;
}

static void add_week(struct table *t, const struct usage_of_week *w)
{
	if (w->weeks_ago)
		table_addf(t, "%llu week%s ago", (unsigned long long)w->weeks_ago, w->weeks_ago == 1 ? "" : "s");
	else
		table_add(t, "this week");
	table_add(t, w->command);
	table_addf(t, "%u", w->builds);
	for (uint32_t l = 0; l < LOOKUP_LEVELS; l++)
		if (lookups_all(&w->lookups[l]))
			table_addf(t, "%u of %u (%.1f %%)", w->lookups[l].hits, lookups_all(&w->lookups[l]),
				   100 * lookups_rate(&w->lookups[l]));
		else
			table_add(t, "-");
}

static void put_weeks(struct arena *a, const struct build_entry *list, uint32_t n, uint64_t now, const struct report_options *o,
		      struct buf *out)
{
	struct table t = {.arena = a, .columns = {{"week", false}, {"command", false}, {"builds", true}}, .n_columns = 3};
	uint32_t n_sums;
	const struct usage_of_week *sums = sum_weeks(a, list, n, now, &n_sums);
	for (uint32_t l = 0; l < LOOKUP_LEVELS; l++)
		t.columns[t.n_columns++] = (struct table_column){lookup_level_name((enum lookup_level)l), true};
	for (uint32_t i = 0; i < n_sums && i < o->top; i++)
		add_week(&t, &sums[i]);
	if (!n_sums)
		return;
	buf_puts(out, "\nlook-ups that found something\n\n");
	table_print(&t, o->format == REPORT_MARKDOWN, out);
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
	report_printf(o, out, "the last %u of %u builds\n\n", shown, n);
	table_print(&last, o->format == REPORT_MARKDOWN, out);
	buf_puts(out, "\nslowest builds of the week\n\n");
	table_print(&slow, o->format == REPORT_MARKDOWN, out);
	buf_putc(out, '\n');
	put_median(o, out, list, n, week, UINT64_MAX, "this week");
	put_median(o, out, list, n, week > WEEK ? week - WEEK : 0, week, "the week before");
	put_weeks(a, list, n, now, o, out);
	arena_free(a);
}

static void print_weeks(struct json_writer *w, const struct build_entry *list, uint32_t n, uint64_t now)
{
	struct arena *a = arena_new(0);
	uint32_t n_sums;
	const struct usage_of_week *sums = sum_weeks(a, list, n, now, &n_sums);
	json_member_open(w, "weeks", '[');
	for (uint32_t i = 0; i < n_sums; i++) {
		json_open(w, '{');
		json_member_int(w, "weeks_ago", (int64_t)sums[i].weeks_ago);
		json_member_str(w, "command", sums[i].command);
		json_member_int(w, "builds", sums[i].builds);
		lookups_print(w, sums[i].lookups);
		json_close(w, '}');
	}
	json_close(w, ']');
	arena_free(a);
}

static void print_json(const struct build_entry *list, uint32_t n, uint64_t now, struct buf *out)
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
		if (*list[i].command) {
			json_member_str(&w, "command", list[i].command);
			lookups_print(&w, list[i].lookups);
		}
		json_close(&w, '}');
	}
	json_close(&w, ']');
	print_weeks(&w, list, n, now);
	json_close(&w, '}');
	buf_putc(out, '\n');
}

void report_history(const struct build_entry *list, uint32_t n, uint64_t now, const struct report_options *o, struct buf *out)
{
	if (o->format == REPORT_JSON)
		print_json(list, n, now, out);
	else if (!n)
		buf_puts(out, "no build of this project has done anything yet\n");
	else
		print_text(list, n, now, o, out);
}
