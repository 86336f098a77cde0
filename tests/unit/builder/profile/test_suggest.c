#include "builder/profile/suggest.h"
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "tests/unit/unit.h"

/* A profile of one sample of 100 ms on two CPU threads that multiply int8 four times as fast as float32. */
static struct profile *profile_of(enum profile_kind kind)
{
	struct profile *p = profile_new(kind, 1);
	p->machine.device = "cpu";
	profile_set(p, &p->total, METRIC_WALL, 0, 100e6);
	profile_add_fact(p, "ceiling.read_bytes", 10e9);
	profile_add_fact(p, "ceiling.copy_bytes", 10e9);
	profile_add_fact(p, "ceiling.float_ops", 100e9);
	profile_add_fact(p, "ceiling.int8_ops", 400e9);
	return p;
}

static uint32_t add(struct profile *p, enum profile_item_kind kind, const char *name, const char *note, double ns, double calls,
		    double bytes)
{
	uint32_t item = profile_add_item(p, kind, PROFILE_NONE, name, "net.tri:7");
	struct profile_values *v = &p->items.at[item].values;
	p->items.at[item].note = note;
	p->items.at[item].kernel = kind == ITEM_KERNEL ? note : NULL;
	p->items.at[item].ceiling = CEILING_FLOAT;
	profile_set(p, v, METRIC_WALL, 0, ns);
	profile_set(p, v, METRIC_CALLS, 0, calls);
	profile_set(p, v, METRIC_BYTES, 0, bytes);
	return item;
}

/* Takes the profile. Returns how many suggestions of the rule there are; the first is copied. */
static uint32_t found(struct profile *p, const char *rule, struct suggestion *first)
{
	struct suggestions *s = suggest(p);
	uint32_t n = 0;
	for (uint32_t i = 0; i < s->list.len; i++)
		if (strcmp(s->list.at[i].rule, rule) == 0 && n++ == 0 && first)
			*first = s->list.at[i];
	suggestions_free(s);
	profile_free(p);
	return n;
}

static void where_to_run(void **state)
{
	(void)state;
	for (int small = 0; small < 2; small++)
		for (int on_device = 0; on_device < 2; on_device++) {
			struct profile *p = profile_of(PROFILE_RUN);
			p->machine.device = on_device ? "opencl:0" : "cpu";
			add(p, ITEM_KERNEL, "matmul", "tri_matmul_f32", small ? 60e6 : 61e6, small ? 61 : 61, 1);
			if (!small)
				add(p, ITEM_KERNEL, "conv", "tri_conv_f32", 10.1e6, 1, 1);
			assert_int_equal(found(p, "cpu-for-small-operations", NULL), on_device && small);
		}
	for (double ns = 9.9e6; ns < 10.2e6; ns += 0.2e6) {
		struct profile *p = profile_of(PROFILE_RUN);
		add(p, ITEM_KERNEL, "matmul", "tri_matmul_f32", 2 * ns, 2, 1);
		assert_int_equal(found(p, "device-for-large-operations", NULL), ns > 10e6);
	}
}

static void calls_one_after_the_other(void **state)
{
	(void)state;
	static const double calls[] = {9, 10, 99, 100};
	for (size_t i = 0; i < 4; i++)
		for (int large = 0; large < 2; large++) {
			struct profile *p = profile_of(PROFILE_RUN), *q = profile_of(PROFILE_RUN);
			double ns = (large ? 0.11e6 : 0.09e6) * calls[i];
			add(p, ITEM_KERNEL, "step", "tri_matmul_f32", ns, calls[i], 1);
			add(q, ITEM_KERNEL, "step", "tri_matmul_f32", ns, calls[i], 1);
			assert_int_equal(found(p, "batch-calls", NULL), calls[i] >= 10 && calls[i] < 100 && ns >= 1e6);
			assert_int_equal(found(q, "cache-small-calls", NULL), calls[i] >= 100 && !large);
		}
}

static void rows_of_a_batch_share_weights(void **state)
{
	(void)state;
	struct suggestion x;
	for (int batch = 1; batch < 3; batch++)
		for (double runs = 9; runs < 11; runs++) {
			struct profile *p = profile_of(PROFILE_RUN);
			struct profile_weight w = {"w", "trit2", "dense", 4 * 400e6, 0, 400e6};
			vec_push(&p->weights, w);
			profile_add_fact(p, "runs", runs);
			profile_add_setting(p, "batch", batch == 1 ? "1" : "2");
			assert_int_equal(found(p, "batch-calls", &x), batch == 1 && runs >= 10);
		}
	assert_int_equal(x.saving_kind, SAVING_ESTIMATED);
	assert_true(x.saving > 0.34 && x.saving < 0.36); /* 40 ms of 100 ms, seven of eight times */
	assert_int_equal(x.priority, PRIORITY_CRITICAL);
}

static void memory_and_threads(void **state)
{
	(void)state;
	for (int kind = 0; kind < 2; kind++)
		for (double peak = 99e6; peak < 102e6; peak += 2e6) {
			struct profile *p = profile_of(kind ? PROFILE_RUN : PROFILE_BUILD);
			profile_set(p, &p->total, METRIC_PEAK, 0, peak);
			assert_int_equal(found(p, kind ? "memory-of-runs" : "memory-of-builds", NULL), peak > 100e6);
		}
	for (double tensors = 9e6; tensors < 32e6; tensors += 11e6) { /* named from a tenth on */
		struct profile *p = profile_of(PROFILE_RUN);
		uint32_t item = add(p, ITEM_STATEMENT, "softmax", NULL, 1e6, 1, 1);
		profile_set(p, &p->total, METRIC_PEAK, 0, 150e6);
		profile_set(p, &p->items.at[item].values, METRIC_PEAK, 0, tensors);
		struct suggestions *s = suggest(p);
		assert_string_equal(s->list.at[0].rule, "memory-of-runs");
		assert_string_equal(s->list.at[0].subject, tensors > 15e6 ? "softmax" : "whole process");
		suggestions_free(s);
		profile_free(p);
	}
	for (int threads = 1; threads < 3; threads++)
		for (double busy = 0.45; busy < 0.6; busy += 0.1) {
			struct profile *p = profile_of(PROFILE_RUN);
			uint32_t item = add(p, ITEM_KERNEL, "matmul", "tri_matmul_f32", 100e6, 1, 1);
			profile_set(p, &p->items.at[item].values, METRIC_CPU, 0, 200e6 * busy);
			profile_add_setting(p, "threads", threads == 1 ? "1" : "2");
			assert_int_equal(found(p, "idle-threads", NULL), threads == 2 && busy < 0.5);
		}
}

static void what_the_compiler_knows(void **state)
{
	(void)state;
	struct suggestion x;
	struct profile *p = profile_of(PROFILE_RUN);
	add(p, ITEM_STATEMENT, "relu", "loop: relu", 20e6, 1, 20e6); /* 2 ms of copying, of 100 */
	add(p, ITEM_STATEMENT, "add", "loop: add", 20e6, 1, 30e6);
	add(p, ITEM_KERNEL, "conv", "tri_conv_f32", 20e6, 1, 30e6);
	add(p, ITEM_STATEMENT, "mul", "loop: mul", 20e6, 1, 9e6);
	assert_int_equal(found(p, "unfused-neighbours", &x), 1);
	assert_true(x.saving > 0.019 && x.saving < 0.021);
	for (double ns = 0.9e6; ns < 1.2e6; ns += 0.2e6) {
		p = profile_of(PROFILE_RUN);
		add(p, ITEM_KERNEL, "x", "tri_transpose", ns, 1, 1);
		add(p, ITEM_STATEMENT, "x", "loop: tri_transpose", 50e6, 1, 1);
		assert_int_equal(found(p, "copy-between-layouts", NULL), ns >= 1e6);
	}
	p = profile_of(PROFILE_RUN);
	add(p, ITEM_KERNEL, "fc", "tri_matmul_f32_trit2", 40e6, 1, 1);
	uint32_t of_int8 = add(p, ITEM_KERNEL, "fc2", "tri_matmul_i8_trit2", 40e6, 1, 1);
	p->items.at[of_int8].ceiling = CEILING_INT8;
	assert_int_equal(found(p, "float-activations", &x), 1);
	assert_true(x.saving > 0.29 && x.saving < 0.31); /* 40 % of the time becomes 10 % */
	assert_string_equal(x.edit, "nn.BitLinear instead of nn.TernaryLinear");
}

static void weights(void **state)
{
	(void)state;
	static const struct profile_weight list[] = {{"sparse", "trit2", "dense", 8192, 6000, 2048},
						     {"less", "trit2", "dense", 8192, 5000, 2048},
						     {"lists", "trit_lists", "lists", 8192, 8000, 999},
						     {"padded", "trit2", "dense", 8192, 0, 2400},
						     {"fits", "trit2", "dense", 8192, 0, 2200}};
	for (int rule = 0; rule < 2; rule++) {
		struct profile *p = profile_of(PROFILE_RUN);
		for (size_t i = 0; i < sizeof list / sizeof *list; i++)
			vec_push(&p->weights, list[i]);
		struct suggestions *s = suggest(p);
		uint32_t n = 0;
		for (uint32_t i = 0; i < s->list.len; i++)
			if (strcmp(s->list.at[i].rule, rule ? "padded-remainder" : "dense-kernel-on-sparse-weight") == 0) {
				assert_string_equal(s->list.at[i].subject, rule ? "padded" : "sparse");
				n++;
			}
		assert_int_equal(n, 1);
		suggestions_free(s);
		profile_free(p);
	}
}

static void builds(void **state)
{
	(void)state;
	struct suggestion x;
	for (double efficiency = 0.45; efficiency < 0.6; efficiency += 0.1) {
		struct profile *p = profile_of(PROFILE_BUILD);
		profile_add_setting(p, "jobs", "4");
		profile_add_fact(p, "efficiency", efficiency);
		assert_int_equal(found(p, "idle-workers", NULL), efficiency < 0.5);
	}
	for (int cold = 0; cold < 2; cold++) {
		struct profile *p = profile_of(PROFILE_BUILD);
		profile_add_setting(p, "scenario", cold ? "cold" : "warm");
		profile_add_fact(p, "cache.misses", 6);
		profile_add_fact(p, "cache.hits", 4);
		add(p, ITEM_UNIT, "A [4]", NULL, 50e6, 1, 0);
		assert_int_equal(found(p, "cache-misses", NULL), !cold);
	}
	for (double edited = 1; edited < 5; edited += 2) { /* 5 or 3 misses that are no edits */
		struct profile *p = profile_of(PROFILE_BUILD);
		profile_add_fact(p, "cache.misses", 6);
		profile_add_fact(p, "cache.hits", 4);
		profile_add_fact(p, "compiled.its body changed", edited);
		profile_add_fact(p, "compiled.its body changed_ns", 30e6);
		add(p, ITEM_UNIT, "A [4]", NULL, 50e6, 1, 0);
		assert_int_equal(found(p, "cache-misses", &x), edited < 2);
		assert_true(x.saving > 0.19 && x.saving < 0.21);
	}
	for (int is_short = 0; is_short < 2; is_short++) {
		struct profile *p = profile_of(PROFILE_BUILD);
		profile_set(p, &p->total, METRIC_WALL, 0, is_short ? 99e6 : 101e6);
		profile_add_setting(p, "jobs", "2");
		add(p, ITEM_UNIT, "A [4]", NULL, 60e6, 1, 0);
		assert_int_equal(found(p, "large-unit", &x), 1);
		assert_int_equal(x.priority, is_short ? PRIORITY_MEDIUM : PRIORITY_CRITICAL);
	}
	for (int opt = 1; opt < 3; opt++) {
		struct profile *p = profile_of(PROFILE_BUILD);
		profile_add_setting(p, "opt", opt == 1 ? "1" : "2");
		add(p, ITEM_PHASE, "codegen", NULL, 41e6, 1, 0);
		add(p, ITEM_PHASE, "parse", NULL, 59e6, 1, 0);
		assert_int_equal(found(p, "code-generation", &x), 1);
		assert_string_equal(x.edit, opt == 1 ? "--lazy" : "-O1");
	}
	struct profile *p = profile_of(PROFILE_BUILD);
	profile_add_setting(p, "jobs", "2");
	add(p, ITEM_UNIT, "A [4]", NULL, 24e6, 1, 0);
	add(p, ITEM_UNIT, "B [4]", NULL, 26e6, 1, 0);
	assert_int_equal(found(p, "large-unit", &x), 1);
	for (int edit = 0; edit < 2; edit++) {
		p = profile_of(PROFILE_BUILD);
		profile_add_setting(p, "scenario", edit ? "edit" : "warm");
		add(p, ITEM_UNIT, "A [4]", "what it calls changed", 24e6, 1, 0);
		add(p, ITEM_UNIT, "B [4]", "its code changed", 24e6, 1, 0);
		assert_int_equal(found(p, "recompiled-at-every-edit", &x), edit);
	}
}

static void nothing_to_say(void **state)
{
	(void)state;
	for (int kind = 0; kind < 2; kind++) {
		struct profile *p = profile_new(kind ? PROFILE_RUN : PROFILE_BUILD, 0);
		p->machine.device = "cpu";
		struct suggestions *s = suggest(p);
		assert_int_equal(s->list.len, 0);
		suggestions_free(s);
		profile_free(p);
	}
}

int test_suggest(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(where_to_run),
		cmocka_unit_test(calls_one_after_the_other),
		cmocka_unit_test(rows_of_a_batch_share_weights),
		cmocka_unit_test(memory_and_threads),
		cmocka_unit_test(what_the_compiler_knows),
		cmocka_unit_test(weights),
		cmocka_unit_test(builds),
		cmocka_unit_test(nothing_to_say),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
