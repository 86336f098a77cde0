/* Why a unit is compiled: one reason for each kind of change. */
#include "builder/history.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/os.h"
#include "builder/store.h"

static struct unit_part part = {"shift", {50, 0}, {51, 0}};
static const struct unit_record before = {
	.name = "Block(8)", .file = "src/net.tri", .definition = "Block", .identity = {1, 0}, .tokens = {2, 0}, .code = {3, 0}, .key = {4, 0},
	.compiler = {5, 0}, .target = {6, 0}, .cpu = "native", .opt = 1, .compile_ns = 77, .parts = &part, .n_parts = 1,
};

static void explains(struct unit_record now, const char *want)
{
	struct arena *a = arena_new(0);
	struct unit_record then = before;
	struct history h = {&then, 1};
	assert_string_equal(history_explain(a, &h, &now, 12), want);
	arena_free(a);
}

static void reasons(void **state)
{
	(void)state;
	struct unit_record now = before;
	explains(now, "fragment missing from the cache");
	now.key.lo = 40;
	explains(now, "what it calls changed");
	now.code.lo = 30;
	explains(now, "a constant, type or signature that it uses changed");
	struct unit_part changed = {"shift", {50, 0}, {52, 0}};
	now.parts = &changed;
	explains(now, "inlined callee shift changed");
	now.tokens.lo = 20;
	explains(now, "its body changed (src/net.tri:12)");
	now.target.lo = 60;
	now.cpu = "x86-64-v3";
	explains(now, "option changed: cpu native -> x86-64-v3");
	now.opt = 2;
	explains(now, "option changed: opt 1 -> 2");
	now.compiler.lo = 70;
	explains(now, "the compiler changed");
	now.identity.lo = 9;
	now.name = "Block(16)";
	explains(now, "arguments or shapes changed (it was Block(8))");
	now.definition = "Other";
	explains(now, "new");
}

static void round_trip(void **state)
{
	(void)state;
	char dir[] = "/tmp/trib-history-XXXXXX", folder[64];
	struct arena *a = arena_new(0);
	struct buf w = {0};
	assert_non_null(mkdtemp(dir));
	snprintf(folder, sizeof folder, "%s/store", dir);
	struct unit_record then = before;
	struct history h = {&then, 1};
	struct store *s = store_open(folder, true, &w);
	assert_int_equal(history_load(a, s, "m")->n, 0);
	history_save(s, "m", &h);
	const struct history *back = history_load(a, s, "m");
	assert_int_equal(back->n, 1);
	const struct unit_record *u = history_find(back, before.identity);
	assert_non_null(u);
	assert_string_equal(u->name, "Block(8)");
	assert_int_equal(u->compile_ns, 77);
	assert_string_equal(u->parts[0].name, "shift");
	assert_null(history_find(back, (hash128){99, 99}));
	store_close(s, &w);
	os_remove_tree(dir);
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(reasons), cmocka_unit_test(round_trip)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
