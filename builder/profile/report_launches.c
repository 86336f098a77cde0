/* How the kernels of a run were launched on a device, in the order of the model. */
#include "builder/profile/figures.h"
#include "builder/profile/report.h"
#include "builder/profile/profile.h"

COLUMNS(columns, COLUMN("statement", "statement", WORD), COLUMN("at", "at", WORD), COLUMN("kernel", "kernel", WORD),
	COLUMN("work_items", "items", WHOLE), COLUMN("work_group", "group", WHOLE), COLUMN("most_work_group", "most", WHOLE),
	COLUMN("local_bytes", "local", BYTES), COLUMN("private_bytes", "private", BYTES), COLUMN("occupancy", "occupancy", SHARE),
	COLUMN("ns", "time", NS));

static struct cell launch_figure(const struct profile *p, uint32_t item, enum profile_metric m)
{
	return figure(profile_value(p, item, m));
}

void report_launches(const struct profile *p, const char *model, const char *device, const struct report_options *options, struct buf *out)
{
	struct report r = report_open(options, out, "kernels");
	if (report_is_json(&r)) {
		json_member_str(&r.json, "model", model);
		json_member_str(&r.json, "entry", profile_setting(p, "entry"));
		json_member_str(&r.json, "device", device);
	}
	report_say(&r, "%s, entry %s, on %s\n", model, profile_setting(p, "entry"), device);
	struct table t = TABLE(&r, columns);
	for (uint32_t i = 0; i < p->items.len; i++) {
		const struct profile_item *item = &p->items.at[i];
		if (!item->values.of[METRIC_WORK_GROUP])
			continue;
		TABLE_ROW(&t, word(profile_item_path(r.arena, p, i)), word(item->at), word(item->note),
			  launch_figure(p, i, METRIC_WORK_ITEMS), launch_figure(p, i, METRIC_WORK_GROUP),
			  launch_figure(p, i, METRIC_MOST_WORK_GROUP), launch_figure(p, i, METRIC_LOCAL),
			  launch_figure(p, i, METRIC_PRIVATE), launch_figure(p, i, METRIC_OCCUPANCY), launch_figure(p, i, METRIC_LEAST));
	}
	table_print(&t, "kernels", NULL);
	report_close(&r);
}
