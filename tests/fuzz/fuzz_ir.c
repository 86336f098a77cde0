/* The reader of the tensor IR. An accepted text is printed and read back as the same text, and goes through every pass. */
#include <string.h>
#include "backend/ir/ir.h"
#include "backend/passes/passes.h"
#include "backend/target/target.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/bug.h"
#include "base/diag.h"
#include "base/source.h"
#include "tests/fuzz/fuzz.h"

static void round_trip(struct arena *a, struct sources *s, struct diags *d, const struct ir_fn *f)
{
	struct buf first = {0}, second = {0};
	ir_print(f, &first);
	struct ir_fn *again = ir_read(a, sources_add(s, "again.ir", first.at, first.len), d);
	BUG_ON(!again);
	ir_print(again, &second);
	BUG_ON(first.len != second.len || memcmp(first.at, second.at, first.len));
	buf_free(&first);
	buf_free(&second);
}

static void optimise(struct ir_fn *f, struct diags *d)
{
	struct pass_context c =
		pass_context_new(&(struct plan_options){.target = target_get(TARGET_X86_64_V3), .opt = 3, .verify = true}, d, NULL);
	BUG_ON(!passes_run(f, &c, ALL_PASSES));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > 1 << 16)
		return 0;
	struct arena *a = arena_new(0);
	struct sources *s = sources_new();
	struct diags *d = diags_new(0);
	struct ir_fn *f = ir_read(a, sources_add(s, "fuzz.ir", (const char *)data, size), d);
	if (f) {
		round_trip(a, s, d, f);
		optimise(f, d);
	} else {
		BUG_ON(!diags_errors(d));
	}
	diags_free(d);
	sources_free(s);
	arena_free(a);
	return 0;
}
