#include "builder/profile/kernel_sums.h"
#include <math.h>
#include <string.h>
#include "base/arena.h"
#include "base/map.h"

#define FEWEST_ITEMS 8 /* with fewer, no test of items is sharper than 0.01 */

/* The note of an item begins with its kernel: "tri_conv_f32: conv2d, relu". NULL: it has none. */
static const char *kernel_of(struct arena *a, const struct profile_item *i)
{
	size_t len = i->note ? strcspn(i->note, ":") : 0;
	return i->kind == ITEM_KERNEL && len ? arena_strndup(a, i->note, len) : NULL;
}

static void add(struct arena *a, struct kernel_sum *s, const struct profile *p, uint32_t item)
{
	for (uint32_t m = 0; m < METRIC_COUNT; m++) {
		const double *from = p->items.at[item].values.of[m];
		if (profile_metrics[m].unit != UNIT_NS && m != METRIC_BYTES && m != METRIC_OPERATIONS && m != METRIC_CALLS)
			continue;
		if (s->n_items == 0 && from)
			s->values.of[m] = ARENA_ARRAY(a, double, p->n_samples);
		if (!from)
			s->values.of[m] = NULL;
		for (uint32_t k = 0; s->values.of[m] && k < p->n_samples; k++)
			s->values.of[m][k] += from[k];
	}
	s->items = arena_grow(a, s->items, s->n_items, &s->items_cap, s->n_items + 1, sizeof *s->items);
	s->items[s->n_items++] = item;
}

struct kernel_sum *kernel_sums(struct arena *a, const struct profile *p, uint32_t *n)
{
	struct kernel_sum *list = ARENA_ARRAY(a, struct kernel_sum, p->items.len + 1);
	struct map known = {0};
	uint32_t len = 0;
	for (uint32_t i = 0; i < p->items.len; i++) {
		const char *name = kernel_of(a, &p->items.at[i]);
		uint64_t at = len;
		if (!name)
			continue;
		if (!map_get(&known, map_key_str(name), &at)) {
			map_put(&known, map_key_str(name), len);
			list[len++] = (struct kernel_sum){.name = name};
		}
		add(a, &list[at], p, i);
	}
	map_free(&known);
	*n = 0;
	for (uint32_t i = 0; i < len; i++)
		if (list[i].n_items > 1)
			list[(*n)++] = list[i];
	return list;
}
