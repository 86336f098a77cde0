#include <math.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "builder/profile/figures.h"
#include "builder/profile/reports.h"
#include "builder/profile/scaling.h"
#include "builder/profile/table.h"

static const struct {
	const char *name, *title;
	double step;
} sizes[] = {
#define SIZE(id, name, title, step) {name, title, step},
	SCALING_SIZES(SIZE)
#undef SIZE
};

static void put_title(const char *title, const struct report_options *o, struct buf *out)
{
	report_printf(o, out, o->format == REPORT_MARKDOWN ? "\n### %s\n\n" : "\n%s\n", title);
}

static void add_cost(struct table *t, const struct scaling_cost *c)
{
	char text[FIGURE_SIZE];
	table_add(t, figure_text(UNIT_NS, c->wall_ns, text));
	table_add(t, figure_text(UNIT_NS, c->cpu_ns, text));
	table_add(t, figure_text(UNIT_BYTES, c->peak_bytes, text));
	table_add(t, c->private_dirty_bytes > 0 ? figure_text(UNIT_BYTES, c->private_dirty_bytes, text) : "unknown");
}

static void put_models(const struct scaling *s, const struct report_options *o, struct buf *out)
{
	struct table t = {.arena = s->arena,
			  .columns = {{"model", false},
				      {"parameters", true},
				      {"layers", true},
				      {"lines", true},
				      {"wall", true},
				      {"CPU", true},
				      {"peak memory", true},
				      {"private dirty", true}},
			  .n_columns = 8};
	char text[FIGURE_SIZE];
	for (uint32_t i = 0; i < s->models.len; i++) {
		const struct scaling_model *m = &s->models.at[i];
		table_add(&t, m->name);
		for (uint32_t k = 0; k < SIZE_COUNT; k++)
			table_add(&t, figure_text(UNIT_COUNT, m->size[k], text));
		if (m->is_measured) {
			add_cost(&t, &m->cost);
		} else {
			table_add(&t, "not measured");
			table_add(&t, "");
			table_add(&t, "");
			table_add(&t, "");
		}
	}
	put_title("models, one job, nothing cached", o, out);
	table_print(&t, o->format == REPORT_MARKDOWN, out);
}

static void put_lines(const struct scaling *s, const struct report_options *o, struct buf *out)
{
	struct table t = {.arena = s->arena,
			  .columns = {{"for each", false}, {"wall", true}, {"R2", true}, {"memory", true}, {"R2", true}},
			  .n_columns = 5};
	char text[FIGURE_SIZE];
	put_title("growth, by least squares", o, out);
	for (uint32_t k = 0; k < SIZE_COUNT; k++) {
		struct line time, memory;
		if (!scaling_line(s, (enum scaling_size)k, false, &time) || !scaling_line(s, (enum scaling_size)k, true, &memory))
			continue;
		table_add(&t, sizes[k].title);
		table_add(&t, figure_text(UNIT_NS, time.slope * sizes[k].step, text));
		table_addf(&t, "%.2f", time.r2);
		table_add(&t, figure_text(UNIT_BYTES, memory.slope * sizes[k].step, text));
		table_addf(&t, "%.2f", memory.r2);
	}
	if (t.cells.len)
		table_print(&t, o->format == REPORT_MARKDOWN, out);
	else
		buf_puts(out, "too few points: a line wants at least three models of different sizes\n");
}

/* The wall time with one job, or at -O1; NAN: it was not measured. */
static double base_wall(const struct scaling *s, bool of_jobs)
{
	for (uint32_t i = 0; i < s->settings.len; i++)
		if ((s->settings.at[i].jobs > 0) == of_jobs && (of_jobs ? s->settings.at[i].jobs == 1 : s->settings.at[i].flag[2] == '1'))
			return s->settings.at[i].cost.wall_ns;
	return (double)NAN;
}

static void put_settings(const struct scaling *s, bool of_jobs, const struct report_options *o, struct buf *out)
{
	struct table t = {.arena = s->arena,
			  .columns = {{of_jobs ? "jobs" : "level", false},
				      {"wall", true},
				      {"CPU", true},
				      {"peak memory", true},
				      {"private dirty", true},
				      {of_jobs ? "speed-up" : "x -O1", true},
				      {"efficiency", true}},
			  .n_columns = of_jobs ? 7 : 6};
	double base = base_wall(s, of_jobs);
	for (uint32_t i = 0; i < s->settings.len; i++) {
		const struct scaling_setting *x = &s->settings.at[i];
		if ((x->jobs > 0) != of_jobs)
			continue;
		table_add(&t, x->flag);
		add_cost(&t, &x->cost);
		table_addf(&t, "%.2f", of_jobs ? base / x->cost.wall_ns : x->cost.wall_ns / base);
		if (of_jobs)
			table_addf(&t, "%.0f %%", 100 * base / x->cost.wall_ns / x->jobs);
	}
	if (!t.cells.len)
		return;
	put_title(of_jobs ? "jobs, all models in one build" : "levels, all models in one build", o, out);
	table_print(&t, o->format == REPORT_MARKDOWN, out);
}

/* ---- JSON ---- */

static void put_cost(struct json_writer *w, const struct scaling_cost *c)
{
	json_member_num(w, "wall_ns", c->wall_ns);
	json_member_num(w, "cpu_ns", c->cpu_ns);
	json_member_num(w, "peak_bytes", c->peak_bytes);
	if (c->private_dirty_bytes > 0)
		json_member_num(w, "private_dirty_bytes", c->private_dirty_bytes);
}

static void put_line(struct json_writer *w, const char *key, const struct line *l)
{
	json_member_open(w, key, '{');
	json_member_real(w, "slope", l->slope);
	json_member_real(w, "intercept", l->intercept);
	json_member_real(w, "r2", l->r2);
	json_close(w, '}');
}

static void print_json(const struct scaling *s, struct buf *out)
{
	struct json_writer w = {.out = out};
	json_open(&w, '{');
	json_member_str(&w, "type", "scaling");
	json_member_int(&w, "samples", s->samples);
	json_member_open(&w, "models", '[');
	for (uint32_t i = 0; i < s->models.len; i++) {
		const struct scaling_model *m = &s->models.at[i];
		json_open(&w, '{');
		json_member_str(&w, "name", m->name);
		for (uint32_t k = 0; k < SIZE_COUNT; k++)
			json_member_int(&w, sizes[k].name, (int64_t)m->size[k]);
		json_member_bool(&w, "measured", m->is_measured);
		if (m->is_measured)
			put_cost(&w, &m->cost);
		json_close(&w, '}');
	}
	json_close(&w, ']');
	json_member_open(&w, "lines", '{');
	for (uint32_t k = 0; k < SIZE_COUNT; k++) {
		struct line time, memory;
		if (!scaling_line(s, (enum scaling_size)k, false, &time) || !scaling_line(s, (enum scaling_size)k, true, &memory))
			continue;
		json_member_open(&w, sizes[k].name, '{');
		put_line(&w, "wall_ns", &time);
		put_line(&w, "peak_bytes", &memory);
		json_close(&w, '}');
	}
	json_close(&w, '}');
	json_member_open(&w, "settings", '[');
	for (uint32_t i = 0; i < s->settings.len; i++) {
		json_open(&w, '{');
		json_member_str(&w, "flag", s->settings.at[i].flag);
		put_cost(&w, &s->settings.at[i].cost);
		json_close(&w, '}');
	}
	json_close(&w, ']');
	json_close(&w, '}');
	buf_putc(out, '\n');
}

void report_scaling(const struct scaling *s, const struct report_options *o, struct buf *out)
{
	if (o->format == REPORT_JSON) {
		print_json(s, out);
		return;
	}
	report_printf(o, out, "cold builds, medians of up to %u samples\n", s->samples);
	put_models(s, o, out);
	put_lines(s, o, out);
	put_settings(s, true, o, out);
	put_settings(s, false, o, out);
}
