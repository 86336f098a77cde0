#include "builder/profile/targets.h"
#include "tests/unit/unit.h"
#include <jansson.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "builder/profile/report.h"

static struct scaling_model model(const char *name, double parameters, double layers, double least_ns, double dirty, double peak)
{
	struct scaling_model m = {.name = name, .is_measured = true};
	m.size[SIZE_PARAMETERS] = parameters;
	m.size[SIZE_LAYERS] = layers;
	m.cost =
		(struct scaling_cost){.wall_ns = 3 * least_ns, .least_wall_ns = least_ns, .private_dirty_bytes = dirty, .peak_bytes = peak};
	return m;
}

static enum target_class class_of(double parameters, double layers)
{
	struct scaling_model m = model("m", parameters, layers, 0, 0, 0);
	return target_class_of(&m);
}

/* Both sizes must fit. */
static void classes(void **state)
{
	enum target_class c;
	assert_int_equal(class_of(0, 0), TARGET_SMALL);
	assert_int_equal(class_of(1e6, 20), TARGET_SMALL);
	assert_int_equal(class_of(1e6 + 1, 3), TARGET_MEDIUM);
	assert_int_equal(class_of(1000, 21), TARGET_MEDIUM);
	assert_int_equal(class_of(11689512, 41), TARGET_MEDIUM);
	assert_int_equal(class_of(86567656, 77), TARGET_LARGE);
	assert_int_equal(class_of(60192808, 311), TARGET_VERY_LARGE);
	assert_int_equal(class_of(1e15, 1e6), TARGET_VERY_LARGE);
	assert_true(target_class_parse("very-large", &c));
	assert_int_equal(c, TARGET_VERY_LARGE);
	assert_false(target_class_parse("huge", &c));
}

/* The limits grow from class to class, or a larger model would have to be faster. */
static void limits_grow(void **state)
{
	for (uint32_t i = 1; i < TARGET_CLASSES; i++) {
		assert_true(targets[i].most_parameters > targets[i - 1].most_parameters);
		assert_true(targets[i].most_layers > targets[i - 1].most_layers);
		assert_true(targets[i].wall_ns > targets[i - 1].wall_ns);
		assert_true(targets[i].private_dirty_bytes > targets[i - 1].private_dirty_bytes);
	}
}

static void verdicts(void **state)
{
	const double time = targets[TARGET_SMALL].wall_ns, bytes = targets[TARGET_SMALL].private_dirty_bytes;
	struct target_row good = {model("m", 10, 1, time, bytes, 100 * bytes), false}; /* its median and its resident memory do not count */
	struct target_row slow = {model("m", 10, 1, time + 1, bytes, bytes), false},
			  large = {model("m", 10, 1, time, bytes + 1, bytes), false};
	struct target_row unknown = {model("m", 10, 1, time, 0, bytes + 1), false};
	assert_true(target_time_holds(&good) && target_memory_holds(&good));
	assert_true(!target_time_holds(&slow) && target_memory_holds(&slow));
	assert_true(target_time_holds(&large) && !target_memory_holds(&large));
	assert_false(target_memory_holds(&unknown));
	struct target_rows rows = {0};
	vec_push(&rows.list, good);
	assert_true(targets_hold(&rows));
	vec_push(&rows.list, large);
	assert_false(targets_hold(&rows));
	vec_free(&rows.list);
}

static char *print(struct target_rows *rows, enum report_format format, struct buf *out)
{
	buf_free(out);
	report_targets(rows, &(struct report_options){.format = format}, out);
	return out->at;
}

static void formats(void **state)
{
	struct target_rows rows = {.arena = arena_new(0), .samples = 3};
	struct buf out = {0};
	vec_push(&rows.list, ((struct target_row){model("tiny", 1234, 2, 50e6, 5e6, 30e6), true}));
	vec_push(&rows.list, ((struct target_row){model("wide", 5e6, 2, 900e6, 0, 30e6), false}));
	const char *text = print(&rows, REPORT_TEXT, &out);
	assert_non_null(strstr(
		text, "  small   tiny        1,234       2        50.0 ms  100 ms  PASS       4.77 MiB  9.54 MiB  PASS  28.6 MiB\n"));
	assert_non_null(strstr(
		text, "  medium  wide    5,000,000       2         900 ms  500 ms  FAIL        unknown  47.7 MiB  PASS  28.6 MiB\n"));
	assert_non_null(strstr(text, "\nFAIL: 1 of 2 models keep to their targets\n"));
	assert_non_null(strstr(print(&rows, REPORT_MARKDOWN, &out), "\n| medium | wide | 5,000,000 |"));
	json_t *j = json_loads(print(&rows, REPORT_JSON, &out), 0, NULL);
	assert_non_null(j);
	const json_t *list = json_object_get(j, "rows"), *first = json_array_get(list, 0), *second = json_array_get(list, 1);
	assert_string_equal(json_string_value(json_object_get(j, "verdict")), "FAIL");
	assert_int_equal(json_array_size(list), 2);
	assert_string_equal(json_string_value(json_object_get(first, "class")), "small");
	assert_true(json_is_true(json_object_get(first, "generated")) && json_is_false(json_object_get(second, "generated")));
	assert_string_equal(json_string_value(json_object_get(first, "time")), "PASS");
	assert_string_equal(json_string_value(json_object_get(second, "time")), "FAIL");
	assert_string_equal(json_string_value(json_object_get(second, "memory")), "PASS");
	assert_null(json_object_get(second, "private_dirty_bytes"));
	assert_true(json_number_value(json_object_get(second, "target_ns")) == 500e6);
	json_decref(j);
	vec_free(&rows.list);
	arena_free(rows.arena);
	buf_free(&out);
}

int test_targets(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(classes), cmocka_unit_test(limits_grow), cmocka_unit_test(verdicts),
					   cmocka_unit_test(formats)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
