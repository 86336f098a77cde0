/* Every diagnostic has its page, and the manifests of the pages do what they say. */
#include "builder/cli/commands/explain.h"
#include "tests/unit/unit.h"
#include <stdio.h>
#include <string.h>
#include "base/arena.h"
#include "builder/manifest/manifest.h"
#include "builder/manifest/options.h"
#include "builder/manifest/build_spec.h"
#include "frontend/frontend.h"

static void every_code_has_a_page(void **state)
{
	uint32_t missing = 0;
	for (uint32_t i = 0; i < DIAG_COUNT; i++) {
		const struct explanation *e = explain_find((enum diag_code)i);
		if (e && *e->text && *e->wrong && *e->right)
			continue;
		print_error("%s (%s) has no page in builder/cli/commands/explain.def\n", diag_code_text((enum diag_code)i),
			    diag_title((enum diag_code)i));
		missing++;
	}
	assert_int_equal(missing, 0);
}

static const struct source *load(void *ctx, const char *path) { return strcmp(path, "tri.build") == 0 ? sources_get(ctx, 0) : NULL; }

/* Returns the number of errors; *found: `code` is among them. */
static uint32_t count_errors(const struct diags *d, enum diag_code code, bool *found)
{
	*found = false;
	for (uint32_t i = 0; i < diags_count(d); i++)
		*found |= diags_at(d, i)->code == code;
	return diags_errors(d);
}

/* The same for a manifest. */
static uint32_t errors_of(const char *text, enum diag_code code, bool *found)
{
	struct arena *a = arena_new(0);
	struct diags *d = diags_new(0);
	struct sources *s = sources_new();
	struct options o = {.opt = -1, .most_failures = -1, .verbose = -1, .explain = -1, .timing = -1, .no_cache = -1, .low_memory = -1};
	struct build_spec spec;
	sources_add(s, "tri.build", text, strlen(text));
	const struct manifest *m = manifest_read(a, (struct frontend_host){load, s}, "tri.build", d);
	if (diags_errors(d) == 0)
		build_spec_make(a, m, &o, &spec, d);
	uint32_t n = count_errors(d, code, found);
	sources_free(s);
	diags_free(d);
	arena_free(a);
	return n;
}

static void manifest_examples(void **state)
{
	for (uint32_t i = 0; i < DIAG_COUNT; i++) {
		enum diag_code code = (enum diag_code)i;
		const struct explanation *e = explain_find(code);
		bool found;
		if (!e || e->language != EXPLAIN_MANIFEST)
			continue;
		errors_of(e->wrong, code, &found);
		if (!found)
			fail_msg("the wrong example of %s does not give it", diag_code_text(code));
		if (errors_of(e->right, code, &found) != 0)
			fail_msg("the right example of %s has errors", diag_code_text(code));
	}
}

static const struct source *load_example(void *ctx, const char *path)
{
	return strcmp(path, "example.tri") == 0 ? sources_get(ctx, 0) : NULL;
}

static uint32_t source_errors(const char *text, enum diag_code code, bool *found)
{
	struct diags *d = diags_new(0);
	struct sources *s = sources_new();
	sources_add(s, "example.tri", text, strlen(text));
	struct frontend *f = frontend_new(s, (struct frontend_host){load_example, s}, d);
	if (frontend_add_file(f, "example.tri") && frontend_check(f))
		frontend_try_layers(f);
	uint32_t n = count_errors(d, code, found);
	if (n && code == DIAG_COUNT)
		diags_print(d, s, stderr, false);
	frontend_free(f);
	sources_free(s);
	diags_free(d);
	return n;
}

static void source_examples(void **state)
{
	uint32_t wrong = 0;
	for (uint32_t i = 0; i < DIAG_COUNT; i++) {
		enum diag_code code = (enum diag_code)i;
		const struct explanation *e = explain_find(code);
		bool found;
		if (!e || e->language != EXPLAIN_TRI)
			continue;
		source_errors(e->wrong, code, &found);
		if (!found) {
			print_error("the wrong example of %s does not give it, but:\n", diag_code_text(code));
			source_errors(e->wrong, DIAG_COUNT, &found);
			wrong++;
		}
		if (source_errors(e->right, DIAG_COUNT, &found) != 0) {
			print_error("the right example of %s has errors\n", diag_code_text(code));
			wrong++;
		}
	}
	assert_int_equal(wrong, 0);
}

int test_explain(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_code_has_a_page), cmocka_unit_test(manifest_examples),
					   cmocka_unit_test(source_examples)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
