/* Any bytes as a source file: loading, checking and elaborating every layer and function must neither crash nor hang. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/diag.h"
#include "base/source.h"
#include "frontend/core.h"
#include "frontend/frontend.h"

struct input {
	struct sources *sources;
	const uint8_t *data;
	size_t size;
};

static const struct source *load(void *ctx, const char *path)
{
	struct input *in = ctx;
	return strcmp(path, "main.tri") ? NULL : sources_add(in->sources, path, (const char *)in->data, in->size);
}

static void elaborate(struct frontend *f, const char *entry)
{
	const char *weights[] = {"w", "weight", "b"};
	struct elab_input x = {.name = "x", .elem = DT_FLOAT32, .rank = 2, .dims = {DIM_DYNAMIC, 64}, .at = SPAN_NONE};
	struct elab_request r = {.entries = &entry,
				 .n_entries = 1,
				 .inputs = &x,
				 .n_inputs = 1,
				 .weight_names = weights,
				 .n_weight_names = 3,
				 .at = SPAN_NONE};
	struct core_program *p = frontend_elaborate(f, &r);
	struct buf text = {0};
	for (uint32_t i = 0; p && i < p->n_units; i++) {
		core_unit_hash(p->units[i]);
		core_print(p->units[i], &text);
	}
	buf_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sources *s = sources_new();
	struct input in = {s, data, size};
	struct diags *d = diags_new(50);
	struct frontend *f = frontend_new(s, (struct frontend_host){load, &in}, d);
	const struct frontend_def *defs;
	frontend_add_file(f, "main.tri");
	frontend_check(f);
	uint32_t n = frontend_defs(f, &defs);
	for (uint32_t i = 0, done = 0; i < n && done < 4; i++)
		if (!strcmp(defs[i].file, "main.tri") && strcmp(defs[i].name, "main"))
			elaborate(f, defs[i].name), done++;
	frontend_free(f);
	diags_free(d);
	sources_free(s);
	return 0;
}
