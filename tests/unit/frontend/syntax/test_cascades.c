/* One slip, few errors: a valid file of 300 lines with each of its tokens deleted in turn, written twice, or swapped with its neighbour.
 * Every deletion leaves at most three errors. With TRIB_VERBOSE set it prints the distribution and the worst places. */
#include "tests/unit/unit.h"
#include <stdio.h>
#include <stdlib.h>
#include "base/os.h"
#include "base/source.h"
#include "frontend/frontend.h"
#include "frontend/syntax/lexer.h"
#include "frontend/syntax/token.h"
#include "tests/unit/frontend/front_fixture.h"

#define FILE_PATH TRIB_SOURCE_DIR "/tests/golden/cascade.tri"
enum { MOST_ERRORS = 3, MOST_OTHERWISE = 10, BUCKETS = 12 };
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) /* ten times slower, and here for faults of memory: some tokens will do */
enum { STRIDE = 17 };
#else
enum { STRIDE = 1 };
#endif

static struct buf whole;
static struct tokens tokens;
static struct sources *sources;
static bool verbose;

static int setup(void **state)
{
	char *text;
	size_t len;
	if (!os_read_file(FILE_PATH, 0, &text, &len))
		return -1;
	buf_put(&whole, text, len);
	free(text);
	struct diags *d = diags_new(0);
	sources = sources_new();
	bool ok = lex(sources_add(sources, "cascade.tri", whole.at, whole.len), &tokens, d);
	diags_free(d);
	return ok ? 0 : -1;
}

static int teardown(void **state)
{
	tokens_free(&tokens);
	sources_free(sources);
	buf_free(&whole);
	return 0;
}

static uint32_t errors_in(const char *text, struct buf *report)
{
	struct front_file file = {"cascade.tri", text};
	struct front t;
	front_open(&t, &file, 1);
	frontend_add_file(t.f, "cascade.tri");
	frontend_check(t.f);
	diags_sort(t.diags); /* drops repetitions */
	uint32_t n = diags_errors(t.diags);
	for (uint32_t i = 0; report && i < diags_count(t.diags); i++) {
		const struct diag *g = diags_at(t.diags, i);
		struct position at = source_position(t.sources, g->primary.at.source, g->primary.at.start);
		if (diag_severity_of(g->code) == SEV_ERROR)
			buf_printf(report, "    %u:%u %s %s\n", at.line, at.col, diag_code_text(g->code), g->message);
	}
	front_close(&t);
	return n;
}

/* The file with the tokens first … last replaced by a text. */
static void replaced(token_id first, token_id last, const char *with, struct buf *out)
{
	buf_clear(out);
	buf_put(out, whole.at, tokens.starts[first]);
	buf_puts(out, with);
	buf_puts(out, whole.at + tokens.ends[last]);
}

typedef void edit_fn(token_id i, struct buf *out);

static void deleted(token_id i, struct buf *out) { replaced(i, i, " ", out); }

static void doubled(token_id i, struct buf *out)
{
	char text[256];
	int n = (int)token_len(&tokens, i);
	snprintf(text, sizeof text, "%.*s %.*s", n, token_text(&tokens, i), n, token_text(&tokens, i));
	replaced(i, i, text, out);
}

static void swapped(token_id i, struct buf *out)
{
	char text[512];
	token_id next = i + 2 < tokens.len ? i + 1 : i;
	uint32_t gap = tokens.starts[next] > tokens.ends[i] ? tokens.starts[next] - tokens.ends[i] : 0;
	snprintf(text, sizeof text, "%.*s%.*s%s%.*s", (int)token_len(&tokens, next), token_text(&tokens, next), (int)gap,
		 whole.at + tokens.ends[i], gap ? "" : " ", (int)token_len(&tokens, i), token_text(&tokens, i));
	replaced(i, next, text, out);
}

/* Distribution of errors over all tokens; the greatest number. */
static uint32_t measure(edit_fn *edit, const char *what, uint32_t most)
{
	uint32_t counts[BUCKETS] = {0}, worst = 0, stride = quick(STRIDE, 17);
	struct buf text = {0}, report = {0};
	for (token_id i = 0; i + 1 < tokens.len; i += stride) {
		edit(i, &text);
		uint32_t n = errors_in(text.at, NULL);
		counts[n < BUCKETS ? n : BUCKETS - 1]++;
		worst = n > worst ? n : worst;
		if (n <= most || !verbose)
			continue;
		struct position at = source_position(sources, tokens.src->id, tokens.starts[i]);
		buf_printf(&report, "%s `%.*s` at %u:%u: %u errors\n", what, (int)token_len(&tokens, i), token_text(&tokens, i), at.line,
			   at.col, n);
		errors_in(text.at, &report);
	}
	if (verbose) {
		printf("%s, tokens by errors:", what);
		for (int i = 0; i < BUCKETS; i++)
			printf(" %d%s:%u", i, i + 1 == BUCKETS ? "+" : "", counts[i]);
		printf("\n%s", report.at ? report.at : "");
	}
	buf_free(&text);
	buf_free(&report);
	return worst;
}

static void the_file_is_valid(void **state)
{
	struct buf report = {0};
	assert_int_equal(errors_in(whole.at, &report), 0);
	assert_true(tokens.lines >= 300);
	buf_free(&report);
}

static void a_deleted_token(void **state) { assert_in_range(measure(deleted, "deleted", MOST_ERRORS), 1, MOST_ERRORS); }

/* No promise, but no flood. */
static void a_doubled_token(void **state) { assert_in_range(measure(doubled, "doubled", 4), 1, MOST_OTHERWISE); }

static void swapped_neighbours(void **state) { assert_in_range(measure(swapped, "swapped", 4), 1, MOST_OTHERWISE); }

int test_cascades(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(the_file_is_valid), cmocka_unit_test(a_deleted_token),
					   cmocka_unit_test(a_doubled_token), cmocka_unit_test(swapped_neighbours)};
	verbose = getenv("TRIB_VERBOSE") != NULL;
	return cmocka_run_group_tests(tests, setup, teardown);
}
