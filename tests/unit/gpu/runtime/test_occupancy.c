#include "gpu/runtime/occupancy.h"
#include "tests/unit/unit.h"

/* A GPU of 10 compute units; each holds at least 1,024 work items. */
static const struct tri_cl_capacity gpu = {.compute_units = 10, .most_group = 1024, .unit_items = 1024, .local_bytes = 49152};

static void is(double occupancy, double want) { assert_true(occupancy > want - 1e-9 && occupancy < want + 1e-9); }

static void too_few_groups(void **state)
{
	tri_launch l = {.work_group = 64, .most_work_group = 1024, .work_items = 10 * 64};
	is(tri_cl_occupancy(&gpu, &l, false), 64.0 / 1024); /* a group on each unit */
	l.work_items = 1 * 64;
	is(tri_cl_occupancy(&gpu, &l, false), 6.4 / 1024);
	l.work_items = 160 * 64;
	is(tri_cl_occupancy(&gpu, &l, false), 1);
	l.work_items = 100000 * 64;
	is(tri_cl_occupancy(&gpu, &l, false), 1);
	l.work_items = 0;
	is(tri_cl_occupancy(&gpu, &l, false), 0);
}

static void registers_bound_it(void **state)
{
	tri_launch l = {.work_group = 64, .most_work_group = 256, .work_items = 1000 * 64};
	is(tri_cl_occupancy(&gpu, &l, false), 0.25);
	is(tri_cl_occupancy(&gpu, &l, true), 1); /* some drivers return the fixed size as the largest */
}

static void local_memory_bounds_it(void **state)
{
	tri_launch l = {.work_group = 64, .most_work_group = 1024, .work_items = 1000 * 64, .local_bytes = 16384};
	is(tri_cl_occupancy(&gpu, &l, false), 3 * 64.0 / 1024);
	l.local_bytes = 30000;
	is(tri_cl_occupancy(&gpu, &l, false), 64.0 / 1024);
}

/* A driver says 1,024 and 48 KiB, which are those of a group. */
static void known_devices(void **state)
{
	struct tri_cl_capacity c = {.compute_units = 10, .most_group = 1024, .unit_items = 1024, .local_bytes = 49152};
	tri_launch l = {.work_group = 128, .most_work_group = 1024, .work_items = 1000 * 128, .local_bytes = 48 << 10};
	tri_cl_nvidia_capacity(&c, 9, 0);
	is(tri_cl_occupancy(&c, &l, false), 4 * 128 / 2048.0); /* 228 KiB */
	l.local_bytes = 0;
	is(tri_cl_occupancy(&c, &l, false), 1); /* registers may allow more than the largest group */
	l.most_work_group = 512;
	is(tri_cl_occupancy(&c, &l, false), 512 / 2048.0);
	c.unit_items = 1024;
	l.local_bytes = 48 << 10;
	tri_cl_nvidia_capacity(&c, 99, 0); /* of the future: no bound that may be wrong */
	is(tri_cl_occupancy(&c, &l, true), 1);
}

static void processors_run_one_group_at_a_time(void **state)
{
	struct tri_cl_capacity cpu = {.is_cpu = true, .compute_units = 4, .unit_items = 4096, .local_bytes = 1 << 20};
	tri_launch l = {.work_group = 64, .most_work_group = 4096, .work_items = 3 * 64};
	is(tri_cl_occupancy(&cpu, &l, false), 0.75);
	l.work_items = 5 * 64;
	is(tri_cl_occupancy(&cpu, &l, false), 1);
	cpu.compute_units = 0; /* a driver that does not tell */
	is(tri_cl_occupancy(&cpu, &l, false), 1);
}

int test_occupancy(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(too_few_groups),
		cmocka_unit_test(registers_bound_it),
		cmocka_unit_test(local_memory_bounds_it),
		cmocka_unit_test(known_devices),
		cmocka_unit_test(processors_run_one_group_at_a_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
