/* `check --fix` never makes a program worse: after the certain edits of every golden source it has no more errors than before, no new
 * syntax errors, and none where an edit was made. */
#include "tests/unit/unit.h"
#include <dirent.h>
#include "base/os.h"
#include "base/source.h"
#include "tests/unit/frontend/front_fixture.h"

#define GOLDEN TRIB_SOURCE_DIR "/tests/golden/"
enum { MOST_ROUNDS = 40, UNTOUCHED = 1 };

struct state {
	struct buf text, marks; /* marks: UNTOUCHED for each byte that no edit wrote */
	uint32_t errors, syntax_errors, fixes;
	bool at_edit;
};

static void count_errors(struct state *s, const struct diags *d)
{
	s->errors = diags_errors(d);
	s->syntax_errors = 0;
	s->at_edit = false;
	for (uint32_t i = 0; i < diags_count(d); i++) {
		const struct diag *g = diags_at(d, i);
		if (diag_severity_of(g->code) != SEV_ERROR)
			continue;
		s->syntax_errors += diag_is_syntax_error(g->code);
		s->at_edit = s->at_edit || (g->primary.at.source == 0 && g->primary.at.start < s->marks.len &&
					    s->marks.at[g->primary.at.start] != UNTOUCHED);
	}
}

/* Checks the text, and makes its certain edits. False: it has none. */
static bool fix_once(struct state *s)
{
	struct front_file file = {"case.tri", s->text.at};
	struct buf text = {0}, marks = {0};
	struct front t;
	front_open(&t, &file, 1);
	frontend_add_file(t.f, "case.tri");
	frontend_check(t.f);
	diags_sort(t.diags);
	count_errors(s, t.diags);
	frontend_verify_edits(t.f, t.diags);
	const struct source *src = sources_get(t.sources, 0);
	struct source marked = *src;
	marked.text = s->marks.at;
	uint32_t n = diags_fix(t.diags, src, &text);
	diags_fix(t.diags, &marked, &marks);
	front_close(&t);
	buf_free(&s->text);
	buf_free(&s->marks);
	s->text = text;
	s->marks = marks;
	s->fixes += n;
	return n > 0;
}

/* Returns the number of edits. */
static uint32_t fix_source(const char *name, const char *text, size_t len)
{
	struct state s = {0};
	uint32_t rounds = 0;
	buf_put(&s.text, text, len);
	for (size_t i = 0; i < len; i++)
		buf_putc(&s.marks, UNTOUCHED);
	bool more = len > 0 && fix_once(&s);
	uint32_t errors = s.errors, syntax_errors = s.syntax_errors;
	while (more && ++rounds < MOST_ROUNDS)
		more = fix_once(&s);
	if (more || s.errors > errors || s.syntax_errors > syntax_errors || s.at_edit)
		fail_msg("%s: %u errors (%u of syntax) become %u (%u)%s:\n%.*s\nto\n%s", name, errors, syntax_errors, s.errors,
			 s.syntax_errors,
			 s.at_edit ? ", one at an edit"
			 : more    ? ", without an end"
				   : "",
			 (int)len, text, s.text.at);
	buf_free(&s.text);
	buf_free(&s.marks);
	return s.fixes;
}

/* The cases of a .txt file, or the whole of a .tri file. */
static uint32_t fix_file(const char *folder, const char *file)
{
	char path[700];
	char *text;
	size_t len;
	uint32_t fixes = 0;
	snprintf(path, sizeof path, GOLDEN "%s/%s", folder, file);
	assert_true(os_read_file(path, 0, &text, &len));
	if (strstr(file, ".tri")) {
		fixes = fix_source(path, text, len);
	} else {
		for (const char *at = strstr(text, "=== "), *next; at; at = next) {
			const char *first = strchr(at, '\n') + 1, *rule = strstr(first, "---\n");
			next = strstr(first, "\n=== ");
			next = next ? next + 1 : NULL;
			if (strncmp(at, "=== body ", 9) != 0)
				fixes += fix_source(path, first, (size_t)(rule - first));
		}
	}
	free(text);
	return fixes;
}

static void test_fixes_make_nothing_worse(void **state)
{
	static const char *const folders[] = {"cases", "check", "syntax", "ast", "fmt", "tokens"};
	uint32_t fixes = 0;
	(void)state;
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		char path[600];
		snprintf(path, sizeof path, GOLDEN "%s", folders[i]);
		DIR *d = opendir(path);
		assert_non_null(d);
		for (struct dirent *e; (e = readdir(d));) {
			const char *dot = strrchr(e->d_name, '.');
			if (dot && (!strcmp(dot, ".tri") || !strcmp(dot, ".txt")))
				fixes += fix_file(folders[i], e->d_name);
		}
		closedir(d);
	}
	assert_true(fixes > 250);
}

static void check_applicability(const char *text, bool certain)
{
	struct front_file file = {"case.tri", text};
	struct front t;
	front_open(&t, &file, 1);
	frontend_add_file(t.f, "case.tri");
	frontend_check(t.f);
	frontend_verify_edits(t.f, t.diags);
	assert_true(diags_count(t.diags) > 0 && diags_at(t.diags, 0)->replacement);
	assert_int_equal(diag_is_fixable(diags_at(t.diags, 0)), certain);
	front_close(&t);
}

static void test_edits_that_mend_nothing_are_guesses(void **state)
{
	(void)state;
	check_applicability("fn f(x: Tensor<float32, [N, 4]>) { return rleu(x) }\n", true);
	check_applicability("fn f(x: Tensor<float32, [N, 4]>) { return self.fc(x) }\n", false);
}

int test_verify_edits(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fixes_make_nothing_worse),
		cmocka_unit_test(test_edits_that_mend_nothing_are_guesses),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
