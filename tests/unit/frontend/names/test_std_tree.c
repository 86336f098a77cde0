/* The standard library's trees, made when trib was built, are what parsing gives, and are used. */
#include "tests/unit/unit.h"
#include <string.h>
#include "base/diag.h"
#include "base/source.h"
#include "frontend/frontend.h"

enum { MOST = 64 };

static void every_module(void **state)
{
	const char *names[MOST];
	struct frontend_precompiled p;
	uint32_t n = frontend_std_names(names, MOST);
	assert_true(n >= 3);
	for (uint32_t i = 0; i < n; i++) {
		assert_true(frontend_check_precompiled(names[i], &p));
		assert_true(p.same);
		assert_true(p.lines > 10 && p.parse_ns > 0);
	}
	assert_false(frontend_check_precompiled("no_such_module", &p));
}

static const struct source *load(void *sources, const char *path)
{
	static const char text[] =
		"import nn\nlayer Net() {\n    let fc = nn.Linear(4, 2)\n    fn forward(x: Tensor<float32, [N, 4]>) { return fc(x) }\n}\n";
	return strcmp(path, "a.tri") ? NULL : sources_add(sources, path, text, sizeof text - 1);
}

static void importing_parses_nothing(void **state)
{
	struct sources *sources = sources_new();
	struct diags *diags = diags_new(0);
	struct frontend *f = frontend_new(sources, (struct frontend_host){load, sources}, diags);
	struct frontend_precompiled p;
	frontend_check_precompiled("nn", &p);
	assert_true(frontend_add_file(f, "a.tri"));
	assert_true(frontend_check(f));
	assert_int_equal(frontend_files(f), 2);
	assert_string_equal(frontend_file_path(f, 1), "std/nn.tri");
	const struct frontend_times *t = frontend_times(f);
	assert_true(t->lex + t->parse < p.parse_ns);
	assert_int_equal(t->lines, p.lines + 5);
	frontend_free(f);
	diags_free(diags);
	sources_free(sources);
}

int test_std_tree(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_module), cmocka_unit_test(importing_parses_nothing)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
