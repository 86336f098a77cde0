#include "builder/profile/profile.h"
#include "tests/unit/unit.h"
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"

/* Two phases; the second has a stage. Times are multiples of `scale`. */
static struct profile *sample(double scale, const char *stage)
{
	struct profile *p = profile_new(PROFILE_BUILD, 1);
	uint32_t lex = profile_add_item(p, ITEM_PHASE, PROFILE_NONE, "lex", NULL);
	uint32_t codegen = profile_add_item(p, ITEM_PHASE, PROFILE_NONE, "codegen", NULL);
	uint32_t inner = profile_add_item(p, ITEM_STAGE, codegen, stage, "src/net.tri:12");
	profile_set(p, &p->items.at[lex].values, METRIC_WALL, 0, scale);
	profile_set(p, &p->items.at[codegen].values, METRIC_WALL, 0, 10 * scale);
	profile_set(p, &p->items.at[inner].values, METRIC_WALL, 0, 7.5 * scale);
	profile_set(p, &p->total, METRIC_WALL, 0, 12 * scale);
	profile_add_setting(p, "opt", "1");
	profile_add_setting(p, "jobs", "2");
	profile_add_fact(p, "efficiency", 0.5);
	return p;
}

static char *print(const struct profile *p)
{
	struct buf b = {0};
	profile_print(p, &b);
	return b.at;
}

static void same_after_writing_and_reading(void **state)
{
	struct profile *p = sample(3, "emit");
	struct profile_span span = {2, 1, 100, 200, true};
	struct profile_counter memory = {.name = "memory", .unit = UNIT_BYTES};
	struct profile_point point = {5, 4096};
	struct profile_edge edge = {0, 1};
	struct buf error = {0};
	vec_push(&memory.points, point);
	vec_push(&p->spans, span);
	vec_push(&p->counters, memory);
	vec_push(&p->edges, edge);
	p->items.at[2].kernel = "tri_conv_f32";
	p->items.at[2].ceiling = CEILING_INT8;
	char *text = print(p);
	struct profile *back = profile_parse(text, strlen(text), &error);
	assert_non_null(back);
	assert_string_equal(back->items.at[2].kernel, "tri_conv_f32");
	assert_true(back->items.at[2].ceiling == CEILING_INT8 && back->items.at[1].ceiling == CEILING_UNKNOWN && !back->items.at[1].kernel);
	assert_true(back->spans.len == 1 && back->spans.at[0].item == 2 && back->spans.at[0].ns == 200 && back->spans.at[0].is_critical);
	char *again = print(back);
	assert_string_equal(text, again);
	assert_string_equal(profile_setting(back, "jobs"), "2");
	assert_null(profile_setting(back, "cpu"));
	assert_true(profile_fact(back, "efficiency", 0) == 0.5);
	profile_free(p);
	profile_free(back);
	free(text);
	free(again);
}

static void samples_of_two_processes(void **state)
{
	struct profile *p = sample(1, "emit"), *q = sample(2, "passes");
	struct arena *a = arena_new(0);
	profile_append(p, q);
	assert_int_equal(p->n_samples, 2);
	assert_int_equal(p->items.len, 4); /* lex, codegen, codegen/emit, codegen/passes */
	assert_true(p->total.of[METRIC_WALL][0] == 12 && p->total.of[METRIC_WALL][1] == 24);
	assert_true(p->items.at[1].values.of[METRIC_WALL][1] == 20);
	assert_true(p->items.at[2].values.of[METRIC_WALL][0] == 7.5 && p->items.at[2].values.of[METRIC_WALL][1] == 0);
	assert_string_equal(profile_item_path(a, p, 3), "codegen/passes");
	assert_true(p->items.at[3].values.of[METRIC_WALL][0] == 0 && p->items.at[3].values.of[METRIC_WALL][1] == 15);
	assert_true(profile_median(p, &p->total, METRIC_WALL) == 18);
	assert_null(p->total.of[METRIC_CPU]);
	arena_free(a);
	profile_free(p);
	profile_free(q);
}

static void rejects(const char *text, const char *why)
{
	struct buf error = {0};
	assert_null(profile_parse(text, strlen(text), &error));
	assert_non_null(strstr(error.at, why));
	buf_free(&error);
}

#define HEAD "{\"type\":\"profile\",\"version\":1,\"kind\":\"build\",\"machine\":{\"cores\":2,\"memory_bytes\":1},\"samples\":2,"

static void damaged_files(void **state)
{
	rejects("", "cannot be read as JSON: line 1");
	rejects("{\"type\":\"profile\",\"version\":1,", "cannot be read as JSON: line 1");
	rejects("{\"type\":\"build\"}", "not a profile");
	rejects("{\"type\":\"profile\",\"version\":2}", "newer trib");
	rejects("{\"type\":\"profile\",\"version\":1,\"kind\":\"x\"}", "`kind`");
	rejects(HEAD "\"total\":{\"wall_ns\":[1]}}", "`wall_ns`");
	rejects(HEAD "\"total\":{\"wall_ns\":[1,\"2\"]}}", "not a number");
	rejects(HEAD "\"items\":[{\"kind\":\"phase\",\"name\":\"lex\",\"parent\":0}]}", "first item");
	rejects(HEAD "\"items\":[{\"kind\":\"shape\",\"name\":\"lex\"}]}", "`kind`");
	rejects(HEAD "\"items\":[{\"kind\":\"phase\",\"name\":\"lex\"}],\"spans\":[[1,0,0,0,0]]}", "`spans`");
	rejects(HEAD "\"items\":[{\"kind\":\"phase\",\"name\":\"lex\"}],\"spans\":[[0,0,-1,0,0]]}", "`spans`");
	rejects(HEAD "\"edges\":[[0,0]]}", "no items");
	rejects(HEAD "\"counters\":[{\"name\":\"memory\",\"points\":[[0]]}]}", "counter");
}

/* Writes a profile whose items are nested, with names of `name_len` bytes, and reads it. NULL: *error says why. */
static struct profile *nested(uint32_t depth, uint32_t name_len, struct buf *error)
{
	struct profile *p = profile_new(PROFILE_BUILD, 1);
	char *name = calloc(name_len + 1, 1);
	memset(name, 'n', name_len);
	for (uint32_t i = 0; i < depth; i++) {
		uint32_t item = profile_add_item(p, ITEM_STAGE, i ? i - 1 : PROFILE_NONE, name, NULL);
		profile_set(p, &p->items.at[item].values, METRIC_WALL, 0, 1e9);
	}
	char *text = print(p);
	struct profile *read = profile_parse(text, strlen(text), error);
	free(text);
	free(name);
	profile_free(p);
	return read;
}

static void deep_trees(void **state)
{
	struct buf error = {0};
	struct arena *a = arena_new(0);
	struct profile *p = nested(PROFILE_MOST_DEPTH, 3, &error), *q = nested(PROFILE_MOST_DEPTH, 3, &error);
	assert_non_null(p);
	profile_append(p, q);
	assert_int_equal(p->items.len, PROFILE_MOST_DEPTH);
	assert_string_equal(profile_item_path(a, p, 2), "nnn/nnn/nnn");
	assert_ptr_equal(profile_item_root(p, PROFILE_MOST_DEPTH - 1), &p->items.at[0]);
	assert_null(nested(PROFILE_MOST_DEPTH + 1, 3, &error));
	assert_non_null(strstr(error.at, "item 1000 is nested deeper than 1000 items"));
	error.len = 0;
	assert_null(nested(3, PROFILE_MOST_PATH / 3, &error));
	assert_non_null(strstr(error.at, "the path of item 2 is longer than 65536 bytes"));
	buf_free(&error);
	arena_free(a);
	profile_free(p);
	profile_free(q);
}

int test_profile(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_after_writing_and_reading),
		cmocka_unit_test(samples_of_two_processes),
		cmocka_unit_test(damaged_files),
		cmocka_unit_test(deep_trees),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
