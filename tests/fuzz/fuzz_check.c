/* Any bytes as source files: loading, checking and elaborating layers and functions must neither crash nor hang. The first file is
 * main.tri; a line `=== NAME` begins another, which may be imported. */
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/diag.h"
#include "base/source.h"
#include "frontend/frontend.h"
#include "frontend/hir/hir.h"
#include "tests/fuzz/fuzz.h"

struct input {
	struct sources *sources;
	const char *data, *end;
};

/* Where the next file begins, with its `===`; or the end. */
static const char *next_file(const char *at, const char *end)
{
	static const char mark[] = "\n=== ";
	const size_t n = sizeof mark - 1;
	for (; (size_t)(end - at) >= n && (at = memchr(at, '\n', (size_t)(end - at) - n + 1)); at++)
		if (!memcmp(at, mark, n))
			return at;
	return end;
}

static const struct source *load(void *ctx, const char *path)
{
	struct input *in = ctx;
	const char *stop = next_file(in->data, in->end);
	if (!strcmp(path, "main.tri"))
		return sources_add(in->sources, path, in->data, (size_t)(stop - in->data));
	while (stop < in->end) {
		const char *name = stop + 5, *line = memchr(name, '\n', (size_t)(in->end - name));
		const char *text = line ? line + 1 : in->end;
		stop = next_file(line ? line : text, in->end);
		if (line && strlen(path) == (size_t)(line - name) && !memcmp(path, name, (size_t)(line - name)))
			return sources_add(in->sources, path, text, stop > text ? (size_t)(stop - text) : 0);
	}
	return NULL;
}

/* Callers use the program of a front end only if nothing was reported: after an error it may hold placeholders. */
static void elaborate(struct frontend *f, const struct diags *d, const char *entry)
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
	struct hir_program *p = frontend_elaborate(f, &r);
	struct buf text = {0};
	for (uint32_t i = 0; p && !diags_errors(d) && i < p->n_units; i++) {
		hir_unit_hash(p->units[i]);
		hir_print(p->units[i], &text);
	}
	buf_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sources *s = sources_new();
	struct input in = {s, (const char *)data, (const char *)data + size};
	struct diags *d = diags_new(50);
	struct frontend *f = frontend_new(s, (struct frontend_host){load, &in}, d);
	const struct frontend_def *defs;
	frontend_add_file(f, "main.tri");
	if (frontend_check(f))
		frontend_try_layers(f);
	uint32_t n = frontend_defs(f, &defs);
	for (uint32_t i = 0, done = 0; i < n && done < 4; i++)
		if (!strcmp(defs[i].file, "main.tri") && strcmp(defs[i].name, "main"))
			elaborate(f, d, defs[i].name), done++;
	frontend_free(f);
	diags_free(d);
	sources_free(s);
	return 0;
}
