#include "builder/profile/scaling.h"
#include <math.h>
#include "base/arena.h"
#include "builder/profile/report.h"

bool scaling_line(const struct scaling *s, enum scaling_size against, bool memory, struct line *out)
{
	double *x = ARENA_ARRAY(s->arena, double, s->models.len + 1), *y = ARENA_ARRAY(s->arena, double, s->models.len + 1);
	uint32_t n = 0;
	bool differ = false;
	for (uint32_t i = 0; i < s->models.len; i++) {
		const struct scaling_model *m = &s->models.at[i];
		if (!m->is_measured)
			continue;
		x[n] = m->size[against];
		y[n] = memory ? m->cost.peak_bytes : m->cost.wall_ns;
		differ = differ || x[n] != x[0];
		n++;
	}
	if (n < 3 || !differ)
		return false;
	*out = statistics_line(x, y, n);
	return true;
}

static const struct {
	const char *name, *title;
	double step;
} sizes[] = {
#define SIZE(id, name, title, step) {name, title, step},
	SCALING_SIZES(SIZE)
#undef SIZE
};

#define COST_COLUMNS                                                                                            \
	COLUMN("wall_ns", "wall", NS), COLUMN("cpu_ns", "CPU", NS), COLUMN("peak_bytes", "peak memory", BYTES), \
		COLUMN("private_dirty_bytes", "private dirty", BYTES)

static struct cell dirty_of(const struct scaling_cost *c)
{
	return figure_or(c->private_dirty_bytes > 0, c->private_dirty_bytes, "unknown");
}

static void scaling_put_models(struct report *report, const struct scaling *s)
{
	COLUMNS(columns, COLUMN("name", "model", WORD), COLUMN("parameters", "parameters", COUNT), COLUMN("layers", "layers", COUNT),
		COLUMN("lines", "lines", COUNT), COLUMN("measured", NULL, BOOL), COST_COLUMNS);
	struct table t = TABLE(report, columns);
	for (uint32_t i = 0; i < s->models.len; i++) {
		const struct scaling_model *m = &s->models.at[i];
		const struct scaling_cost *c = &m->cost;
		bool known = m->is_measured;
		TABLE_ROW(&t, word(m->name), figure(m->size[SIZE_PARAMETERS]), figure(m->size[SIZE_LAYERS]), figure(m->size[SIZE_LINES]),
			  figure(known), figure_or(known, c->wall_ns, "not measured"), figure_or(known, c->cpu_ns, ""),
			  figure_or(known, c->peak_bytes, ""), known ? dirty_of(c) : blank(""));
	}
	table_print(&t, "models", "models, one job, nothing cached");
}

static void scaling_put_line(struct json_writer *w, const char *key, const struct line *line)
{
	json_member_open(w, key, '{');
	json_member_real(w, "slope", line->slope);
	json_member_real(w, "intercept", line->intercept);
	json_member_real(w, "r2", line->r2);
	json_close(w, '}');
}

static void scaling_put_lines(struct report *report, const struct scaling *s)
{
	COLUMNS(columns, ONLY_TEXT("for each", WORD), ONLY_TEXT("wall", NS), ONLY_TEXT("R2", HUNDREDTHS), ONLY_TEXT("memory", BYTES),
		ONLY_TEXT("R2", HUNDREDTHS));
	struct table t = TABLE(report, columns);
	struct json_writer *w = report_is_json(report) ? &report->json : NULL;
	if (w)
		json_member_open(w, "lines", '{');
	for (uint32_t k = 0; k < SIZE_COUNT; k++) {
		struct line time, memory;
		if (!scaling_line(s, (enum scaling_size)k, false, &time) || !scaling_line(s, (enum scaling_size)k, true, &memory))
			continue;
		TABLE_ROW(&t, word(sizes[k].title), figure(time.slope * sizes[k].step), figure(time.r2),
			  figure(memory.slope * sizes[k].step), figure(memory.r2));
		if (!w)
			continue;
		json_member_open(w, sizes[k].name, '{');
		scaling_put_line(w, "wall_ns", &time);
		scaling_put_line(w, "peak_bytes", &memory);
		json_close(w, '}');
	}
	if (w)
		json_close(w, '}');
	report_title(report, "growth, by least squares");
	if (!t.cells.len)
		report_say(report, "too few points: a line wants at least three models of different sizes\n");
	table_print(&t, NULL, NULL);
}

/* The wall time with one job, or at -O1; NAN: it was not measured. */
static double base_wall(const struct scaling *s, bool of_jobs)
{
	for (uint32_t i = 0; i < s->settings.len; i++)
		if ((s->settings.at[i].jobs > 0) == of_jobs && (of_jobs ? s->settings.at[i].jobs == 1 : s->settings.at[i].flag[2] == '1'))
			return s->settings.at[i].cost.wall_ns;
	return (double)NAN;
}

enum setting_group { SETTINGS_ALL, SETTINGS_JOBS, SETTINGS_LEVELS };

/* JSON has all of them in one list. */
static void put_settings(struct report *report, const struct scaling *s, enum setting_group g)
{
	const struct column columns[] = {{"flag", g == SETTINGS_JOBS ? "jobs" : "level", CELL_WORD},
					 COST_COLUMNS,
					 {NULL, g == SETTINGS_JOBS ? "speed-up" : "x -O1", CELL_HUNDREDTHS},
					 ONLY_TEXT("efficiency", SHARE)};
	struct table t = TABLE(report, columns);
	double base = base_wall(s, g == SETTINGS_JOBS);
	for (uint32_t i = 0; i < s->settings.len; i++) {
		const struct scaling_setting *x = &s->settings.at[i];
		const struct scaling_cost *c = &x->cost;
		bool of_jobs = x->jobs > 0;
		if (g == SETTINGS_ALL || of_jobs == (g == SETTINGS_JOBS))
			TABLE_ROW(&t, word(x->flag), figure(c->wall_ns), figure(c->cpu_ns), figure(c->peak_bytes), dirty_of(c),
				  figure(of_jobs ? base / c->wall_ns : c->wall_ns / base),
				  figure_or(of_jobs, base / c->wall_ns / x->jobs, NULL));
	}
	table_print(&t, g == SETTINGS_ALL ? "settings" : NULL,
		    g == SETTINGS_JOBS ? "jobs, all models in one build" : "levels, all models in one build");
}

void report_scaling(const struct scaling *s, const struct report_options *options, struct buf *out)
{
	struct report r = report_open(options, out, "scaling");
	report_say(&r, "cold builds, medians of up to %u samples\n", s->samples);
	report_member(&r, "samples", figure(s->samples));
	scaling_put_models(&r, s);
	scaling_put_lines(&r, s);
	for (enum setting_group g = SETTINGS_ALL; g <= SETTINGS_LEVELS; g++)
		if (report_is_json(&r) == (g == SETTINGS_ALL))
			put_settings(&r, s, g);
	report_close(&r);
}
