#include "builder/profile/report_view.h"
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "builder/profile/figures.h"
#include "builder/profile/table.h"

/* A function of the compiler: its own time, without what it calls, under all its callers. */
struct compiler_function {
	const char *name;
	double own, wall, calls;
};

static double own_time(const struct profile *p, uint32_t item)
{
	double own = report_wall(p, item);
	for (uint32_t i = item + 1; i < p->items.len; i++)
		if (p->items.at[i].parent == item)
			own -= report_wall(p, i);
	return own;
}

/* The rest of a phase has no name of its own. */
static void add_function(const struct view *v, struct compiler_function *list, uint32_t *n, uint32_t item)
{
	const struct profile_item *i = &v->p->items.at[item];
	const char *name = strcmp(i->name, "other") == 0 ? profile_item_path(v->a, v->p, item) : i->name;
	uint32_t k = 0;
	while (k < *n && strcmp(list[k].name, name) != 0)
		k++;
	if (k == *n)
		list[(*n)++] = (struct compiler_function){.name = name};
	list[k].own += own_time(v->p, item);
	list[k].wall += report_wall(v->p, item);
	list[k].calls += profile_median(v->p, &i->values, METRIC_CALLS);
}

static int by_own(const void *a, const void *b)
{
	const struct compiler_function *x = a, *y = b;
	return (x->own < y->own) - (x->own > y->own);
}

void report_functions(const struct view *v)
{
	const uint64_t kinds = 1u << ITEM_PHASE | 1u << ITEM_STAGE | 1u << ITEM_PASS;
	struct compiler_function *list = ARENA_ARRAY(v->a, struct compiler_function, v->p->items.len + 1);
	struct table t = {.arena = v->a,
			  .columns = {{"function", false}, {"self", true}, {"share", true}, {"total", true}, {"calls", true}},
			  .n_columns = 5};
	uint32_t n = 0;
	char text[FIGURE_SIZE];
	for (uint32_t i = 0; i < v->p->items.len; i++)
		if (kinds >> v->p->items.at[i].kind & 1)
			add_function(v, list, &n, i);
	if (!n)
		return;
	qsort(list, n, sizeof *list, by_own);
	uint32_t shown = n < v->o->top ? n : v->o->top;
	for (uint32_t i = 0; i < shown; i++) {
		table_add(&t, list[i].name);
		table_add(&t, figure_text(UNIT_NS, list[i].own, text));
		table_addf(&t, "%.1f %%", v->whole > 0 ? 100 * list[i].own / v->whole : 0);
		table_add(&t, figure_text(UNIT_NS, list[i].wall, text));
		table_add(&t, figure_text(UNIT_COUNT, list[i].calls, text));
	}
	report_title(v, arena_printf(v->a, "costliest functions of the compiler (%u of %u)", shown, n));
	table_print(&t, v->o->format == REPORT_MARKDOWN, v->out);
}
