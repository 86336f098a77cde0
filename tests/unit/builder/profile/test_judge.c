#include "builder/profile/compare.h"
#include "tests/unit/unit.h"
#include <stdio.h>
#include <string.h>
#include "base/arena.h"
#include "builder/profile/kernel_sums.h"

#define SAMPLES 20
#define STAGES 12

/* Differs by up to 2 % from sample to sample. */
static void set(struct profile *p, struct profile_values *v, enum profile_metric m, double value)
{
	for (uint32_t s = 0; s < p->n_samples; s++)
		profile_set(p, v, m, s, value * (1 + 0.001 * (s * 7 % SAMPLES)));
}

/* A build with stages of 10 ms. */
static struct profile *build(double first_factor)
{
	struct profile *p = profile_new(PROFILE_BUILD, SAMPLES);
	for (uint32_t i = 0; i < STAGES; i++) {
		char name[32];
		snprintf(name, sizeof name, "stage %u", i);
		uint32_t item = profile_add_item(p, ITEM_STAGE, PROFILE_NONE, name, NULL);
		set(p, &p->items.at[item].values, METRIC_CPU, 10e6 * (i ? 1 : first_factor));
	}
	set(p, &p->total, METRIC_CPU, 10e6 * STAGES);
	set(p, &p->total, METRIC_WALL, 10e6 * STAGES);
	return p;
}

static enum change change_of(const struct profile *p, const struct profile *q, const char *path, enum profile_metric m)
{
	struct comparison *c = compare_profiles(p, q, (struct compare_options)COMPARE_DEFAULTS);
	enum change found = CHANGES;
	for (uint32_t i = 0; i < c->n_rows; i++)
		if (c->rows[i].metric == m && strcmp(compare_name(c, &c->rows[i]), path ? path : "whole process") == 0)
			found = c->rows[i].change;
	compare_free(c);
	return found;
}

static void a_stage_is_slower(void **state)
{
	struct profile *p = build(1), *q = build(1.1);
	assert_int_equal(change_of(p, q, "stage 0", METRIC_CPU), CHANGE_REGRESSION);
	assert_int_equal(change_of(q, p, "stage 0", METRIC_CPU), CHANGE_IMPROVEMENT);
	assert_int_equal(change_of(p, q, "stage 1", METRIC_CPU), CHANGE_NONE);
	profile_free(p);
	profile_free(q);
}

/* An arena of a build grows by a step: no regression. Tensors of a run are exact. */
static void memory_grows_in_steps(void **state)
{
	for (int is_run = 0; is_run < 2; is_run++)
		for (uint32_t step = 512; step <= 1024; step *= 2) { /* KiB */
			struct profile *p = build(1), *q = build(1);
			p->kind = q->kind = is_run ? PROFILE_RUN : PROFILE_BUILD;
			for (uint32_t s = 0; s < SAMPLES; s++) {
				profile_set(p, &p->items.at[0].values, METRIC_PEAK, s, 512 << 10);
				profile_set(q, &q->items.at[0].values, METRIC_PEAK, s, (512 + step) << 10);
			}
			assert_int_equal(change_of(p, q, "stage 0", METRIC_PEAK),
					 is_run || step == 1024 ? CHANGE_REGRESSION : CHANGE_NOT_JUDGED);
			profile_free(p);
			profile_free(q);
		}
}

/* A machine that slows down each stage by another factor. */
static void stages_that_differ_anyway(void **state)
{
	struct profile *p = build(1), *q = build(1.1);
	for (uint32_t i = 1; i < STAGES; i++)
		set(q, &q->items.at[i].values, METRIC_CPU, 10e6 * (1 + (i % 2 ? 0.06 : -0.06)));
	assert_int_equal(change_of(p, q, "stage 0", METRIC_CPU), CHANGE_NONE);
	profile_free(p);
	profile_free(q);
}

/* The machine was faster by 6 %: a stage that took 4 % longer has become slower by 10 %. One that took as long is not called slower. */
static void faster_machine(void **state)
{
	struct profile *p = build(1), *q = build(1.04);
	for (uint32_t i = 1; i < STAGES; i++)
		set(q, &q->items.at[i].values, METRIC_CPU, i == 1 ? 10e6 : 9.4e6);
	assert_int_equal(change_of(p, q, "stage 0", METRIC_CPU), CHANGE_REGRESSION);
	assert_int_equal(change_of(p, q, "stage 1", METRIC_CPU), CHANGE_UNDECIDED);
	assert_int_equal(change_of(p, q, "stage 2", METRIC_CPU), CHANGE_NONE);
	profile_free(p);
	profile_free(q);
}

/* Other processes slow down each process of a build by another factor, up to 1.6. */
static void processes_at_other_paces(void **state)
{
	struct profile *p = build(1), *q = build(1.1);
	for (uint32_t i = 0; i < STAGES; i++)
		for (uint32_t s = 0; s < SAMPLES; s++) {
			p->items.at[i].values.of[METRIC_CPU][s] *= 1 + 0.2 * (s * 3 % 4);
			q->items.at[i].values.of[METRIC_CPU][s] *= 1 + 0.2 * (s * 7 % 4);
		}
	assert_int_equal(change_of(p, q, "stage 0", METRIC_CPU), CHANGE_REGRESSION);
	assert_int_equal(change_of(p, q, "stage 1", METRIC_CPU), CHANGE_NONE);
	profile_free(p);
	profile_free(q);
}

/* Everything twice as slow is no state of the machine. */
static void all_stages_are_slower(void **state)
{
	struct profile *p = build(1), *q = build(2);
	for (uint32_t i = 1; i < STAGES; i++)
		set(q, &q->items.at[i].values, METRIC_CPU, 20e6);
	assert_int_equal(change_of(p, q, "stage 0", METRIC_CPU), CHANGE_REGRESSION);
	assert_int_equal(change_of(p, q, "stage 5", METRIC_CPU), CHANGE_REGRESSION);
	profile_free(p);
	profile_free(q);
}

/* Beside other processes all stages are slower by 12 %, and the whole with them. On a quiet machine that is the build's own. */
static void whole_beside_others(void **state)
{
	for (int others = 0; others < 2; others++) {
		struct profile *p = build(1), *q = build(1.12);
		for (uint32_t i = 1; i < STAGES; i++)
			set(q, &q->items.at[i].values, METRIC_CPU, 11.2e6);
		set(q, &q->total, METRIC_CPU, 11.2e6 * STAGES);
		set(p, &p->total, METRIC_OTHERS, others ? 60e6 * p->machine.cores : 0);
		set(q, &q->total, METRIC_OTHERS, others ? 60e6 * q->machine.cores : 0);
		assert_int_equal(change_of(p, q, NULL, METRIC_CPU), others ? CHANGE_UNDECIDED : CHANGE_REGRESSION);
		profile_free(p);
		profile_free(q);
	}
}

/* Most processes of both builds were disturbed, so that all values together tell little. The few others tell 10 %. */
static void the_least_disturbed_decide(void **state)
{
	struct profile *p = build(1), *q = build(1);
	for (uint32_t s = 0; s < SAMPLES; s++) {
		double noise = s < 15 ? 1 + 0.002 * s : 1.3 + 0.04 * (s * 5 % SAMPLES);
		profile_set(p, &p->items.at[0].values, METRIC_CPU, s, 10e6 * noise);
		profile_set(q, &q->items.at[0].values, METRIC_CPU, s, 10e6 * (s < 15 ? 1.1 * noise : noise - 0.02));
	}
	assert_int_equal(change_of(p, q, "stage 0", METRIC_CPU), CHANGE_REGRESSION);
	profile_free(p);
	profile_free(q);
}

static void files_take_any_time(void **state)
{
	struct profile *p = build(1), *q = build(2.5);
	assert_int_equal(change_of(p, q, "stage 0", METRIC_CPU), CHANGE_REGRESSION);
	set(p, &p->items.at[0].values, METRIC_WALL, 10e6);
	set(p, &p->items.at[0].values, METRIC_WRITTEN, 50e6);
	assert_int_equal(change_of(p, q, "stage 0", METRIC_CPU), CHANGE_UNDECIDED);
	set(p, &p->items.at[0].values, METRIC_WRITTEN, 0);
	set(p, &p->items.at[0].values, METRIC_FILES_READ, 20); /* small ones, as of a new cache */
	assert_int_equal(change_of(p, q, "stage 0", METRIC_CPU), CHANGE_UNDECIDED);
	set(q, &q->items.at[0].values, METRIC_CPU, 70e6);
	assert_int_equal(change_of(p, q, "stage 0", METRIC_CPU), CHANGE_REGRESSION);
	profile_free(p);
	profile_free(q);
}

/* Builds wait for a processor while others use it. */
static void wall_time_beside_others(void **state)
{
	struct profile *p = build(1), *q = build(1);
	p->machine.cores = q->machine.cores = 2;
	set(p, &p->total, METRIC_OTHERS, 10e6);
	set(q, &q->total, METRIC_OTHERS, 10e6);
	set(q, &q->total, METRIC_WALL, 15e6 * STAGES);
	assert_int_equal(change_of(p, q, NULL, METRIC_WALL), CHANGE_REGRESSION);
	set(q, &q->total, METRIC_OTHERS, 10e6 * STAGES);
	assert_int_equal(change_of(p, q, NULL, METRIC_WALL), CHANGE_UNDECIDED);
	set(q, &q->total, METRIC_WALL, 300e6 * STAGES); /* no waiting makes it 30 times as long */
	assert_int_equal(change_of(p, q, NULL, METRIC_WALL), CHANGE_REGRESSION);
	assert_int_equal(change_of(q, p, NULL, METRIC_WALL), CHANGE_IMPROVEMENT);
	profile_free(p);
	profile_free(q);
}

static struct profile *run(uint32_t n_samples)
{
	struct profile *p = profile_new(PROFILE_RUN, n_samples);
	static const char *const kernels[] = {"tri_conv_f32", "tri_conv_f32", "tri_transpose"};
	for (uint32_t i = 0; i < 3; i++) {
		char name[32];
		snprintf(name, sizeof name, "call %u", i);
		uint32_t item = profile_add_item(p, ITEM_KERNEL, PROFILE_NONE, name, NULL);
		p->items.at[item].kernel = kernels[i];
		set(p, &p->items.at[item].values, METRIC_WALL, 1e6);
		set(p, &p->items.at[item].values, METRIC_LEAST, 1e6);
	}
	return p;
}

static void calls_of_a_kernel_are_summed(void **state)
{
	struct arena *a = arena_new(0);
	struct profile *p = run(SAMPLES), *q = run(SAMPLES);
	uint32_t n;
	const struct kernel_sum *sums = kernel_sums(a, p, &n);
	assert_int_equal(n, 1);
	assert_string_equal(sums[0].name, "tri_conv_f32");
	assert_int_equal(sums[0].n_items, 2);
	assert_true(sums[0].values.of[METRIC_LEAST][0] == 2e6);
	assert_null(sums[0].values.of[METRIC_CPU]);
	for (uint32_t i = 0; i < 2; i++)
		set(q, &q->items.at[i].values, METRIC_LEAST, 1.1e6);
	assert_int_equal(change_of(p, q, "tri_conv_f32", METRIC_LEAST), CHANGE_REGRESSION);
	profile_free(p);
	profile_free(q);
	arena_free(a);
}

/* The median of the runs of a process is noisier than the fastest one. */
static void the_fastest_run_decides(void **state)
{
	struct profile *p = run(SAMPLES), *q = run(SAMPLES);
	set(q, &q->items.at[2].values, METRIC_WALL, 3e6);
	assert_int_equal(change_of(p, q, "call 2", METRIC_WALL), CHANGE_NOT_JUDGED);
	set(q, &q->items.at[2].values, METRIC_LEAST, 1.1e6);
	assert_int_equal(change_of(p, q, "call 2", METRIC_LEAST), CHANGE_REGRESSION);
	profile_free(p);
	profile_free(q);
}

/* A run of a kernel with `n` items of 1 ms, each slower by a few percent of its own and by the factor. */
static struct profile *run_of_items(uint32_t n, double factor, uint32_t seed)
{
	struct profile *p = profile_new(PROFILE_RUN, SAMPLES);
	for (uint32_t i = 0; i < n; i++) {
		char name[32];
		snprintf(name, sizeof name, "call %u", i);
		uint32_t item = profile_add_item(p, ITEM_KERNEL, PROFILE_NONE, name, NULL);
		p->items.at[item].kernel = "tri_conv_f32";
		set(p, &p->items.at[item].values, METRIC_LEAST, 1e6 * factor * (1 + 0.01 * ((i + seed) % 4)));
	}
	return p;
}

static void all_items_of_a_kernel_are_slower(void **state)
{
	struct profile *p = run_of_items(12, 1, 0), *q = run_of_items(12, 1.08, 1), *r = run_of_items(12, 1, 1);
	assert_int_equal(change_of(p, q, "tri_conv_f32", METRIC_LEAST), CHANGE_REGRESSION);
	set(r, &r->items.at[3].values, METRIC_LEAST, 3e6);
	assert_int_equal(change_of(p, r, "call 3", METRIC_LEAST), CHANGE_REGRESSION);
	assert_int_equal(change_of(p, r, "tri_conv_f32", METRIC_LEAST), CHANGE_NONE);
	profile_free(p);
	profile_free(q);
	profile_free(r);
}

/* Others put their data into the cache that holds the data of an item. */
static void caches_beside_others(void **state)
{
	struct profile *p = run(SAMPLES), *q = run(SAMPLES);
	for (uint32_t i = 0; i < 3; i++) {
		set(p, &p->items.at[i].values, METRIC_BYTES, 8 << 20);
		set(p, &p->items.at[i].values, METRIC_OPERATIONS, i == 2 ? 8 << 20 : 1e9);
	}
	set(p, &p->total, METRIC_WALL, 3e6);
	set(q, &q->total, METRIC_WALL, 3e6);
	set(q, &q->items.at[0].values, METRIC_LEAST, 1.2e6);
	set(q, &q->items.at[2].values, METRIC_LEAST, 1.6e6);
	assert_int_equal(change_of(p, q, "call 0", METRIC_LEAST), CHANGE_REGRESSION);
	assert_int_equal(change_of(p, q, "call 2", METRIC_LEAST), CHANGE_REGRESSION);
	set(q, &q->total, METRIC_OTHERS, 1e6);
	set(p, &p->total, METRIC_OTHERS, 0);
	assert_int_equal(change_of(p, q, "call 0", METRIC_LEAST), CHANGE_UNDECIDED);
	assert_int_equal(change_of(p, q, "call 2", METRIC_LEAST), CHANGE_UNDECIDED);
	set(q, &q->items.at[0].values, METRIC_LEAST, 1.4e6);
	assert_int_equal(change_of(p, q, "call 0", METRIC_LEAST), CHANGE_REGRESSION);
	for (int copies = 0; copies < 2; copies++) { /* 1 MiB: in the caches of a core, but not for a copy */
		set(p, &p->items.at[0].values, METRIC_BYTES, 1 << 20);
		set(p, &p->items.at[0].values, METRIC_OPERATIONS, copies ? 0 : 2 << 20);
		assert_int_equal(change_of(p, q, "call 0", METRIC_LEAST), copies ? CHANGE_UNDECIDED : CHANGE_REGRESSION);
	}
	profile_free(p);
	profile_free(q);
}

/* A build that does nothing: its stages differ by any factor, which is no drift of the machine. */
static void other_work_is_a_change(void **state)
{
	struct profile *p = build(1), *q = build(1);
	for (uint32_t i = 0; i < STAGES; i++)
		set(q, &q->items.at[i].values, METRIC_CPU, 3e6 * (1 + i * i) / 40);
	set(q, &q->total, METRIC_WALL, 10e6 * STAGES / 30);
	set(q, &q->total, METRIC_CPU, 10e6 * STAGES / 30);
	assert_int_equal(change_of(p, q, NULL, METRIC_WALL), CHANGE_IMPROVEMENT);
	assert_int_equal(change_of(p, q, NULL, METRIC_CPU), CHANGE_IMPROVEMENT);
	profile_free(p);
	profile_free(q);
}

/* Five samples cannot pass the test of several figures: then only a large gap between all of them is a change. */
static void few_samples_are_undecided(void **state)
{
	for (int is_far = 0; is_far < 2; is_far++) {
		struct profile *p = profile_new(PROFILE_BUILD, 5), *q = profile_new(PROFILE_BUILD, 5);
		set(p, &p->total, METRIC_WALL, 100e6);
		set(q, &q->total, METRIC_WALL, is_far ? 3e6 : 115e6);
		assert_int_equal(change_of(p, q, NULL, METRIC_WALL), is_far ? CHANGE_IMPROVEMENT : CHANGE_REGRESSION);
		set(p, &p->total, METRIC_CPU, 50e6);
		set(q, &q->total, METRIC_CPU, 50e6);
		set(p, &p->total, METRIC_PEAK, 50e6);
		set(q, &q->total, METRIC_PEAK, 50e6);
		assert_int_equal(change_of(p, q, NULL, METRIC_WALL), is_far ? CHANGE_IMPROVEMENT : CHANGE_UNDECIDED);
		profile_free(p);
		profile_free(q);
	}
}

/* Every second sample ran beside a busy neighbour. */
static void slow_samples_say_nothing(void **state)
{
	struct profile *p = build(1), *q = build(1);
	for (uint32_t s = 0; s < SAMPLES; s++)
		q->items.at[3].values.of[METRIC_CPU][s] *= s % 2 ? 2 : 1.001;
	assert_int_equal(change_of(p, q, "stage 3", METRIC_CPU), CHANGE_NONE);
	profile_free(p);
	profile_free(q);
}

int test_judge(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stage_is_slower),
		cmocka_unit_test(memory_grows_in_steps),
		cmocka_unit_test(whole_beside_others),
		cmocka_unit_test(the_least_disturbed_decide),
		cmocka_unit_test(stages_that_differ_anyway),
		cmocka_unit_test(faster_machine),
		cmocka_unit_test(processes_at_other_paces),
		cmocka_unit_test(all_stages_are_slower),
		cmocka_unit_test(files_take_any_time),
		cmocka_unit_test(wall_time_beside_others),
		cmocka_unit_test(calls_of_a_kernel_are_summed),
		cmocka_unit_test(all_items_of_a_kernel_are_slower),
		cmocka_unit_test(caches_beside_others),
		cmocka_unit_test(the_fastest_run_decides),
		cmocka_unit_test(slow_samples_say_nothing),
		cmocka_unit_test(other_work_is_a_change),
		cmocka_unit_test(few_samples_are_undecided),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
