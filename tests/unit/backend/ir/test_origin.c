/* Sets of origins: interned, in order, limited, copied with the call that was inlined; what lowering and inlining make of them. */
#include "tests/unit/unit.h"
#include "backend/ir/origin.h"
#include "base/buf.h"
#include "tests/unit/backend/hir_fixture.h"

static struct hir_unit *unit_of_nodes(struct arena *a, const char *symbol, uint32_t n)
{
	struct hir_unit *u = hir_new(a, symbol);
	for (uint32_t k = 0; k < n; k++)
		u->nodes[hir_node_new(u, HIR_CONST, SHAPE(u, DT_FLOAT32, 1))].at = (span){7, 10 * k, 10 * k + 1};
	return u;
}

static void expect_nodes(const struct origins *o, origin_set s, uint32_t n, const hir_ref *nodes)
{
	uint32_t have;
	const uint32_t *members = origins_of(o, s, &have);
	assert_int_equal(have, n);
	for (uint32_t k = 0; k < n; k++)
		assert_int_equal(o->list[members[k]].node, nodes[k]);
}
#define EXPECT_NODES(o, s, ...) expect_nodes(o, s, sizeof((hir_ref[]){__VA_ARGS__}) / sizeof(hir_ref), (hir_ref[]){__VA_ARGS__})

static void test_union(void **state)
{
	struct arena *a = arena_new(0);
	const struct hir_unit *u = unit_of_nodes(a, "u", 4);
	struct origins *o = origins_new(a);
	origin_set s[4];
	for (uint32_t k = 0; k < 4; k++)
		s[k] = origins_add(o, u, k, ORIGIN_NONE);
	origin_set both = origins_union(o, s[2], s[0]);
	EXPECT_NODES(o, both, 2, 0);
	assert_int_equal(origins_union(o, s[2], s[0]), both);
	assert_int_not_equal(origins_union(o, s[0], s[2]), both);
	assert_int_equal(origins_union(o, both, s[0]), both);
	assert_int_equal(origins_union(o, ORIGINS_NONE, both), both);
	assert_int_equal(origins_union(o, both, ORIGINS_NONE), both);
	EXPECT_NODES(o, origins_union(o, both, origins_union(o, s[0], s[3])), 2, 0, 3);
	assert_int_equal(origins_span(o, both).start, 20);
	assert_int_equal(origins_span(o, ORIGINS_NONE).source, SPAN_NO_SOURCE);
	arena_free(a);
}

static void test_limit(void **state)
{
	struct arena *a = arena_new(0);
	const struct hir_unit *u = unit_of_nodes(a, "u", MOST_ORIGINS + 10);
	struct origins *o = origins_new(a);
	origin_set all = ORIGINS_NONE;
	for (uint32_t k = 0; k < u->n_nodes; k++)
		all = origins_union(o, all, origins_add(o, u, k, ORIGIN_NONE));
	uint32_t n;
	const uint32_t *members = origins_of(o, all, &n);
	assert_int_equal(n, MOST_ORIGINS);
	assert_int_equal(o->list[members[0]].node, 0);
	assert_int_equal(origins_union(o, all, origins_add(o, u, 3, ORIGIN_NONE)), all);
	arena_free(a);
}

/* c is inlined into b, and b into a: the layers and the calls are found from the innermost node. */
static void test_inlined(void **state)
{
	struct arena *arena = arena_new(0);
	struct hir_unit *a = unit_of_nodes(arena, "a", 2), *b = unit_of_nodes(arena, "b", 2);
	const struct hir_unit *c = unit_of_nodes(arena, "c", 1);
	a->nodes[1].layer = "net.1";
	b->nodes[1].layer = "conv";
	struct origins *of_a = origins_new(arena), *of_b = origins_new(arena), *of_c = origins_new(arena);
	origin_set in_c = origins_add(of_c, c, 0, ORIGIN_NONE);
	struct origins_copy copy = origins_copy_begin(arena, of_b, of_c, origins_add(of_b, b, 1, ORIGIN_NONE));
	origin_set in_b = origins_copy_set(&copy, in_c);
	assert_int_equal(origins_copy_set(&copy, in_c), in_b);
	copy = origins_copy_begin(arena, of_a, of_b, origins_add(of_a, a, 1, ORIGIN_NONE));
	const struct origins *o = origins_freeze(arena, of_a);
	origin_set in_a = origins_copy_set(&copy, in_b);
	assert_int_equal(o->n, 1); /* frozen before */
	o = origins_freeze(arena, of_a);
	uint32_t n, at = *origins_of(o, in_a, &n);
	static const char *const units[] = {"c", "b", "a"};
	for (uint32_t k = 0; k < 3; k++) {
		assert_string_equal(o->units[o->list[at].unit]->symbol, units[k]);
		struct buf layer = {0};
		origin_print_layer(o, at, &layer);
		assert_string_equal(layer.at, k == 2 ? "net.1" : "net.1.conv");
		buf_free(&layer);
		at = o->list[at].inlined_at;
	}
	assert_int_equal(at, ORIGIN_NONE);
	arena_free(arena);
}

int test_origin(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_union), cmocka_unit_test(test_limit), cmocka_unit_test(test_inlined)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
