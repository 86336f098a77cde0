#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "builder/profile/figures.h"
#include "builder/profile/reports.h"
#include "builder/profile/table.h"
#include "builder/profile/targets.h"

static const char *verdict(bool holds) { return holds ? "PASS" : "FAIL"; }

static bool row_holds(const struct target_row *r) { return target_time_holds(r) && target_memory_holds(r); }

static void add_row(struct table *t, const struct target_row *r)
{
	const struct target *want = &targets[target_class_of(&r->model)];
	const struct scaling_cost *c = &r->model.cost;
	char text[FIGURE_SIZE];
	table_add(t, want->name);
	table_add(t, r->model.name);
	table_add(t, figure_text(UNIT_COUNT, r->model.size[SIZE_PARAMETERS], text));
	table_add(t, figure_text(UNIT_COUNT, r->model.size[SIZE_LAYERS], text));
	table_add(t, figure_text(UNIT_NS, c->least_wall_ns, text));
	table_add(t, figure_text(UNIT_NS, want->wall_ns, text));
	table_add(t, verdict(target_time_holds(r)));
	table_add(t, c->private_dirty_bytes > 0 ? figure_text(UNIT_BYTES, c->private_dirty_bytes, text) : "unknown");
	table_add(t, figure_text(UNIT_BYTES, want->private_dirty_bytes, text));
	table_add(t, verdict(target_memory_holds(r)));
	table_add(t, figure_text(UNIT_BYTES, c->peak_bytes, text));
}

static void print_text(const struct target_rows *rows, const struct report_options *o, struct buf *out)
{
	struct table t = {.arena = rows->arena,
			  .columns = {{"class", false},
				      {"model", false},
				      {"parameters", true},
				      {"layers", true},
				      {"fastest build", true},
				      {"target", true},
				      {"", false},
				      {"private dirty", true},
				      {"target", true},
				      {"", false},
				      {"resident", true}},
			  .n_columns = 11};
	uint32_t passed = 0;
	buf_printf(out, "cold builds, %u of each\n\n", rows->samples);
	for (uint32_t i = 0; i < rows->list.len; i++) {
		add_row(&t, &rows->list.at[i]);
		passed += row_holds(&rows->list.at[i]);
	}
	table_print(&t, o->format == REPORT_MARKDOWN, out);
	buf_printf(out, "\n%s: %u of %u models keep to their targets\n", verdict(targets_hold(rows)), passed, rows->list.len);
}

static void print_row(struct json_writer *w, const struct target_row *r)
{
	const struct target *want = &targets[target_class_of(&r->model)];
	const struct scaling_cost *c = &r->model.cost;
	json_open(w, '{');
	json_member_str(w, "class", want->name);
	json_member_str(w, "model", r->model.name);
	json_member_bool(w, "generated", r->is_generated);
	json_member_int(w, "parameters", (int64_t)r->model.size[SIZE_PARAMETERS]);
	json_member_int(w, "layers", (int64_t)r->model.size[SIZE_LAYERS]);
	json_member_int(w, "lines", (int64_t)r->model.size[SIZE_LINES]);
	json_member_num(w, "least_ns", c->least_wall_ns);
	json_member_num(w, "wall_ns", c->wall_ns);
	json_member_num(w, "cpu_ns", c->cpu_ns);
	if (c->private_dirty_bytes > 0)
		json_member_num(w, "private_dirty_bytes", c->private_dirty_bytes);
	json_member_num(w, "peak_bytes", c->peak_bytes);
	json_member_num(w, "target_ns", want->wall_ns);
	json_member_num(w, "target_bytes", want->private_dirty_bytes);
	json_member_str(w, "time", verdict(target_time_holds(r)));
	json_member_str(w, "memory", verdict(target_memory_holds(r)));
	json_close(w, '}');
}

static void print_json(const struct target_rows *rows, struct buf *out)
{
	struct json_writer w = {.out = out};
	json_open(&w, '{');
	json_member_str(&w, "type", "targets");
	json_member_int(&w, "samples", rows->samples);
	json_member_open(&w, "rows", '[');
	for (uint32_t i = 0; i < rows->list.len; i++)
		print_row(&w, &rows->list.at[i]);
	json_close(&w, ']');
	json_member_str(&w, "verdict", verdict(targets_hold(rows)));
	json_close(&w, '}');
	buf_putc(out, '\n');
}

void report_targets(const struct target_rows *rows, const struct report_options *o, struct buf *out)
{
	if (o->format == REPORT_JSON)
		print_json(rows, out);
	else
		print_text(rows, o, out);
}
