/* What a build looked up in each level of the caches, from the facts of its profile. */
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "builder/profile/figures.h"
#include "builder/profile/report_view.h"
#include "builder/profile/table.h"
#include "builder/store/lookups.h"

static double fact_of(const struct view *v, enum lookup_level l, const char *what)
{
	return profile_fact(v->p, arena_printf(v->a, "cache.%s.%s", lookup_level_name(l), what), 0);
}

bool report_is_of_caches(const struct profile_fact *f)
{
	for (uint32_t i = 0; i < LOOKUP_LEVELS; i++) {
		const char *name = lookup_level_name((enum lookup_level)i);
		size_t len = strlen(name);
		if (strncmp(f->name, "cache.", 6) == 0 && strncmp(f->name + 6, name, len) == 0 && f->name[6 + len] == '.')
			return true;
	}
	return false;
}

void report_caches(const struct view *v)
{
	struct table t = {.arena = v->a, .columns = {{"level", false}, {"look-ups", true}, {"hits", true}, {"rate", true}}, .n_columns = 4};
	char text[FIGURE_SIZE];
	for (uint32_t i = 0; i < LOOKUP_LEVELS; i++) {
		enum lookup_level l = (enum lookup_level)i;
		double all = fact_of(v, l, "lookups");
		if (all <= 0)
			continue;
		table_add(&t, lookup_level_title(l));
		table_add(&t, figure_text(UNIT_COUNT, all, text));
		table_add(&t, figure_text(UNIT_COUNT, fact_of(v, l, "hits"), text));
		table_addf(&t, "%.1f %%", 100 * fact_of(v, l, "hit_rate"));
	}
	if (!t.cells.len)
		return;
	report_title(v, "caches");
	table_print(&t, v->o->format == REPORT_MARKDOWN, v->out);
}
