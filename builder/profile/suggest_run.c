/* The rules about runs. Times are those of one run. */
#include <math.h>
#include <string.h>
#include "backend/kernels/kernel.h"
#include "builder/profile/figures.h"
#include "builder/profile/suggest_rules.h"

static bool is_on_cpu(const struct profile *p) { return strcmp(p->machine.device, "cpu") == 0; }

/* The kernel that an item calls, or KERNEL_COUNT. */
static enum kernel suggest_run_kernel_of(const struct suggestions *s, uint32_t item)
{
	const char *symbol = s->profile->items.at[item].kernel;
	enum kernel k = symbol ? 0 : KERNEL_COUNT;
	while (k < KERNEL_COUNT && strcmp(kernel_info(k)->symbol, symbol) != 0)
		k++;
	return k;
}

/* ---- where to run ---- */

void suggest_CPU_FOR_SMALL(struct suggestions *s, const struct rule *r)
{
	double sum = 0;
	uint32_t n = 0;
	for (uint32_t i = 0; i < s->profile->items.len && !is_on_cpu(s->profile); i++)
		if (suggest_is_work(s, i) && suggest_call_ns(s, i) < r->limit)
			sum += suggest_item_ns(s, i), n++;
	if (n && sum >= 0.5 * suggest_whole_ns(s))
		suggest_flags(suggest_add(s, r, PROFILE_NONE, "%u operations of less than 1 ms take %.0f %% of the time on %s (%s)", n,
					  100 * sum / suggest_whole_ns(s), s->profile->machine.device, figure_new(s->arena, UNIT_NS, sum)),
			      "--device cpu");
}

void suggest_DEVICE_FOR_LARGE(struct suggestions *s, const struct rule *r)
{
	uint32_t n = 0, largest = PROFILE_NONE;
	double sum = 0;
	for (uint32_t i = 0; i < s->profile->items.len && is_on_cpu(s->profile); i++)
		if (suggest_is_work(s, i) && suggest_call_ns(s, i) > r->limit) {
			sum += suggest_item_ns(s, i), n++;
			if (largest == PROFILE_NONE || suggest_item_ns(s, i) > suggest_item_ns(s, largest))
				largest = i;
		}
	if (n)
		suggest_flags(suggest_add(s, r, largest, "%u operation%s of more than 10 ms take%s %.0f %% of the time on the CPU (%s)", n,
					  n == 1 ? "" : "s", n == 1 ? "s" : "", 100 * sum / suggest_whole_ns(s),
					  figure_new(s->arena, UNIT_NS, sum)),
			      "--device opencl");
}

/* ---- calls ---- */

/* The time that memory needs for the weights of an item: all of it is saved by the second and later rows of a batch. */
static double weight_share(const struct suggestions *s)
{
	double rate = profile_fact(s->profile, "ceiling.read_bytes", 0), bytes = 0;
	for (uint32_t i = 0; i < s->profile->weights.len; i++)
		bytes += s->profile->weights.at[i].bytes;
	return rate > 0 ? bytes / rate * 1e9 / suggest_whole_ns(s) : 0;
}

void suggest_BATCH(struct suggestions *s, const struct rule *r)
{
	for (uint32_t i = 0; i < s->profile->items.len; i++) {
		double calls = profile_value(s->profile, i, METRIC_CALLS), share = suggest_share(s, i);
		if (s->profile->items.at[i].kind == ITEM_KERNEL && calls >= r->limit && calls < 100 && share >= 0.01)
			suggest_add(s, r, i, "%.0f calls one after the other take %.0f %% of the time", calls, 100 * share);
	}
	double runs = profile_fact(s->profile, "runs", 0), share = weight_share(s);
	if (runs < r->limit || suggest_setting(s, "batch", 1) > 1 || share <= 0)
		return;
	struct suggestion *x =
		suggest_add(s, r, PROFILE_NONE, "%.0f runs of one row each; reading the ternary weights alone takes %.0f %% of a run", runs,
			    100 * fmin(1, share));
	suggest_flags(x, "--batch 8");
	suggest_estimate(x, fmin(0.9, share) * 7 / 8);
}

void suggest_CACHE_CALLS(struct suggestions *s, const struct rule *r)
{
	for (uint32_t i = 0; i < s->profile->items.len; i++) {
		double calls = profile_value(s->profile, i, METRIC_CALLS), share = suggest_share(s, i), call = suggest_call_ns(s, i);
		if (suggest_is_work(s, i) && calls >= r->limit && call <= 1e5 && share >= 0.01)
			suggest_add(s, r, i, "%.0f calls of %s each take %.0f %% of the time", calls, figure_new(s->arena, UNIT_NS, call),
				    100 * share);
	}
}

/* ---- the whole process ---- */

void suggest_RUN_MEMORY(struct suggestions *s, const struct rule *r)
{
	const struct profile *p = s->profile;
	double bytes = profile_median(p, &p->total, METRIC_PEAK), least = bytes / 10;
	uint32_t most = PROFILE_NONE; /* during it the intermediate tensors are largest; a tenth of all at least */
	if (bytes <= r->limit)
		return;
	for (uint32_t i = 0; i < p->items.len; i++)
		if (suggest_is_work(s, i) && profile_value(p, i, METRIC_PEAK) > least) {
			most = i;
			least = profile_value(p, i, METRIC_PEAK);
		}
	const char *all = figure_new(s->arena, UNIT_BYTES, bytes), *tensors = figure_new(s->arena, UNIT_BYTES, least);
	struct suggestion *x =
		most == PROFILE_NONE
			? suggest_add(s, r, most, "the process used up to %s", all)
			: suggest_add(s, r, most, "the process used up to %s; intermediate tensors take up to %s of it, in this statement",
				      all, tensors);
	if (suggest_setting(s, "batch", 1) > 1)
		suggest_flags(x, "--batch 1");
}

void suggest_IDLE_THREADS(struct suggestions *s, const struct rule *r)
{
	double threads = suggest_setting(s, "threads", 1), cpu = 0, wall = 0;
	for (uint32_t i = 0; i < s->profile->items.len && is_on_cpu(s->profile); i++)
		if (s->profile->items.at[i].parent == PROFILE_NONE) {
			cpu += profile_value(s->profile, i, METRIC_CPU);
			wall += suggest_item_ns(s, i);
		}
	double busy = wall > 0 ? cpu / (wall * threads) : 0;
	if (threads >= 2 && busy > 0 && busy < r->limit)
		suggest_flags(suggest_add(s, r, PROFILE_NONE, "%.0f threads are busy for %.0f %% of the time", threads, 100 * busy),
			      "--threads 1");
}

/* ---- what only a compiler knows ---- */

/* Loops of one unit that follow each other: the second reads from memory what the first has written. */
void suggest_UNFUSED(struct suggestions *s, const struct rule *r)
{
	const struct profile *p = s->profile;
	double rate = profile_fact(p, "ceiling.copy_bytes", 0);
	for (uint32_t i = 0; i + 1 < p->items.len; i++) {
		const struct profile_item *a = &p->items.at[i], *b = &p->items.at[i + 1];
		double bytes = fmin(profile_value(p, i, METRIC_BYTES), profile_value(p, i + 1, METRIC_BYTES)),
		       share = rate > 0 ? bytes / rate * 1e9 / suggest_whole_ns(s) : 0;
		if (a->kind != ITEM_STATEMENT || b->kind != ITEM_STATEMENT || a->parent != b->parent || share < r->limit)
			continue;
		struct suggestion *x =
			suggest_add(s, r, i, "`%s` and `%s` are two loops: what one writes, the other reads", a->name, b->name);
		suggest_estimate(x, share);
		suggest_flags(x, "-O2");
	}
}

void suggest_LAYOUT_COPY(struct suggestions *s, const struct rule *r)
{
	for (uint32_t i = 0; i < s->profile->items.len; i++) {
		enum kernel k = suggest_run_kernel_of(s, i);
		double share = suggest_share(s, i);
		if (k < KERNEL_COUNT && kernel_record(k)->op == OP_TRANSPOSE && share >= r->limit)
			suggest_estimate(suggest_add(s, r, i, "a copy between two layouts takes %.1f %% of the time", 100 * share), share);
	}
}

void suggest_DENSE_ON_SPARSE(struct suggestions *s, const struct rule *r)
{
	for (uint32_t i = 0; i < s->profile->weights.len; i++) {
		const struct profile_weight *w = &s->profile->weights.at[i];
		double zeros = w->elements > 0 ? w->zeros / w->elements : 0;
		if (strcmp(w->form, "dense") == 0 && zeros >= r->limit)
			suggest_add(s, r, PROFILE_NONE, "%.0f %% of its trits are zero, and kernels compute them all", 100 * zeros)
				->subject = w->name;
	}
}

void suggest_FLOAT_ACTIVATIONS(struct suggestions *s, const struct rule *r)
{
	double floats = profile_fact(s->profile, "ceiling.float_ops", 0), bytes = profile_fact(s->profile, "ceiling.int8_ops", 0);
	for (uint32_t i = 0; i < s->profile->items.len; i++) {
		enum kernel k = suggest_run_kernel_of(s, i);
		double share = suggest_share(s, i);
		bool has_trits = k < KERNEL_COUNT && kernel_info(k)->operands[1].elem == DT_TRIT;
		if (!has_trits || s->profile->items.at[i].ceiling != CEILING_FLOAT || share < r->limit)
			continue;
		struct suggestion *x = suggest_add(
			s, r, i, "products of float32 with trits take %.0f %% of the time; the machine multiplies int8 %.1f times as fast",
			100 * share, floats > 0 ? bytes / floats : 0);
		if (floats > 0 && bytes > floats)
			suggest_estimate(x, share * (1 - floats / bytes));
		x->edit = kernel_record(k)->op == OP_CONV ? "nn.BitConv2d instead of nn.TernaryConv2d"
							  : "nn.BitLinear instead of nn.TernaryLinear";
	}
}

void suggest_PADDED(struct suggestions *s, const struct rule *r)
{
	for (uint32_t i = 0; i < s->profile->weights.len; i++) {
		const struct profile_weight *w = &s->profile->weights.at[i];
		double needed = w->elements / 4, extra = needed > 0 ? w->bytes / needed - 1 : 0;
		if (strcmp(w->form, "dense") == 0 && extra >= r->limit && w->elements >= 4096)
			suggest_add(s, r, PROFILE_NONE, "packed as %s it takes %.0f %% more than its trits", w->layout, 100 * extra)
				->subject = w->name;
	}
}
