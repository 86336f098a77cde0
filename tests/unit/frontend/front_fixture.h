/* Running the front end on texts in memory, for tests. */
#ifndef TRIB_TESTS_FRONT_FIXTURE_H
#define TRIB_TESTS_FRONT_FIXTURE_H
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/diag.h"
#include "frontend/frontend.h"
#include "frontend/hir/hir.h"

/* Files of a fake disk. */
struct front_file {
	const char *path, *text;
};
struct front {
	struct sources *sources;
	struct diags *diags;
	struct frontend *f;
	const struct front_file *files;
	uint32_t n_files;
};

static inline const struct source *front_load(void *ctx, const char *path)
{
	struct front *t = ctx;
	for (uint32_t i = 0; i < t->n_files; i++)
		if (!strcmp(t->files[i].path, path))
			return sources_add(t->sources, path, t->files[i].text, strlen(t->files[i].text));
	return NULL;
}

static inline void front_open(struct front *t, const struct front_file *files, uint32_t n)
{
	*t = (struct front){.sources = sources_new(), .diags = diags_new(0), .files = files, .n_files = n};
	t->f = frontend_new(t->sources, (struct frontend_host){front_load, t}, t->diags);
}

static inline void front_close(struct front *t)
{
	frontend_free(t->f);
	diags_free(t->diags);
	sources_free(t->sources);
}

/* Codes of all diagnostics in source order, separated by spaces. */
static inline const char *front_codes(struct front *t, struct buf *out)
{
	diags_sort(t->diags);
	for (uint32_t i = 0; i < diags_count(t->diags); i++)
		buf_printf(out, "%s%s", i ? " " : "", diag_code_text(diags_at(t->diags, i)->code));
	return out->at ? out->at : "";
}

static inline struct hir_program *front_elaborate(struct front *t, const char *entry, const char *const *weights, uint32_t n_weights)
{
	struct elab_request r = {.entries = &entry, .n_entries = 1, .weight_names = weights, .n_weight_names = n_weights, .at = SPAN_NONE};
	return frontend_elaborate(t->f, &r);
}
#endif
