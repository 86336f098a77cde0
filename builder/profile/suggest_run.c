/* The rules about runs. Times are those of one run. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "builder/profile/figures.h"
#include "builder/profile/suggest_rules.h"

static bool is_on_cpu(const struct profile *p) { return strcmp(p->machine.device, "cpu") == 0; }
static double setting_number(const struct profile *p, const char *name, double otherwise)
{
	const char *text = profile_setting(p, name);
	return text ? atof(text) : otherwise;
}
static double value_of(const struct suggestions *s, uint32_t item, enum profile_metric m)
{
	return profile_median(s->profile, &s->profile->items.at[item].values, m);
}

/* The kernel that an item calls, without `tri_`, as in "matmul_f32_trit2"; "" if it is a loop. */
static const char *kernel_of(const struct suggestions *s, uint32_t item)
{
	const char *note = s->profile->items.at[item].note;
	return s->profile->items.at[item].kind == ITEM_KERNEL && note && strncmp(note, "tri_", 4) == 0 ? note + 4 : "";
}
static bool calls_kernel(const struct suggestions *s, uint32_t item, const char *text)
{
	const char *kernel = kernel_of(s, item);
	const char *end = strchr(kernel, ':'), *found = strstr(kernel, text);
	return found && (!end || found < end);
}

/* ---- where to run ---- */

void suggest_CPU_FOR_SMALL(struct suggestions *s, const struct rule *r)
{
	char time[FIGURE_SIZE];
	double sum = 0;
	uint32_t n = 0;
	for (uint32_t i = 0; i < s->profile->items.len && !is_on_cpu(s->profile); i++)
		if (suggest_is_work(s, i) && suggest_call_ns(s, i) < r->limit)
			sum += suggest_item_ns(s, i), n++;
	if (!n || sum < 0.5 * suggest_whole_ns(s))
		return;
	struct suggestion *x =
		suggest_add(s, r, PROFILE_NONE,
			    arena_printf(s->arena, "%u operations of less than 1 ms take %.0f %% of the time on %s (%s)", n,
					 100 * sum / suggest_whole_ns(s), s->profile->machine.device, figure_text(UNIT_NS, sum, time)));
	x->edit = "--device cpu";
	x->variant = "--device cpu";
}

void suggest_DEVICE_FOR_LARGE(struct suggestions *s, const struct rule *r)
{
	char time[FIGURE_SIZE];
	uint32_t n = 0, largest = PROFILE_NONE;
	double sum = 0;
	for (uint32_t i = 0; i < s->profile->items.len && is_on_cpu(s->profile); i++)
		if (suggest_is_work(s, i) && suggest_call_ns(s, i) > r->limit) {
			sum += suggest_item_ns(s, i), n++;
			if (largest == PROFILE_NONE || suggest_item_ns(s, i) > suggest_item_ns(s, largest))
				largest = i;
		}
	if (!n)
		return;
	struct suggestion *x = suggest_add(
		s, r, largest,
		arena_printf(s->arena, "%u operation%s of more than 10 ms take%s %.0f %% of the time on the CPU (%s)", n, n == 1 ? "" : "s",
			     n == 1 ? "s" : "", 100 * sum / suggest_whole_ns(s), figure_text(UNIT_NS, sum, time)));
	x->edit = "--device opencl";
	x->variant = "--device opencl";
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
		double calls = value_of(s, i, METRIC_CALLS), share = suggest_item_ns(s, i) / suggest_whole_ns(s);
		if (s->profile->items.at[i].kind != ITEM_KERNEL || calls < r->limit || calls >= 100 || share < 0.01)
			continue;
		suggest_add(s, r, i, arena_printf(s->arena, "%.0f calls one after the other take %.0f %% of the time", calls, 100 * share));
	}
	double runs = profile_fact(s->profile, "runs", 0);
	if (runs < r->limit || setting_number(s->profile, "batch", 1) > 1 || weight_share(s) <= 0)
		return;
	struct suggestion *x =
		suggest_add(s, r, PROFILE_NONE,
			    arena_printf(s->arena, "%.0f runs of one row each; reading the ternary weights alone takes %.0f %% of a run",
					 runs, 100 * fmin(1, weight_share(s))));
	x->edit = "--batch 8";
	x->variant = "--batch 8";
	suggest_estimate(x, fmin(0.9, weight_share(s)) * 7 / 8);
}

void suggest_CACHE_CALLS(struct suggestions *s, const struct rule *r)
{
	char time[FIGURE_SIZE];
	for (uint32_t i = 0; i < s->profile->items.len; i++) {
		double calls = value_of(s, i, METRIC_CALLS), share = suggest_item_ns(s, i) / suggest_whole_ns(s);
		if (!suggest_is_work(s, i) || calls < r->limit || suggest_call_ns(s, i) > 1e5 || share < 0.01)
			continue;
		suggest_add(s, r, i,
			    arena_printf(s->arena, "%.0f calls of %s each take %.0f %% of the time", calls,
					 figure_text(UNIT_NS, suggest_call_ns(s, i), time), 100 * share));
	}
}

/* ---- the whole process ---- */

/* The statement during which the intermediate tensors are largest, if they are a tenth of `bytes` at least; else PROFILE_NONE. */
static uint32_t largest_tensors(const struct suggestions *s, double bytes)
{
	uint32_t most = PROFILE_NONE;
	double least = bytes / 10;
	for (uint32_t i = 0; i < s->profile->items.len; i++)
		if (suggest_is_work(s, i) && value_of(s, i, METRIC_PEAK) > least) {
			most = i;
			least = value_of(s, i, METRIC_PEAK);
		}
	return most;
}

void suggest_RUN_MEMORY(struct suggestions *s, const struct rule *r)
{
	char text[FIGURE_SIZE];
	double bytes = profile_median(s->profile, &s->profile->total, METRIC_PEAK);
	uint32_t most = largest_tensors(s, bytes);
	if (bytes <= r->limit)
		return;
	const char *evidence = arena_printf(s->arena, "the process used up to %s", figure_text(UNIT_BYTES, bytes, text));
	if (most != PROFILE_NONE)
		evidence = arena_printf(s->arena, "%s; intermediate tensors take up to %s of it, in this statement", evidence,
					figure_text(UNIT_BYTES, value_of(s, most, METRIC_PEAK), text));
	struct suggestion *x = suggest_add(s, r, most, evidence);
	if (setting_number(s->profile, "batch", 1) > 1)
		x->edit = x->variant = "--batch 1";
}

void suggest_IDLE_THREADS(struct suggestions *s, const struct rule *r)
{
	double threads = setting_number(s->profile, "threads", 1), cpu = 0, wall = 0;
	for (uint32_t i = 0; i < s->profile->items.len && is_on_cpu(s->profile); i++)
		if (s->profile->items.at[i].parent == PROFILE_NONE) {
			cpu += value_of(s, i, METRIC_CPU);
			wall += suggest_item_ns(s, i);
		}
	if (threads < 2 || wall <= 0 || cpu <= 0 || cpu / (wall * threads) >= r->limit)
		return;
	struct suggestion *x =
		suggest_add(s, r, PROFILE_NONE,
			    arena_printf(s->arena, "%.0f threads are busy for %.0f %% of the time", threads, 100 * cpu / (wall * threads)));
	x->edit = x->variant = "--threads 1";
}

/* ---- what only a compiler knows ---- */

/* Loops of one unit that follow each other: the second reads from memory what the first has written. */
void suggest_UNFUSED(struct suggestions *s, const struct rule *r)
{
	const struct profile *p = s->profile;
	double rate = profile_fact(p, "ceiling.copy_bytes", 0);
	for (uint32_t i = 0; i + 1 < p->items.len; i++) {
		const struct profile_item *a = &p->items.at[i], *b = &p->items.at[i + 1];
		double bytes = fmin(value_of(s, i, METRIC_BYTES), value_of(s, i + 1, METRIC_BYTES)),
		       share = rate > 0 ? bytes / rate * 1e9 / suggest_whole_ns(s) : 0;
		if (a->kind != ITEM_STATEMENT || b->kind != ITEM_STATEMENT || a->parent != b->parent || share < r->limit)
			continue;
		struct suggestion *x = suggest_add(
			s, r, i, arena_printf(s->arena, "`%s` and `%s` are two loops: what one writes, the other reads", a->name, b->name));
		suggest_estimate(x, share);
		x->edit = x->variant = "-O2";
	}
}

void suggest_LAYOUT_COPY(struct suggestions *s, const struct rule *r)
{
	for (uint32_t i = 0; i < s->profile->items.len; i++) {
		double share = suggest_item_ns(s, i) / suggest_whole_ns(s);
		if (!calls_kernel(s, i, "transpose") || share < r->limit)
			continue;
		struct suggestion *x =
			suggest_add(s, r, i, arena_printf(s->arena, "a copy between two layouts takes %.1f %% of the time", 100 * share));
		suggest_estimate(x, share);
	}
}

void suggest_DENSE_ON_SPARSE(struct suggestions *s, const struct rule *r)
{
	for (uint32_t i = 0; i < s->profile->weights.len; i++) {
		const struct profile_weight *w = &s->profile->weights.at[i];
		double zeros = w->elements > 0 ? w->zeros / w->elements : 0;
		if (strcmp(w->form, "dense") != 0 || zeros < r->limit)
			continue;
		struct suggestion *x =
			suggest_add(s, r, PROFILE_NONE,
				    arena_printf(s->arena, "%.0f %% of its trits are zero, and kernels compute them all", 100 * zeros));
		x->subject = w->name;
	}
}

void suggest_FLOAT_ACTIVATIONS(struct suggestions *s, const struct rule *r)
{
	double floats = profile_fact(s->profile, "ceiling.float_ops", 0), bytes = profile_fact(s->profile, "ceiling.int8_ops", 0);
	for (uint32_t i = 0; i < s->profile->items.len; i++) {
		double share = suggest_item_ns(s, i) / suggest_whole_ns(s);
		if (!calls_kernel(s, i, "f32_trit2") || share < r->limit)
			continue;
		struct suggestion *x = suggest_add(
			s, r, i,
			arena_printf(
				s->arena,
				"products of float32 with trits take %.0f %% of the time; the machine multiplies int8 %.1f times as fast",
				100 * share, floats > 0 ? bytes / floats : 0));
		if (floats > 0 && bytes > floats)
			suggest_estimate(x, share * (1 - floats / bytes));
		x->edit = calls_kernel(s, i, "conv") ? "nn.BitConv2d instead of nn.TernaryConv2d"
						     : "nn.BitLinear instead of nn.TernaryLinear";
	}
}

void suggest_PADDED(struct suggestions *s, const struct rule *r)
{
	for (uint32_t i = 0; i < s->profile->weights.len; i++) {
		const struct profile_weight *w = &s->profile->weights.at[i];
		double needed = w->elements / 4, extra = needed > 0 ? w->bytes / needed - 1 : 0;
		if (strcmp(w->form, "dense") != 0 || extra < r->limit || w->elements < 4096)
			continue;
		struct suggestion *x =
			suggest_add(s, r, PROFILE_NONE,
				    arena_printf(s->arena, "packed as %s it takes %.0f %% more than its trits", w->layout, 100 * extra));
		x->subject = w->name;
	}
}
