#include "base/diag.h"
#include "tests/unit/unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"

/* Each test adds diagnostics about `src`, then compares the text. */
static struct sources *sources;
static const struct source *src;
static struct diags *d;

static int set_up(void **state)
{
	static const char text[] = "layer Net(x: trit[N, 784]) {\n"
				   "\tlet h = matmul(x, w1)\n"
				   "\tlet y = mtmul(h, w2)\n"
				   "    forward(\n"
				   "        a,\n"
				   "        b,\n"
				   "        c,\n"
				   "        d\n"
				   "    )\n"
				   "  let s = \"\xE6\xBC\xA2\xE5\xAD\x97\" + e\xCC\x81 + z\n"
				   "}\n";

	sources = sources_new();
	src = sources_add(sources, "src/net.tri", text, sizeof text - 1);
	d = diags_new(0);
	return 0;
}

static int tear_down(void **state)
{
	diags_free(d);
	sources_free(sources);
	return 0;
}

/* From the first `from` to the end of the first `to` after it. */
static span between(const char *from, const char *to)
{
	const char *p = strstr(src->text, from), *q = strstr(p, to) + strlen(to);

	return (span){src->id, (uint32_t)(p - src->text), (uint32_t)(q - src->text)};
}

static span of(const char *text) { return between(text, text); }

static char *render(bool colour, bool json)
{
	char *out = NULL;
	size_t len;
	FILE *f = open_memstream(&out, &len);

	assert_non_null(f);
	if (json)
		diags_print_json(d, sources, f);
	else
		diags_print(d, sources, f, colour);
	fclose(f);
	return out;
}

static void check(const char *expect)
{
	char *out = render(false, false);

	assert_string_equal(out, expect);
	free(out);
}

static void one_line(void **state)
{
	struct diag *g = diag_add(d, DIAG_NOT_UTF8, of("mtmul"), "unknown function `mtmul`");

	diag_label_primary(d, g, "not found in this scope");
	diag_note(d, g, "functions are looked up\nin two places");
	diag_note(d, g, "again");
	diag_help(d, g, "define it");
	check("error[E0001]: unknown function `mtmul`\n"
	      " --> src/net.tri:3:10\n"
	      "  |\n"
	      "3 |     let y = mtmul(h, w2)\n"
	      "  |             ^^^^^ not found in this scope\n"
	      "  |\n"
	      "  = note: functions are looked up\n"
	      "          | in two places\n"
	      "  = note: again\n"
	      "  = help: define it\n"
	      "\n");
}

static void without_labels(void **state)
{
	diag_secondary(d, diag_add(d, DIAG_STORE_DAMAGED, of("layer"), "two\nlines"), of("Net"), "%s", "");
	check("warning[W0801]: two\n"
	      "                | lines\n"
	      " --> src/net.tri:1:1\n"
	      "  |\n"
	      "1 | layer Net(x: trit[N, 784]) {\n"
	      "  | ^^^^^ ---\n"
	      "\n");
}

static void labels_on_one_line(void **state)
{
	struct diag *g = diag_add(d, DIAG_NOT_UTF8, of("w2"), "shapes");

	diag_label_primary(d, g, "this one");
	diag_secondary(d, g, of("h, w"), "in these");
	diag_secondary(d, g, of("mtmul"), "called here");
	diag_secondary(d, g, of("784"), "from here");
	check("error[E0001]: shapes\n"
	      " --> src/net.tri:3:19\n"
	      "  |\n"
	      "1 | layer Net(x: trit[N, 784]) {\n"
	      "  |                      --- from here\n"
	      "2 |     let h = matmul(x, w1)\n"
	      "3 |     let y = mtmul(h, w2)\n"
	      "  |             ----- ---^^ this one\n"
	      "  |             |     |\n"
	      "  |             |     in these\n"
	      "  |             called here\n"
	      "\n");
}

static void several_lines(void **state)
{
	struct diag *g = diag_add(d, DIAG_NOT_UTF8, between("forward(", ")"), "a call");

	diag_label_primary(d, g, "all of this");
	check("error[E0001]: a call\n"
	      " --> src/net.tri:4:5\n"
	      "  |\n"
	      "4 | /     forward(\n"
	      "5 | |         a,\n"
	      "... |\n"
	      "8 | |         d\n"
	      "9 | |     )\n"
	      "  | |_____^ all of this\n"
	      "\n");
}

static void several_lines_nested(void **state)
{
	struct diag *g = diag_add(d, DIAG_NOT_UTF8, between("matmul", "w2"), "inner");

	diag_label_primary(d, g, "here");
	diag_secondary(d, g, between("x: trit", "(\n"), "outer");
	check("error[E0001]: inner\n"
	      " --> src/net.tri:2:10\n"
	      "  |\n"
	      "1 |    layer Net(x: trit[N, 784]) {\n"
	      "  |  ____________-\n"
	      "2 | |      let h = matmul(x, w1)\n"
	      "  | | _____________^\n"
	      "3 | ||     let y = mtmul(h, w2)\n"
	      "  | ||_______________________^ here\n"
	      "4 | |      forward(\n"
	      "  | |_____________- outer\n"
	      "\n");
}

static void gap(void **state)
{
	diag_secondary(d, diag_add(d, DIAG_NOT_UTF8, of("Net"), "far apart"), of("w2"), "one line between is shown");
	diag_secondary(d, diag_add(d, DIAG_NOT_UTF8, of("Net"), "farther"), of("s ="), "three are not");
	check("error[E0001]: far apart\n"
	      " --> src/net.tri:1:7\n"
	      "  |\n"
	      "1 | layer Net(x: trit[N, 784]) {\n"
	      "  |       ^^^\n"
	      "2 |     let h = matmul(x, w1)\n"
	      "3 |     let y = mtmul(h, w2)\n"
	      "  |                      -- one line between is shown\n"
	      "\n"
	      "error[E0001]: farther\n"
	      "  --> src/net.tri:1:7\n"
	      "   |\n"
	      " 1 | layer Net(x: trit[N, 784]) {\n"
	      "   |       ^^^\n"
	      "...\n"
	      "10 |   let s = \"\xE6\xBC\xA2\xE5\xAD\x97\" + e\xCC\x81 + z\n"
	      "   |       --- three are not\n"
	      "\n");
}

static void wide_and_combining(void **state)
{
	struct diag *g = diag_add(d, DIAG_NOT_UTF8, of("\xE6\xBC\xA2\xE5\xAD\x97"), "wide");

	diag_secondary(d, g, of("e\xCC\x81"), "one column");
	diag_secondary(d, g, of("z"), "last");
	check("error[E0001]: wide\n"
	      "  --> src/net.tri:10:12\n"
	      "   |\n"
	      "10 |   let s = \"\xE6\xBC\xA2\xE5\xAD\x97\" + e\xCC\x81 + z\n"
	      "   |            ^^^^    -   - last\n"
	      "   |                    |\n"
	      "   |                    one column\n"
	      "\n");
}

static void nowhere(void **state)
{
	struct diag *g = diag_add(d, DIAG_NOT_UTF8, SPAN_NONE, "no place");

	diag_note(d, g, "a note");
	diag_help(d, g, "some help");
	check("error[E0001]: no place\n"
	      "  = note: a note\n"
	      "  = help: some help\n"
	      "\n");
}

static void end_of_text(void **state)
{
	diag_label_primary(d, diag_add(d, DIAG_NOT_UTF8, (span){src->id, src->len, src->len}, "end"), "expected `}`");
	diag_add(d, DIAG_NOT_UTF8, (span){src->id, 28, 29}, "a newline");
	diag_add(d, DIAG_NOT_UTF8, (span){src->id, 5, UINT32_MAX - 1}, "out of range");
	check("error[E0001]: end\n"
	      "  --> src/net.tri:12:1\n"
	      "   |\n"
	      "12 |\n"
	      "   | ^ expected `}`\n"
	      "\n"
	      "error[E0001]: a newline\n"
	      " --> src/net.tri:1:29\n"
	      "  |\n"
	      "1 | layer Net(x: trit[N, 784]) {\n"
	      "  |                             ^\n"
	      "\n"
	      "error[E0001]: out of range\n"
	      "  --> src/net.tri:1:6\n"
	      "   |\n"
	      " 1 |   layer Net(x: trit[N, 784]) {\n"
	      "   |  ______^\n"
	      " 2 | |     let h = matmul(x, w1)\n"
	      "...  |\n"
	      "10 | |   let s = \"\xE6\xBC\xA2\xE5\xAD\x97\" + e\xCC\x81 + z\n"
	      "11 | | }\n"
	      "   | |_^\n"
	      "\n");
}

static void edits(void **state)
{
	struct diag *g = diag_add(d, DIAG_NOT_UTF8, of("mtmul"), "unknown");

	diag_help(d, g, "a function with a similar name exists");
	diag_edit(d, g, of("mtmul"), "matmul");
	g = diag_add(d, DIAG_NOT_UTF8, SPAN_NONE, "a new line, without a place of its own");
	diag_edit(d, g, (span){src->id, 0, 0}, "use std\n");
	g = diag_add(d, DIAG_NOT_UTF8, of("a,"), "delete a line");
	diag_edit(d, g, between("        a,", ",\n"), "");
	check("error[E0001]: unknown\n"
	      " --> src/net.tri:3:10\n"
	      "  |\n"
	      "3 |     let y = mtmul(h, w2)\n"
	      "  |             ^^^^^\n"
	      "help: a function with a similar name exists\n"
	      "  |\n"
	      "3 -     let y = mtmul(h, w2)\n"
	      "3 +     let y = matmul(h, w2)\n"
	      "\n"
	      "error[E0001]: a new line, without a place of its own\n"
	      "help: write this\n"
	      " --> src/net.tri:1:1\n"
	      "  |\n"
	      "1 + use std\n"
	      "\n"
	      "error[E0001]: delete a line\n"
	      " --> src/net.tri:5:9\n"
	      "  |\n"
	      "5 |         a,\n"
	      "  |         ^^\n"
	      "help: leave this out\n"
	      "  |\n"
	      "5 -         a,\n"
	      "\n");
}

static void two_files(void **state)
{
	const struct source *other = sources_add(sources, "b.tri", "fn g()", 6);
	struct diag *g = diag_add(d, DIAG_NOT_UTF8, of("Net"), "twice");

	diag_secondary(d, g, (span){other->id, 3, 4}, "first here");
	check("error[E0001]: twice\n"
	      " --> src/net.tri:1:7\n"
	      "  |\n"
	      "1 | layer Net(x: trit[N, 784]) {\n"
	      "  |       ^^^\n"
	      " ::: b.tri:1:4\n"
	      "  |\n"
	      "1 | fn g()\n"
	      "  |    - first here\n"
	      "\n");
}

static void long_lines_are_cut(void **state)
{
	char text[3001], *out, *line, *under, *mark;
	const struct source *s;

	for (size_t i = 0; i < 3000; i++)
		text[i] = "abcdefghi,"[i % 10];
	memcpy(text + 1500, "HERE", 4);
	text[3000] = '\0';
	s = sources_add(sources, "long.tri", text, 3000);
	diag_label_primary(d, diag_add(d, DIAG_NOT_UTF8, (span){s->id, 1500, 1504}, "m"), "x");
	out = render(false, false);
	line = strstr(out, "1 | ...");
	assert_non_null(line);
	under = strchr(line, '\n') + 1;
	assert_int_equal(under - line, 4 + 120 + 1);
	assert_memory_equal(under - 4, "...\n", 4);
	mark = strstr(under, "^^^^ x");
	assert_non_null(mark);
	assert_memory_equal(line + (mark - under), "HERE", 4);
	free(out);
}

static void hostile_text(void **state)
{
	static const char text[] = "a \x1B[31m b \xFF \xE2\x80\xAE z";
	const struct source *s = sources_add(sources, "h.tri", text, sizeof text - 1);
	char *out;

	diag_label_primary(d, diag_add(d, DIAG_NOT_UTF8, (span){s->id, s->len - 1, s->len}, "esc \x1B[0m"), "here");
	out = render(false, false);
	assert_null(strchr(out, '\x1B'));
	assert_null(strstr(out, "\xE2\x80\xAE"));
	assert_string_equal(out, "error[E0001]: esc \xEF\xBF\xBD[0m\n"
				 " --> h.tri:1:17\n"
				 "  |\n"
				 "1 | a \xEF\xBF\xBD[31m b \xEF\xBF\xBD \xEF\xBF\xBD z\n"
				 "  |               ^ here\n"
				 "\n");
	free(out);
}

static void colours(void **state)
{
	char *out;

	diag_add(d, DIAG_NOT_UTF8, of("Net"), "red");
	out = render(true, false);
	assert_string_equal(out, "\033[0;1;31merror[E0001]\033[0;1m: red\033[0m\n"
				 " \033[0;1;34m--> \033[0msrc/net.tri:1:7\n"
				 "  \033[0;1;34m|\033[0m\n"
				 "\033[0;1;34m1 | \033[0mlayer Net(x: trit[N, 784]) {\n"
				 "  \033[0;1;34m|       \033[0;1;31m^^^\033[0m\n"
				 "\n");
	free(out);
}

static uint32_t count(const char *text, const char *word)
{
	uint32_t n = 0;

	while ((text = strstr(text, word))) {
		text++;
		n++;
	}
	return n;
}

static void limit(void **state)
{
	diags_free(d);
	d = diags_new(1);
	diag_add(d, DIAG_NOT_UTF8, SPAN_NONE, "first");
	diag_add(d, DIAG_NOT_UTF8, SPAN_NONE, "second");
	check("error[E0001]: first\n\n1 more error is not shown\n\n");
}

static void empty(void **state) { check(""); }

static void json(void **state)
{
	struct diag *g = diag_add(d, DIAG_NOT_UTF8, of("mtmul"), "unknown \"mtmul\"");
	char *out;

	diag_label_primary(d, g, "here");
	diag_secondary(d, g, between("forward(", ")"), "%s", "");
	diag_note(d, g, "one");
	diag_note(d, g, "two");
	diag_help(d, g, "use matmul");
	diag_edit(d, g, of("mtmul"), "matmul");
	diag_add(d, DIAG_STORE_DAMAGED, SPAN_NONE, "nowhere");
	out = render(false, true);
	assert_string_equal(
		out,
		"{\"type\":\"diagnostic\",\"code\":\"E0001\",\"severity\":\"error\",\"message\":\"unknown \\\"mtmul\\\"\",\"spans\":["
		"{\"file\":\"src/net.tri\",\"line\":3,\"col\":10,\"end_line\":3,\"end_col\":15,\"start\":61,\"end\":66,\"label\":\"here\",\"primary\":true},"
		"{\"file\":\"src/net.tri\",\"line\":4,\"col\":5,\"end_line\":9,\"end_col\":6,\"start\":78,\"end\":135,\"label\":\"\",\"primary\":false}],"
		"\"notes\":[\"one\",\"two\"],\"help\":\"use matmul\","
		"\"edit\":{\"file\":\"src/net.tri\",\"start\":61,\"end\":66,\"replacement\":\"matmul\",\"applicability\":\"machine-applicable\"},\"places\":[]}\n"
		"{\"type\":\"diagnostic\",\"code\":\"W0801\",\"severity\":\"warning\",\"message\":\"nowhere\",\"spans\":[],\"notes\":[],\"help\":null,"
		"\"edit\":null,\"places\":[]}\n");
	free(out);
}

/* One habit at five places of four lines, and another error at three. */
static void add_repeats(void)
{
	static const char *const words[] = {"layer", "let", "matmul", "mtmul", "forward"};

	for (uint32_t i = 0; i < sizeof words / sizeof *words; i++)
		diag_edit(d, diag_add(d, DIAG_HABIT_SYNTAX, of(words[i]), "no words"), of(words[i]), "");
	for (uint32_t i = 0; i < 3; i++)
		diag_add(d, DIAG_EXPECTED_EXPR, (span){src->id, 140 + i, 141 + i}, "nothing here");
	diags_sort(d);
}

static void a_cause_is_reported_once(void **state)
{
	struct buf fixed = {0};
	char *out;

	add_repeats();
	out = render(false, false);
	assert_non_null(strstr(out, "note: and at 4 more places in this file (lines 2, 3, 4); `trib check --fix` mends all\n"));
	assert_non_null(strstr(out, "note: and at 1 more place in this file (line 10)\n"));
	assert_null(strstr(strstr(out, "no words") + 1, "no words"));
	assert_null(strstr(strstr(strstr(out, "nothing here") + 1, "nothing here") + 1, "nothing here"));
	free(out);
	assert_int_equal(diags_fix(d, src, &fixed), 5); /* an edit at every place */
	buf_free(&fixed);
}

static void json_has_every_place(void **state)
{
	char *out;

	add_repeats();
	out = render(false, true);
	assert_non_null(strstr(out, "\"places\":[{\"span\":{\"file\":\"src/net.tri\",\"line\":2,"));
	assert_int_equal(count(out, "\"type\":\"diagnostic\""), 3);
	assert_int_equal(count(out, "\"replacement\":\"\""), 5);
	free(out);
}

static void what_differs_is_reported_by_itself(void **state)
{
	char *out;

	diag_cause(d, diag_add(d, DIAG_EXPECTED_TOKEN, of("layer"), "no a"), "no word");
	diag_cause(d, diag_add(d, DIAG_EXPECTED_TOKEN, of("let"), "no b"), "no word");
	diag_add(d, DIAG_HABIT_SYNTAX, of("mtmul"), "no a");
	diag_add(d, DIAG_STORE_DAMAGED, SPAN_NONE, "nowhere");
	diag_add(d, DIAG_STORE_DAMAGED, SPAN_NONE, "nowhere");
	diag_add(d, DIAG_NOT_UTF8, SPAN_NONE, "nowhere");
	out = render(false, true);
	assert_int_equal(count(out, "\"type\":\"diagnostic\""), 5);
	free(out);
}

/* Any spans at all: nothing crashes (under the sanitizers), every row ends. */
static void random_spans(void **state)
{
	uint32_t seed = 99;

	for (int round = 0; round < 300; round++) {
		struct diag *g = NULL;

		diags_free(d);
		d = diags_new(0);
		for (int i = 0; i < 6; i++) {
			uint32_t a, b;
			span s;

			seed = seed * 1664525u + 1013904223u;
			a = (seed >> 8) % (src->len + 3);
			seed = seed * 1664525u + 1013904223u;
			b = (seed >> 8) % (src->len + 3);
			s = (span){src->id, a, b};
			if (!g)
				g = diag_add(d, DIAG_NOT_UTF8, s, "m");
			else
				diag_secondary(d, g, s, i % 2 ? "label %d" : "%.0d", i);
		}
		diag_edit(d, g, diags_at(d, 0)->secondary[0].at, "x\ny");
		free(render(round % 2, false));
		free(render(false, true));
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int test_diag_render(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_line),
		TEST(without_labels),
		TEST(labels_on_one_line),
		TEST(several_lines),
		TEST(several_lines_nested),
		TEST(gap),
		TEST(wide_and_combining),
		TEST(nowhere),
		TEST(end_of_text),
		TEST(edits),
		TEST(two_files),
		TEST(long_lines_are_cut),
		TEST(hostile_text),
		TEST(colours),
		TEST(limit),
		TEST(empty),
		TEST(json),
		TEST(a_cause_is_reported_once),
		TEST(json_has_every_place),
		TEST(what_differs_is_reported_by_itself),
		TEST(random_spans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
