/* Broken sources and what is said about them, in tables: tests/golden/cases/NAME.txt. A case is a line `=== TITLE`, or `=== body TITLE`
 * for statements of a function, with ` (N errors)` where it is not one; the source; a line `---`; and what is expected: a line for each
 * diagnostic, and what the sure edits make of the source. Warnings are shown where the title has the word. The variable TRIB_BLESS
 * rewrites what is expected; the number of errors is never blessed. */
#include "tests/unit/unit.h"
#include <dirent.h>
#include "base/os.h"
#include "base/source.h"
#include "frontend/frontend.h"
#include "tests/unit/frontend/front_fixture.h"

#define FOLDER TRIB_SOURCE_DIR "/tests/golden/cases/"
#define HEAD "import nn\nfn f(x: Tensor<float32, [3, 4]>, y: Tensor<float32, [3, 4]>, n: int, c: bool) {\n"
#define TAIL "    return nn.Identity()(x + y) * float32(c ? n : 1)\n}\n"
enum { MOST_ROUNDS = 16 };

static void print_one_line(struct buf *out, const char *before, const char *text)
{
	buf_puts(out, before);
	for (; text && *text; text++) {
		if (*text == '\n')
			buf_puts(out, "\\n");
		else
			buf_putc(out, *text);
	}
}

static void print_edit(const struct sources *s, const struct diag *g, struct buf *out)
{
	const struct source *src = sources_get(s, g->edit.source);
	char *old = strndup(src->text + g->edit.start, g->edit.end - g->edit.start);
	print_one_line(out, g->is_guess ? "\n    perhaps: `" : "\n    edit: `", old);
	print_one_line(out, "` to `", g->replacement);
	buf_puts(out, "`");
	free(old);
}

static void print_diag(struct front *t, const struct diag *g, uint32_t first_line, struct buf *out)
{
	struct position at = source_position(t->sources, g->primary.at.source, g->primary.at.start);
	buf_printf(out, "%u:%u %s ", at.line - first_line, at.col, diag_code_text(g->code));
	print_one_line(out, "", g->message);
	if (*g->primary.text)
		print_one_line(out, "\n    here: ", g->primary.text);
	for (uint32_t i = 0; i < g->n_secondary; i++)
		print_one_line(out, "\n    there: ", g->secondary[i].text);
	for (uint32_t i = 0; i < g->n_notes; i++)
		print_one_line(out, "\n    note: ", g->notes[i]);
	if (g->help)
		print_one_line(out, "\n    help: ", g->help);
	if (g->replacement)
		print_edit(t->sources, g, out);
	buf_putc(out, '\n');
}

/* Checks the text; what the sure edits make of it, if there are any. */
static uint32_t check_text(const char *text, uint32_t first_line, bool warnings, struct buf *report, struct buf *fixed)
{
	struct front_file file = {"case.tri", text};
	struct front t;
	front_open(&t, &file, 1);
	frontend_add_file(t.f, "case.tri");
	if (frontend_check(t.f))
		frontend_try_layers(t.f);
	diags_sort(t.diags);
	frontend_verify_edits(t.f, t.diags);
	for (uint32_t i = 0; report && i < diags_count(t.diags); i++)
		if (warnings || diag_severity_of(diags_at(t.diags, i)->code) == SEV_ERROR)
			print_diag(&t, diags_at(t.diags, i), first_line, report);
	if (!diags_fix(t.diags, sources_get(t.sources, 0), fixed))
		buf_clear(fixed);
	uint32_t errors = diags_errors(t.diags);
	front_close(&t);
	return errors;
}

static char *body_of(const struct buf *text, bool body)
{
	size_t head = body ? strlen(HEAD) : 0, tail = body ? strlen(TAIL) : 0;
	if (text->len < head + tail || (body && (strncmp(text->at, HEAD, head) || strcmp(text->at + text->len - tail, TAIL))))
		head = tail = 0; /* an edit outside */
	return strndup(text->at + head, text->len - head - tail);
}

/* What is expected after `---`; the errors. */
static uint32_t judge(const char *source, size_t len, bool body, bool warnings, struct buf *out)
{
	struct buf text = {0}, fixed = {0};
	buf_printf(&text, "%s%.*s%s", body ? HEAD : "", (int)len, source, body ? TAIL : "");
	uint32_t errors = check_text(text.at, body ? 2 : 0, warnings, out, &fixed), left = errors;
	int round = 0;
	for (; fixed.len && round < MOST_ROUNDS; round++) {
		struct buf next = {0};
		buf_free(&text);
		text = fixed;
		left = check_text(text.at, 0, warnings, NULL, &next);
		fixed = next;
	}
	if (round) {
		char *shown = body_of(&text, body);
		buf_printf(out, "fixed, %u left:\n%s", left, shown);
		free(shown);
	}
	buf_free(&text);
	buf_free(&fixed);
	return errors;
}

static bool run_case(const char *at, const char *end, struct buf *out)
{
	const char *line = memchr(at, '\n', (size_t)(end - at)), *rule = strstr(line, "\n---\n"), *many = strstr(at, " (");
	uint32_t want = 1, got;
	bool body = !strncmp(at, "=== body ", 9), warnings = strstr(at, "warning") && strstr(at, "warning") < line;
	if (many && many < line)
		sscanf(many, " (%u errors)", &want);
	assert_non_null(rule);
	buf_put(out, at, (size_t)(rule + 5 - at));
	got = judge(line + 1, (size_t)(rule + 1 - (line + 1)), body, warnings, out);
	buf_putc(out, '\n');
	if (got == want)
		return true;
	fprintf(stderr, "%.*s: %u errors, not %u\n", (int)(line - at), at, got, want);
	return false;
}

static bool run_file(const char *path)
{
	struct buf out = {0};
	char *text;
	size_t len;
	bool ok = true;
	assert_true(os_read_file(path, 0, &text, &len));
	const char *at = strncmp(text, "=== ", 4) ? strstr(text, "\n=== ") + 1 : text;
	buf_put(&out, text, (size_t)(at - text));
	while (at) {
		const char *next = strstr(at, "\n=== "), *end = next ? next + 1 : text + len;
		ok &= run_case(at, end, &out);
		at = next ? next + 1 : NULL;
	}
	if (getenv("TRIB_BLESS"))
		os_write_if_changed(path, out.at, out.len, 0644, false);
	else if (out.len != len || memcmp(out.at, text, len))
		ok = (fprintf(stderr, "%s differs: bless it (TRIB_BLESS=1) and review the diff\n", path), false);
	free(text);
	buf_free(&out);
	return ok;
}

static void cases(void **state)
{
	uint32_t files = 0;
	bool ok = true;
	DIR *d = opendir(FOLDER);
	assert_non_null(d);
	for (struct dirent *e; (e = readdir(d));) {
		char path[1200];
		if (!strstr(e->d_name, ".txt"))
			continue;
		snprintf(path, sizeof path, FOLDER "%s", e->d_name);
		ok = run_file(path) && ok;
		files++;
	}
	closedir(d);
	assert_true(ok && files);
}

int test_cases(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(cases)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
