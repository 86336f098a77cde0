#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/arena.h"
#include "builder/profile/figures.h"
#include "builder/profile/report.h"
#include "builder/profile/statistics.h"
#include "builder/store/build_log.h"

#define WEEK (7 * 24 * 3600)

COLUMNS(columns, ONLY_JSON("at"), ONLY_TEXT("when", WORD), COLUMN("models", "models", WORD), COLUMN("wall_ns", "wall", NS),
	COLUMN("compiled", "compiled", WHOLE), COLUMN("reused", "reused", WHOLE), COLUMN("saved_ns", "saved by the cache", NS),
	COLUMN("slowest", "slowest task", WORD), ONLY_TEXT("time", NS), ONLY_JSON("slowest_ns"), ONLY_JSON("hits"), ONLY_JSON("misses"),
	ONLY_JSON("command"));
enum { COLUMNS = sizeof columns / sizeof *columns };

static const char *report_history_date(struct arena *a, uint64_t seconds)
{
	time_t t = (time_t)seconds;
	struct tm tm;
	char text[32];
	if (!localtime_r(&t, &tm))
		return "-";
	strftime(text, sizeof text, "%Y-%m-%d %H:%M", &tm);
	return arena_strdup(a, text);
}

static void add_build(struct table *table, const struct build_entry *entry)
{
	TABLE_ROW(table, figure((double)entry->at), word(report_history_date(table->report->arena, entry->at)), word(entry->models),
		  figure((double)entry->wall_ns), figure(entry->compiled), figure(entry->reused), figure((double)entry->saved_ns),
		  word(entry->slowest), entry->slowest_ns ? figure((double)entry->slowest_ns) : word(""), figure((double)entry->slowest_ns),
		  figure(entry->hits), figure(entry->misses), *entry->command ? word(entry->command) : blank(""));
}

/* Says the median wall time of the builds in a time. */
static void put_median(struct report *r, const struct build_entry *list, uint32_t n, uint64_t from, uint64_t to, const char *when)
{
	double *walls = ARENA_ARRAY(r->arena, double, n + 1), saved = 0;
	char text[FIGURE_SIZE], saving[FIGURE_SIZE];
	uint32_t count = 0;
	for (uint32_t i = 0; i < n; i++)
		if (list[i].at >= from && list[i].at < to) {
			walls[count++] = (double)list[i].wall_ns;
			saved += (double)list[i].saved_ns;
		}
	if (count)
		report_say(r, "%s: %u build%s, median %s; the cache saved %s\n", when, count, count == 1 ? "" : "s",
			   figure_text(UNIT_NS, statistics_median(walls, count), text), figure_text(UNIT_NS, saved, saving));
}

static int report_history_by_wall(const void *a, const void *b)
{
	const struct build_entry *x = *(const struct build_entry *const *)a, *y = *(const struct build_entry *const *)b;
	return x->wall_ns != y->wall_ns ? (x->wall_ns < y->wall_ns) - (x->wall_ns > y->wall_ns) : (x > y) - (x < y);
}

/* The builds since `from`, the slowest first. */
static void put_slowest(struct report *r, const struct build_entry *list, uint32_t n, uint64_t from)
{
	const struct build_entry **slow = ARENA_ARRAY(r->arena, const struct build_entry *, n + 1);
	struct table t = TABLE(r, columns);
	uint32_t found = 0;
	for (uint32_t i = 0; i < n; i++)
		if (list[i].at >= from)
			slow[found++] = &list[i];
	qsort(slow, found, sizeof(struct build_entry *), report_history_by_wall);
	for (uint32_t i = 0; i < found && i < r->options.top; i++)
		add_build(&t, slow[i]);
	report_say(r, "\nslowest builds of the week\n\n");
	table_print(&t, NULL, NULL);
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
		*n_sums += k == *n_sums;
		sums[k].weeks_ago = weeks_ago;
		sums[k].command = e->command;
		sums[k].builds++;
		for (uint32_t l = 0; l < LOOKUP_LEVELS; l++) {
			sums[k].lookups[l].hits += e->lookups[l].hits;
			sums[k].lookups[l].misses += e->lookups[l].misses;
		}
	}
	return sums;
}

static void put_weeks(struct report *r, const struct usage_of_week *sums, uint32_t n)
{
	struct column of_weeks[3 + LOOKUP_LEVELS] = {ONLY_TEXT("week", WORD), ONLY_TEXT("command", WORD), ONLY_TEXT("builds", WHOLE)};
	struct table t = TABLE(r, of_weeks);
	for (uint32_t l = 0; l < LOOKUP_LEVELS; l++)
		of_weeks[3 + l] = (struct column){NULL, lookup_level_name((enum lookup_level)l), CELL_RIGHT};
	for (uint32_t i = 0; i < n && i < r->options.top; i++) {
		const struct usage_of_week *w = &sums[i];
		const char *week = w->weeks_ago ? arena_printf(r->arena, "%llu week%s ago", (unsigned long long)w->weeks_ago,
							       w->weeks_ago == 1 ? "" : "s")
						: "this week";
		struct cell cells[3 + LOOKUP_LEVELS] = {word(week), word(w->command), figure(w->builds)};
		for (uint32_t l = 0; l < LOOKUP_LEVELS; l++) {
			const struct lookups *x = &w->lookups[l];
			cells[3 + l] = word(lookups_all(x) ? arena_printf(r->arena, "%u of %u (%.1f %%)", x->hits, lookups_all(x),
									  100 * lookups_rate(x))
							   : "-");
		}
		table_add(&t, cells, t.n_columns);
	}
	if (n)
		report_say(r, "\nlook-ups that found something\n\n");
	table_print(&t, NULL, NULL);
}

static void report_history_print_text(struct report *r, const struct build_entry *list, uint32_t n, uint64_t now)
{
	uint32_t n_weeks, shown = n < r->options.top ? n : r->options.top;
	uint64_t week = now > WEEK ? now - WEEK : 0;
	struct table last = TABLE(r, columns);
	for (uint32_t i = n - shown; i < n; i++)
		add_build(&last, &list[i]);
	report_say(r, "the last %u of %u builds\n\n", shown, n);
	table_print(&last, NULL, NULL);
	put_slowest(r, list, n, week);
	report_say(r, "\n");
	put_median(r, list, n, week, UINT64_MAX, "this week");
	put_median(r, list, n, week > WEEK ? week - WEEK : 0, week, "the week before");
	const struct usage_of_week *sums = sum_weeks(r->arena, list, n, now, &n_weeks);
	put_weeks(r, sums, n_weeks);
}

static void report_history_print_json(struct report *r, const struct build_entry *list, uint32_t n, uint64_t now)
{
	struct json_writer *w = &r->json;
	struct table t = TABLE(r, columns);
	uint32_t n_weeks;
	const struct usage_of_week *sums = sum_weeks(r->arena, list, n, now, &n_weeks);
	json_member_open(w, "builds", '[');
	for (uint32_t i = 0; i < n; i++) {
		add_build(&t, &list[i]);
		json_open(w, '{');
		report_members(r, columns, t.cells.at + i * COLUMNS, COLUMNS);
		if (*list[i].command)
			lookups_print(w, list[i].lookups);
		json_close(w, '}');
	}
	json_close(w, ']');
	vec_free(&t.cells);
	json_member_open(w, "weeks", '[');
	for (uint32_t i = 0; i < n_weeks; i++) {
		json_open(w, '{');
		report_member(r, "weeks_ago", figure((double)sums[i].weeks_ago));
		report_member(r, "command", word(sums[i].command));
		report_member(r, "builds", figure(sums[i].builds));
		lookups_print(w, sums[i].lookups);
		json_close(w, '}');
	}
	json_close(w, ']');
}

void report_history(const struct build_entry *list, uint32_t n, uint64_t now, const struct report_options *options, struct buf *out)
{
	struct report r = report_open(options, out, "history");
	if (report_is_json(&r))
		report_history_print_json(&r, list, n, now);
	else if (!n)
		report_say(&r, "no build of this project has done anything yet\n");
	else
		report_history_print_text(&r, list, n, now);
	report_close(&r);
}
