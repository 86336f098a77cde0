/* Why a unit is compiled: one reason for each kind of change. */
#include "builder/store/history.h"
#include "tests/unit/unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/os.h"
#include "builder/store/store.h"

static struct unit_part part = {PART_INLINED, "shift", {50, 0}, {51, 0}, 0, 0};
static struct build_fn_output output = {.weight = PLAN_NONE, .piece = 0, .nth = 3, .elem = DT_INT8, .rank = 2, .dims = {7, 9}};
static struct slot slots[] = {{.kind = SLOT_DATA, .layout = LAYOUT_TRIT2}, {.kind = SLOT_TABLE, .first_output = 1, .n_args = 2}};
static hash128 callees[] = {{0, 0}, {60, 1}}, piece = {61, 1};
static uint32_t piece_of[] = {0, PLAN_NONE};
static struct origin origin_list[] = {{0, 5, ORIGIN_NONE}, {1, 2, 0}};
static uint32_t origin_members[] = {0, 1, 0}, origin_starts[] = {0, 0, 1, 3};
static struct plan_statement statements[] = {{"loop", 2, 0, 2}, {"tri_sort_f32", 0, 1, 1}};
static hash128 origin_units[] = {{1, 0}, {70, 0}};
static struct origins origin_table = {
	.list = origin_list, .members = origin_members, .starts = origin_starts, .n_units = 2, .n = 2, .n_members = 3, .n_sets = 3};
static struct summary_input inputs[] = {{DT_FLOAT32, 4, false, 3, 1, 0}, {DT_FLOAT16, 2, true, 0, IR_NONE, READS_ROWS}};
static struct summary_value operands[] = {{IR_NONE, 0, true, true, IR_NONE, IR_NONE, 0}, {1, IR_NONE, false, false, IR_NONE, 0, 3}};
static uint32_t results[] = {0, IR_NONE};
static struct summary_call calls[] = {{OP_CALL, {"callee", {80, 1}, 0}, {0}, operands, 2, results, 2},
				      {OP_IF, {"yes", {81, 1}, 0}, {"no", {82, 1}, 0}, operands, 1, results, 0}};
static struct summary_conv conv = {DT_TRIT, 1, 0, true};
static struct summary_output out = {DT_FLOAT32, 4, {1, IR_NONE, false, false, 0, 1, 2}, 0, IR_NONE};
static const struct unit_record before = {
	.name = "Block(8)",
	.file = "src/net.tri",
	.definition = "Block",
	.backend = "cpu",
	.tokens = {2, 0},
	.key = {4, 0},
	.target = {6, 0},
	.cpu = "native",
	.made = {.identity = {1, 0},
		 .code = {3, 0},
		 .compiler = {5, 0},
		 .opt = 1,
		 .parts = &part,
		 .n_parts = 1,
		 .callees = callees,
		 .origin_units = origin_units,
		 .plan = {.slots = slots,
			  .n_slots = 2,
			  .origins = {&origin_table, statements, 2},
			  .build_fn_hash = {6, 0},
			  .run_fn_hash = {7, 0},
			  .interface = {.piece_of = piece_of,
					.n_weights = 2,
					.outputs = &output,
					.n_outputs = 1,
					.pieces = &piece,
					.n_pieces = 1}}},
	.summary = {.inputs = inputs,
		    .n_inputs = 2,
		    .n_groups = 2,
		    .outputs = &out,
		    .n_outputs = 1,
		    .calls = calls,
		    .n_calls = 2,
		    .convs = &conv,
		    .n_convs = 1},
};

/* Of a unit whose callees are units. */
static void print_summary(struct arena *a, struct unit_summary s, struct buf *text)
{
	struct ir_program *p = ir_program_new(a);
	for (uint32_t k = 0; k < 3; k++)
		ir_program_add_unit(p, &(struct unit_summary){.symbol = "callee", .identity = {80 + k, 1}});
	s.symbol = "unit";
	assert_true(ir_program_add_unit(p, &s));
	ir_program_print(p, text);
	ir_program_free(p);
}

static void same_summary(struct arena *a, struct unit_summary s)
{
	struct buf want = {0}, got = {0};
	print_summary(a, before.summary, &want);
	print_summary(a, s, &got);
	assert_string_equal(got.at, want.at);
	buf_free(&want);
	buf_free(&got);
}

static void explains(struct unit_record now, const char *want)
{
	struct arena *a = arena_new(0);
	bool same = hash_eq(now.made.identity, before.made.identity), kin = strcmp(now.definition, before.definition) == 0;
	assert_string_equal(history_explain(a, same ? &before : NULL, kin ? &before : NULL, &now, 12).text, want);
	arena_free(a);
}

static void reasons(void **state)
{
	struct unit_record now = before;
	explains(now, "fragment missing from the cache");
	now.key.lo = 40;
	explains(now, "what it calls changed");
	now.made.code.lo = 30;
	explains(now, "a constant, type or signature that it uses changed");
	struct unit_part changed = {PART_INLINED, "shift", {50, 0}, {52, 0}, 0, 0};
	now.made.parts = &changed;
	explains(now, "inlined callee shift changed");
	now.tokens.lo = 20;
	explains(now, "its body changed (src/net.tri:12)");
	now.target.lo = 60;
	now.cpu = "x86-64-v3";
	explains(now, "option changed: cpu native -> x86-64-v3");
	now.made.opt = 2;
	explains(now, "option changed: opt 1 -> 2");
	now.made.compiler.lo = 70;
	explains(now, "the compiler changed");
	now.made.identity.lo = 9;
	now.name = "Block(16)";
	explains(now, "arguments or shapes changed (it was Block(8))");
	now.definition = "Other";
	explains(now, "new");
}

struct fixture {
	char dir[32];
	struct arena *a;
	struct store *s;
	struct buf warning;
};

static void open_store(struct fixture *f)
{
	char folder[64];
	memset(f, 0, sizeof *f);
	strcpy(f->dir, "/tmp/trib-history-XXXXXX");
	f->a = arena_new(0);
	assert_non_null(mkdtemp(f->dir));
	snprintf(folder, sizeof folder, "%s/store", f->dir);
	f->s = store_open(folder, true, &f->warning);
}

static void close_store(struct fixture *f)
{
	store_close(f->s, &f->warning);
	os_remove_tree(f->dir);
	arena_free(f->a);
}

static void round_trip(void **state)
{
	struct fixture f;
	open_store(&f);
	struct history *none = history_load(f.a, f.s, "m");
	assert_int_equal(none->n, 0);
	const struct unit_record *list = &before;
	history_save(f.s, "m", none, &list, 1);
	struct history *back = history_load(f.a, f.s, "m");
	assert_int_equal(back->n, 1);
	const struct unit_record *u = history_find(back, before.made.identity, "cpu");
	assert_non_null(u);
	assert_ptr_equal(history_of_definition(back, "src/net.tri", "Block", "cpu"), u);
	assert_string_equal(u->name, "Block(8)");
	assert_true(hash_eq(u->key, before.key));
	assert_string_equal(u->made.parts[0].name, "shift");
	assert_int_equal(u->made.plan.n_slots, 2);
	assert_int_equal(u->made.plan.slots[0].layout, LAYOUT_TRIT2);
	assert_int_equal(u->made.plan.slots[1].n_args, 2);
	assert_true(hash_eq(u->made.callees[1], callees[1]));
	assert_true(hash_eq(u->made.plan.interface.pieces[0], piece));
	assert_int_equal(u->made.plan.interface.piece_of[1], PLAN_NONE);
	assert_int_equal(u->made.plan.interface.outputs[0].nth, 3);
	assert_int_equal(u->made.plan.interface.outputs[0].dims[1], 9);
	const struct plan_origins *o = &u->made.plan.origins;
	assert_true(hash_eq(u->made.origin_units[1], origin_units[1]));
	assert_memory_equal(o->table->list, origin_list, sizeof origin_list);
	assert_memory_equal(o->table->members, origin_members, sizeof origin_members);
	assert_memory_equal(o->table->starts, origin_starts, sizeof origin_starts);
	assert_int_equal(o->n, 2);
	assert_int_equal(o->statements[0].origins, 2);
	assert_string_equal(o->statements[1].name, "tri_sort_f32");
	assert_true(o->statements[0].kind == 0 && o->statements[0].ceiling == 2 && o->statements[1].kind == 1 &&
		    o->statements[1].ceiling == 1);
	assert_int_equal(u->summary.n_groups, 2);
	same_summary(f.a, u->summary);
	assert_null(history_find(back, (hash128){99, 99}, "cpu"));
	history_free(back);
	history_free(none);
	close_store(&f);
}

/* Many units are many shards; one that changes rewrites its own. */
static void shards(void **state)
{
	enum { N = 1000 };
	struct fixture f;
	open_store(&f);
	struct unit_record *units = ARENA_ARRAY(f.a, struct unit_record, N);
	const struct unit_record **list = ARENA_ARRAY(f.a, const struct unit_record *, N);
	for (uint32_t i = 0; i < N; i++) {
		units[i] = before;
		units[i].made.identity = hash_bytes(&i, sizeof i);
		list[i] = &units[i];
	}
	struct history *none = history_load(f.a, f.s, "m");
	history_save(f.s, "m", none, list, N);
	struct history *all = history_load(f.a, f.s, "m");
	assert_int_equal(all->n, N);
	for (uint32_t i = 0; i < N; i++)
		list[i] = history_find(all, units[i].made.identity, "cpu");
	units[5].key.lo = 78;
	list[5] = &units[5];
	history_save(f.s, "m", all, list, N - 1); /* one changes, one goes */
	struct history *less = history_load(f.a, f.s, "m");
	assert_int_equal(less->n, N - 1);
	assert_int_equal(history_find(less, units[5].made.identity, "cpu")->key.lo, 78);
	assert_null(history_find(less, units[N - 1].made.identity, "cpu"));
	struct history *lists[] = {none, all, less};
	for (int i = 0; i < 3; i++)
		history_free(lists[i]);
	close_store(&f);
}

int test_history(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(reasons), cmocka_unit_test(round_trip), cmocka_unit_test(shards)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
