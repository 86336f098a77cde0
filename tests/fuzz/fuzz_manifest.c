/* Any text as a manifest; `include` reads the same text. */
#include "base/arena.h"
#include "base/diag.h"
#include "builder/manifest/manifest.h"
#include "builder/manifest/options.h"
#include "builder/manifest/build_spec.h"
#include "tests/fuzz/fuzz.h"

static const struct source *load(void *ctx, const char *path)
{
	(void)path;
	return sources_get(ctx, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new(0);
	struct diags *d = diags_new(0);
	struct sources *s = sources_new();
	struct options o = {.opt = -1, .most_failures = -1, .verbose = -1, .explain = -1, .timing = -1, .no_cache = -1, .low_memory = -1};
	struct build_spec spec;

	sources_add(s, "tri.build", (const char *)data, size);
	const struct manifest *m = manifest_read(a, (struct frontend_host){load, s}, "tri.build", d);
	build_spec_make(a, m, &o, &spec, d);
	sources_free(s);
	diags_free(d);
	arena_free(a);
	return 0;
}
