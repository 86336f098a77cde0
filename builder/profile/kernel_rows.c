#include "builder/profile/kernel_rows.h"
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"

#define MEMORY_BOUND 5.0 /* operations a byte: fewer */
#define COMPUTE_BOUND 20.0

void kernel_add_ceilings(struct profile *p, const struct ceilings *c)
{
	profile_add_fact(p, "ceiling.read_bytes", c->read_bytes);
	profile_add_fact(p, "ceiling.copy_bytes", c->copy_bytes);
	profile_add_fact(p, "ceiling.float_ops", c->float_ops);
	profile_add_fact(p, "ceiling.int8_ops", c->int8_ops);
}

struct ceilings kernel_ceilings(const struct profile *p)
{
	return (struct ceilings){profile_fact(p, "ceiling.read_bytes", 0), profile_fact(p, "ceiling.copy_bytes", 0),
				 profile_fact(p, "ceiling.float_ops", 0), profile_fact(p, "ceiling.int8_ops", 0)};
}

static double value_of(const struct profile *p, const struct profile_item *i, enum profile_metric m)
{
	return profile_median(p, &i->values, m);
}

/* Kernels of int8 are measured against the dot products of int8, all others against float32. */
static double ceiling_of(const struct profile_item *i, const struct ceilings *c)
{
	bool is_int8 = i->note && (strstr(i->note, "_i8_") || strncmp(i->note, "tri_matmul_trits", 16) == 0 ||
				   strncmp(i->note, "tri_conv_trits", 14) == 0);
	return is_int8 ? c->int8_ops : c->float_ops;
}

struct kernel_row kernel_row(const struct profile *p, uint32_t item)
{
	const struct ceilings c = kernel_ceilings(p);
	const struct profile_item *i = &p->items.at[item];
	struct kernel_row r = {.item = item,
			       .ns = value_of(p, i, METRIC_WALL),
			       .bytes = value_of(p, i, METRIC_BYTES),
			       .operations = value_of(p, i, METRIC_OPERATIONS)};
	r.has_ceilings = c.read_bytes > 0;
	r.intensity = r.bytes > 0 ? r.operations / r.bytes : 0;
	r.class = r.intensity < MEMORY_BOUND ? KERNEL_MEMORY : r.intensity <= COMPUTE_BOUND ? KERNEL_MIXED : KERNEL_COMPUTE;
	double by_memory = r.intensity * c.read_bytes, most = ceiling_of(i, &c);
	r.attainable = by_memory < most ? by_memory : most;
	double seconds = r.ns / 1e9;
	if (seconds > 0 && r.attainable > 0)
		r.share = r.operations / seconds / r.attainable;
	else if (seconds > 0 && c.copy_bytes > 0)
		r.share = r.bytes / seconds / c.copy_bytes;
	return r;
}

static int by_time(const void *a, const void *b)
{
	const struct kernel_row *x = a, *y = b;
	return x->ns != y->ns ? (x->ns < y->ns) - (x->ns > y->ns) : (x->item > y->item) - (x->item < y->item);
}

struct kernel_row *kernel_rows(struct arena *a, const struct profile *p, uint32_t *n)
{
	struct kernel_row *rows = ARENA_ARRAY(a, struct kernel_row, p->items.len + 1);
	*n = 0;
	for (uint32_t i = 0; i < p->items.len; i++)
		if (p->items.at[i].kind == ITEM_KERNEL || p->items.at[i].kind == ITEM_STATEMENT)
			rows[(*n)++] = kernel_row(p, i);
	qsort(rows, *n, sizeof *rows, by_time);
	return rows;
}

const char *kernel_class_text(enum kernel_class c)
{
	static const char *const texts[] = {[KERNEL_MEMORY] = "memory", [KERNEL_MIXED] = "mixed", [KERNEL_COMPUTE] = "compute"};
	return texts[c];
}

const char *kernel_verdict(struct arena *a, const struct profile *p, const struct kernel_row *r)
{
	double whole = profile_median(p, &p->total, METRIC_WALL);
	if (whole > 0 && r->ns < whole / 200)
		return "small";
	if (!r->has_ceilings || r->share <= 0)
		return "";
	if (r->share > 1.1)
		return "its data stays in the caches";
	if (r->share >= 0.8)
		return r->class == KERNEL_MEMORY ? "at the memory's rate" : "at the ceiling";
	if (r->share >= 0.5)
		return "near the ceiling";
	return arena_printf(a, "%.1f times the least time", 1 / r->share);
}
