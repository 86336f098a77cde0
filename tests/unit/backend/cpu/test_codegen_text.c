/* Compiled loop IR that no source gives yet, from its text, against the interpreter of loop IR: blocks within blocks. */
#include "tests/unit/unit.h"
#include <math.h>
#include "backend/loops/interp/interp.h"
#include "backend/runtime/abi/unit.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/os.h"
#include "base/source.h"
#include "tests/unit/backend/cpu/codegen_native.h"

enum { ROWS = 4, COLUMNS = 22 };

static const struct loop_fn *read_file(struct arena *a, const char *path)
{
	struct sources *sources = sources_new();
	struct diags *d = diags_new(0);
	struct buf why = {0};
	char *text;
	size_t len;
	assert_true(os_read_file(path, 0, &text, &len));
	const struct loop_fn *f = loops_read(a, sources_add(sources, path, text, len), d);
	diags_print(d, sources, stderr, false);
	if (!f || !loops_verify(f, &why))
		fail_msg("%s: %s", path, why.at ? why.at : "not read");
	diags_free(d);
	sources_free(sources);
	free(text);
	return f;
}

static void nested_blocks(void **state)
{
	static const enum target_id targets[] = {TARGET_X86_64_V2, TARGET_X86_64_V3, TARGET_X86_64_V4};
	struct arena *a = arena_new(0);
	const struct loop_fn *f = read_file(a, TRIB_SOURCE_DIR "/tests/golden/loops/nested.loops");
	float x[ROWS * COLUMNS], want[3][ROWS], got[3][ROWS];
	char scratch[64];
	struct loop_error e = {0};
	for (int i = 0; i < ROWS * COLUMNS; i++)
		x[i] = (float)(i * 7 % 41) / 64;
	if (!loop_interp(f, (void *[]){x, want[0], want[1]}, NULL, NULL, &(struct loop_host){0}, &e))
		fail_msg("%s", e.text);
	for (size_t k = 0; k < 3 * 3; k++) {
		const struct target *t = target_get(targets[k / 3]);
		struct codegen_target ct = codegen_target_for(t, (uint8_t)(k % 3), false, false);
		struct native native;
		tri_unit_fn *fn;
		if (!target_runs_here(t))
			continue;
		assert_true(native_begin(&native) && native_add(&native, &ct, f) && native_link(&native));
		*(void **)&fn = dlsym(native.library, "nested");
		memset(got, 0x5a, sizeof got);
		fn(NULL, (void *[]){x, got[0], got[1]}, NULL, NULL, scratch);
		for (int i = 0; i < 3 * ROWS; i++)
			assert_true(fabsf(got[i / ROWS][i % ROWS] - want[i / ROWS][i % ROWS]) <= 1e-5f);
		native_end(&native);
	}
	assert_true(want[0][0] > 1);
	arena_free(a);
}

int test_codegen_text(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(nested_blocks)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
