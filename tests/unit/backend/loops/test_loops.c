/* Fusion, merging and memory planning: tests/golden/loops/NAME.ir gives NAME.loops. TRIB_BLESS=1 writes what comes out. */
#include "tests/unit/unit.h"
#include <stdlib.h>
#include <string.h>
#include "backend/loops/ir/loops.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/os.h"
#include "base/source.h"
#include "tests/unit/backend/plan_loops.h"

#define FOLDER TRIB_SOURCE_DIR "/tests/golden/loops/"

/* Trit matrices are packed, as the planner would have it. */
static struct plan plan_for(struct arena *a, struct ir_fn *f, enum target_id target)
{
	struct plan p = {.options = {.target = target_get(target), .opt = 1},
			 .run_fn = f,
			 .n_slots = f->n_weights,
			 .slots = ARENA_ARRAY(a, struct slot, f->n_weights + 1)};
	for (uint32_t k = 0; k < f->n_weights; k++) {
		p.slots[k].type = f->weights[k];
		p.slots[k].layout = f->weights[k].elem == DT_TRIT ? LAYOUT_TRIT2 : LAYOUT_PLAIN;
	}
	for (ir_ref r = 0; r < f->n_insts; r++)
		if (ir_at(f, r)->op == OP_WEIGHT)
			ir_at(f, r)->layout = (uint8_t)p.slots[ir_number(ir_at(f, r))->number].layout;
	return p;
}

static struct ir_fn *read_fn(struct arena *a, struct sources *s, const char *path)
{
	char *text;
	size_t len;
	struct diags *d = diags_new(0);
	assert_true(os_read_file(path, 0, &text, &len));
	struct ir_fn *f = ir_read(a, sources_add(s, path, text, len), d);
	if (!f)
		diags_print(d, s, stderr, false);
	assert_non_null(f);
	diags_free(d);
	free(text);
	return f;
}

static void check_text(const char *path, const struct buf *got)
{
	char *want = NULL;
	size_t len = 0;
	if (getenv("TRIB_BLESS"))
		assert_true(os_write_atomic(path, got->at, got->len, 0644, false));
	assert_true(os_read_file(path, 0, &want, &len));
	assert_string_equal(got->at, want);
	free(want);
}

/* What is printed is read back as the same. */
static void check_round_trip(struct arena *a, struct sources *s, const struct buf *text)
{
	struct diags *d = diags_new(0);
	struct buf again = {0};
	const struct loop_fn *f = loops_read(a, sources_add(s, "printed.loops", text->at, text->len), d);
	if (!f)
		diags_print(d, s, stderr, false);
	assert_non_null(f);
	loops_print(f, &again);
	assert_string_equal(again.at, text->at);
	buf_free(&again);
	diags_free(d);
}

static void check_golden(const char *name, enum target_id target, const char *golden)
{
	struct arena *a = arena_new(0);
	struct sources *s = sources_new();
	struct buf out = {0}, why = {0};
	struct ir_fn *f = read_fn(a, s, arena_printf(a, FOLDER "%s.ir", name));
	struct plan p = plan_for(a, f, target);
	struct loop_fn *loops = plan_loops(a, &p);
	if (!loops_verify(loops, &why))
		fail_msg("%s", why.at);
	loops_print(loops, &out);
	check_text(arena_printf(a, FOLDER "%s.loops", golden), &out);
	check_round_trip(a, s, &out);
	buf_free(&out);
	buf_free(&why);
	sources_free(s);
	arena_free(a);
}

static void test_golden(void **state)
{
	static const char *const names[] = {"attention", "bitlinear", "checks",    "chunks",          "in_place", "pad",
					    "rows",      "scratch",   "several",   "softmax",         "window",   "softmax_rows",
					    "norm_rows", "transpose", "prologues", "bitlinear_large", "far_rows", "quantizer",
					    "forward"};
	for (size_t k = 0; k < sizeof names / sizeof *names; k++)
		check_golden(names[k], TARGET_X86_64_V3, names[k]);
	check_golden("softmax", TARGET_OPENCL, "softmax_device");
	check_golden("several", TARGET_OPENCL, "several_device");
	check_golden("norm_rows", TARGET_OPENCL, "norm_rows_device");
	check_golden("beside", TARGET_OPENCL, "beside_device");
	check_golden("repeat", TARGET_OPENCL, "repeat_device");
	check_golden("partial_results", TARGET_OPENCL, "partial_results_device");
}

int test_loops(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_golden)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
