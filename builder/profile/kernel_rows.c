#include "builder/profile/kernel_rows.h"
#include <stdlib.h>
#include "base/arena.h"

#define MEMORY_BOUND 5.0 /* operations a byte: fewer */
#define COMPUTE_BOUND 20.0
#define BEYOND 1.1 /* times the measured rate of memory: not an error of measuring */
#define AT 0.9     /* of the attainable rate: its ceiling limits a statement */
#define NEAR 0.75
#define CACHE (256 << 10) /* bytes: no cache of the second level is smaller */

void kernel_add_ceilings(struct profile *p, const struct ceilings *c)
{
#define CEILING(name) profile_add_fact(p, "ceiling." #name, c->name);
	KERNEL_CEILINGS(CEILING)
#undef CEILING
}

struct ceilings kernel_ceilings(const struct profile *p)
{
#define CEILING(name) profile_fact(p, "ceiling." #name, 0),
	return (struct ceilings){KERNEL_CEILINGS(CEILING)};
#undef CEILING
}

/* The ceiling of an item's arithmetic; NULL: it is not known. */
static double *ceiling_of(const struct profile_item *i, struct ceilings *c)
{
	return i->ceiling == CEILING_INT8 ? &c->int8_ops : i->ceiling == CEILING_FLOAT ? &c->float_ops : NULL;
}

/* True if all that a run moves fits into a cache, where the run before left it. */
static bool fits_cache(const struct profile *p)
{
	double bytes = profile_median(p, &p->total, METRIC_BYTES);
	return bytes > 0 && bytes <= CACHE;
}

/* Above the memory's rate the data comes from the caches, too. Then only arithmetic is a limit, and there is none without operations. */
static void set_share(struct kernel_row *r, const struct ceilings *c, double arithmetic, bool in_caches)
{
	double seconds = r->ns / 1e9, by_memory = r->intensity * c->read_bytes;
	bool computes = r->operations > 0;
	double rate = seconds > 0 ? (computes ? r->operations : r->bytes) / seconds : 0, of_memory = computes ? by_memory : c->copy_bytes;
	r->by_memory = by_memory < arithmetic || !computes;
	r->in_caches = r->by_memory && of_memory > 0 && (in_caches || rate > BEYOND * of_memory);
	r->by_memory = r->by_memory && !r->in_caches;
	r->attainable = r->by_memory ? by_memory : arithmetic;
	double limit = r->by_memory ? of_memory : computes ? arithmetic : 0;
	r->share = limit > 0 && !r->is_short ? rate / limit : 0;
}

struct kernel_row kernel_row(const struct profile *p, uint32_t item)
{
	struct ceilings c = kernel_ceilings(p);
	const struct profile_item *i = &p->items.at[item];
	struct kernel_row r = {.item = item,
			       .ns = profile_own(p, item, METRIC_WALL),
			       .bytes = profile_own(p, item, METRIC_BYTES),
			       .operations = profile_own(p, item, METRIC_OPERATIONS)};
	double calls = profile_median(p, &i->values, METRIC_CALLS);
	r.is_short = calls > 0 && r.ns / calls < kernel_shortest(p);
	r.has_ceilings = c.read_bytes > 0;
	r.intensity = r.bytes > 0 ? r.operations / r.bytes : 0;
	r.class = r.intensity < MEMORY_BOUND ? KERNEL_MEMORY : r.intensity <= COMPUTE_BOUND ? KERNEL_MIXED : KERNEL_COMPUTE;
	const double *arithmetic = ceiling_of(i, &c);
	set_share(&r, &c, arithmetic ? *arithmetic : 0, fits_cache(p));
	return r;
}

struct ceilings kernel_raised_ceilings(const struct profile *p)
{
	struct ceilings c = kernel_ceilings(p);
	for (uint32_t i = 0; i < p->items.len; i++) {
		if (p->items.at[i].kind != ITEM_KERNEL && p->items.at[i].kind != ITEM_STATEMENT)
			continue;
		struct kernel_row r = kernel_row(p, i);
		double rate = r.ns > 0 && !r.is_short ? r.operations / r.ns * 1e9 : 0, *most = ceiling_of(&p->items.at[i], &c);
		if (most && rate > *most)
			*most = rate;
	}
	return c;
}

static int kernel_rows_by_time(const void *a, const void *b)
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
	qsort(rows, *n, sizeof *rows, kernel_rows_by_time);
	return rows;
}

const char *const kernel_classes[] = {[KERNEL_MEMORY] = "memory", [KERNEL_MIXED] = "mixed", [KERNEL_COMPUTE] = "compute"};

const char *kernel_verdict(struct arena *a, const struct profile *p, const struct kernel_row *r)
{
	double whole = kernel_whole(p);
	if (whole > 0 && r->ns < whole / 200)
		return "small";
	if (r->is_short)
		return "too short for the clock";
	if (!r->has_ceilings || (r->share <= 0 && !r->in_caches))
		return "";
	if (r->share >= NEAR)
		return arena_printf(a, "%s the %s", r->share >= AT ? "at" : "near", r->by_memory ? "memory's rate" : "ceiling");
	if (r->in_caches)
		return "its data stays in the caches";
	return arena_printf(a, "%.1f times the least time", 1 / r->share);
}

/* Reading the clock takes a tenth of it. */
double kernel_shortest(const struct profile *p) { return 10 * profile_fact(p, "clock_ns", 0); }

double kernel_whole(const struct profile *p)
{
	double whole = profile_median(p, &p->total, METRIC_WALL);
	return profile_fact(p, "scale", 0) > 0 ? whole : profile_fact(p, "measured_ns", whole);
}
