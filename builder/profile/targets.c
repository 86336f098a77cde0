#include "builder/profile/targets.h"
#include <string.h>
#include "builder/profile/report.h"

const struct target targets[TARGET_CLASSES] = {
#define TARGET(id, name, parameters, layers, ns, bytes, model, entry, file) {name, parameters, layers, ns, bytes, model, entry, file},
#include "builder/profile/targets.def"
};

bool target_class_parse(const char *text, enum target_class *out)
{
	for (uint32_t i = 0; i < TARGET_CLASSES; i++)
		if (strcmp(text, targets[i].name) == 0) {
			*out = (enum target_class)i;
			return true;
		}
	return false;
}

enum target_class target_class_of(const struct scaling_model *model)
{
	uint32_t c = 0;
	while (c + 1 < TARGET_CLASSES &&
	       (model->size[SIZE_PARAMETERS] > targets[c].most_parameters || model->size[SIZE_LAYERS] > targets[c].most_layers))
		c++;
	return (enum target_class)c;
}

bool target_time_holds(const struct target_row *r) { return r->model.cost.least_wall_ns <= targets[target_class_of(&r->model)].wall_ns; }

bool target_memory_holds(const struct target_row *r)
{
	const struct scaling_cost *c = &r->model.cost;
	double bytes = c->private_dirty_bytes > 0 ? c->private_dirty_bytes : c->peak_bytes;
	return bytes <= targets[target_class_of(&r->model)].private_dirty_bytes;
}

bool targets_hold(const struct target_rows *t)
{
	bool hold = true;
	for (uint32_t i = 0; i < t->list.len; i++)
		hold = hold && target_time_holds(&t->list.at[i]) && target_memory_holds(&t->list.at[i]);
	return hold;
}

COLUMNS(columns, COLUMN("class", "class", WORD), COLUMN("model", "model", WORD), COLUMN("generated", NULL, BOOL),
	COLUMN("parameters", "parameters", COUNT), COLUMN("layers", "layers", COUNT), ONLY_JSON("lines"),
	COLUMN("least_ns", "fastest build", NS), COLUMN("target_ns", "target", NS), COLUMN("time", "", WORD),
	COLUMN("private_dirty_bytes", "private dirty", BYTES), COLUMN("target_bytes", "target", BYTES), COLUMN("memory", "", WORD),
	COLUMN("peak_bytes", "resident", BYTES), ONLY_JSON("wall_ns"), ONLY_JSON("cpu_ns"));

static const char *verdict(bool holds) { return holds ? "PASS" : "FAIL"; }

void report_targets(const struct target_rows *rows, const struct report_options *options, struct buf *out)
{
	struct report r = report_open(options, out, "targets");
	struct table t = TABLE(&r, columns);
	uint32_t passed = 0;
	for (uint32_t i = 0; i < rows->list.len; i++) {
		const struct target_row *x = &rows->list.at[i];
		const struct target *want = &targets[target_class_of(&x->model)];
		const struct scaling_cost *c = &x->model.cost;
		const double *size = x->model.size;
		TABLE_ROW(&t, word(want->name), word(x->model.name), figure(x->is_generated), figure(size[SIZE_PARAMETERS]),
			  figure(size[SIZE_LAYERS]), figure(size[SIZE_LINES]), figure(c->least_wall_ns), figure(want->wall_ns),
			  word(verdict(target_time_holds(x))), figure_or(c->private_dirty_bytes > 0, c->private_dirty_bytes, "unknown"),
			  figure(want->private_dirty_bytes), word(verdict(target_memory_holds(x))), figure(c->peak_bytes),
			  figure(c->wall_ns), figure(c->cpu_ns));
		passed += target_time_holds(x) && target_memory_holds(x);
	}
	report_say(&r, "cold builds, %u of each\n\n", rows->samples);
	report_member(&r, "samples", figure(rows->samples));
	table_print(&t, "rows", NULL);
	report_say(&r, "\n%s: %u of %u models keep to their targets\n", verdict(targets_hold(rows)), passed, rows->list.len);
	report_member(&r, "verdict", word(verdict(targets_hold(rows))));
	report_close(&r);
}
