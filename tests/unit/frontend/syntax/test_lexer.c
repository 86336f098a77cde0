#include "tests/unit/unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/diag.h"
#include "frontend/syntax/lexer.h"
#include "frontend/syntax/literal.h"
#include "frontend/syntax/token.h"

struct lexed {
	struct sources *sources;
	struct diags *diags;
	struct tokens tokens;
	bool ok;
};

static struct lexed lex_bytes(const char *text, size_t n)
{
	struct lexed l = {.sources = sources_new(), .diags = diags_new(0)};
	l.ok = lex(sources_add(l.sources, "test.tri", text, n), &l.tokens, l.diags);
	assert_int_equal(l.ok, diags_errors(l.diags) == 0);
	assert_int_equal(token_kind(&l.tokens, l.tokens.len - 1), TOK_EOF);
	return l;
}

static struct lexed lex_text(const char *text) { return lex_bytes(text, strlen(text)); }

static void done(struct lexed *l)
{
	tokens_free(&l->tokens);
	diags_free(l->diags);
	sources_free(l->sources);
}

static void every_spelling_is_its_kind(void **state)
{
	for (int k = 0; k < TOK_COUNT; k++) {
		enum token_class class = token_class((enum token_kind)k);
		if ((class != TOKEN_KEYWORD && class != TOKEN_PUNCT) ||
		    k == TOK_SLASH2) /* alone on a line, `//` is another language's comment */
			continue;
		bool pair = k == TOK_SHR || k == TOK_SHR_EQ; /* the parser joins them */
		struct lexed l = lex_text(token_kind_text((enum token_kind)k));
		assert_true(l.ok);
		assert_int_equal(l.tokens.len, pair ? 3 : 2);
		assert_int_equal(token_kind(&l.tokens, 0), pair ? TOK_GT : k);
		done(&l);
	}
}

/* The lexer reads 64 bytes at a time: a token's position must not matter. */
static void position_does_not_matter(void **state)
{
	static const char body[] =
		"let x_1 = continue_ -> [0x2A, 1.5e-3..n] \"str\\n\" f\"a{b}c{{}}{ {1} }\" # c\n/* d */ a**b // 'e' @ none.f";
	char text[1024];
	struct lexed want = lex_text(body);
	assert_true(want.ok);
	for (size_t pad = 0; pad < 150; pad++) {
		for (size_t tail = 0; tail < 70; tail += 23) {
			memset(text, ' ', sizeof text);
			memcpy(text + pad, body, sizeof body - 1);
			struct lexed l = lex_bytes(text, pad + sizeof body - 1 + tail);
			assert_true(l.ok);
			assert_int_equal(l.tokens.len, want.tokens.len);
			assert_memory_equal(l.tokens.kinds, want.tokens.kinds, want.tokens.len);
			for (uint32_t i = 0; i + 1 < want.tokens.len; i++) {
				assert_int_equal(l.tokens.starts[i], want.tokens.starts[i] + pad);
				assert_int_equal(l.tokens.ends[i], want.tokens.ends[i] + pad);
			}
			done(&l);
		}
	}
	done(&want);
}

static void words_of_every_length(void **state)
{
	char text[400];
	for (size_t n = 1; n < 200; n++) {
		for (size_t pad = 0; pad < 130; pad += 13) {
			memset(text, ' ', pad);
			memset(text + pad, 'w', n);
			strcpy(text + pad + n, "+z");
			struct lexed l = lex_text(text);
			assert_int_equal(l.tokens.len, 4);
			assert_int_equal(token_kind(&l.tokens, 0), TOK_NAME);
			assert_int_equal(token_len(&l.tokens, 0), n);
			done(&l);
		}
	}
}

/* Any two tokens, written with a space between or not at all where that keeps them apart. */
static void pairs_with_a_space(void **state)
{
	static const char *const words[] = {"x", "f",  "layer", "1", "1.5",  ".5", "\"s\"", "f\"{a}\"", "(", "}",  "..", "..=", "...", "->",
					    "-", "**", "*",     "/", "x //", "==", "=",     "<=",       "!", "&&", "@",  "@=",  "?",   ":"};
	char text[64];
	for (size_t a = 0; a < sizeof words / sizeof *words; a++) {
		for (size_t b = 0; b < sizeof words / sizeof *words; b++) {
			snprintf(text, sizeof text, "%s %s", words[a], words[b]);
			struct lexed l = lex_text(text), x = lex_text(words[a]), y = lex_text(words[b]);
			assert_int_equal(l.tokens.len, x.tokens.len + y.tokens.len - 1);
			for (uint32_t i = 0; i + 1 < x.tokens.len; i++)
				assert_int_equal(token_kind(&l.tokens, i), token_kind(&x.tokens, i));
			for (uint32_t i = 0; i < y.tokens.len; i++)
				assert_int_equal(token_kind(&l.tokens, x.tokens.len - 1 + i), token_kind(&y.tokens, i));
			done(&l);
			done(&x);
			done(&y);
		}
	}
}

static void newlines_are_marked(void **state)
{
	struct lexed l = lex_text("a b\nc # d\n\n e /* \n */ f\r\n");
	static const bool want[] = {true, false, true, true, true, true};
	assert_int_equal(l.tokens.len, 6);
	assert_int_equal(l.tokens.lines, 5);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(token_after_newline(&l.tokens, i), want[i]);
	done(&l);
	static const struct {
		const char *text;
		uint32_t lines;
	} counts[] = {{"", 0}, {"a", 1}, {"a\n", 1}, {"\n", 1}, {"a\nb", 2}, {"a\n\n", 2}};
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		l = lex_text(counts[i].text);
		assert_int_equal(l.tokens.lines, counts[i].lines);
		done(&l);
	}
}

static void lines_of_a_long_file(void **state)
{
	enum { N = 20000 };
	char *text = malloc(N);
	for (size_t i = 0; i < N; i++)
		text[i] = i % 3 ? ' ' : '\n';
	struct lexed l = lex_bytes(text, N);
	assert_int_equal(l.tokens.lines, N / 3 + 1 + 1);
	done(&l);
	free(text);
}

static enum diag_code only_error(struct lexed *l)
{
	assert_int_equal(diags_errors(l->diags), 1);
	return diags_at(l->diags, 0)->code;
}

static void errors_have_their_place(void **state)
{
	static const struct {
		const char *text;
		size_t n;
		enum diag_code code;
		uint32_t start, end;
	} cases[] = {
		{"a \xff b", 5, DIAG_NOT_UTF8, 2, 3},
		{"a # \xc3", 5, DIAG_NOT_UTF8, 4, 5},
		{"'\xed\xa0\x80'", 5, DIAG_NOT_UTF8, 1, 4},
		{"'\xc0\x80'", 4, DIAG_NOT_UTF8, 1, 3},
		{"/*\xf4\x90\x80\x80*/", 8, DIAG_NOT_UTF8, 2, 6},
		{"a\0b", 3, DIAG_NUL_BYTE, 1, 2},
		{"'\0'", 3, DIAG_NUL_BYTE, 1, 2},
		{"# \0\0", 4, DIAG_NUL_BYTE, 2, 4},
		{"a\xef\xbb\xbf", 4, DIAG_STRAY_BOM, 1, 4},
		{"# \xef\xbb\xbf", 5, DIAG_STRAY_BOM, 2, 5},
		{"a $ b", 5, DIAG_BAD_CHARACTER, 2, 3},
		{"\x01", 1, DIAG_BAD_CHARACTER, 0, 1},
		{"a /* b", 6, DIAG_UNTERMINATED_COMMENT, 2, 4},
		{"/*/", 3, DIAG_UNTERMINATED_COMMENT, 0, 2},
		{"a 'b\nc", 6, DIAG_UNTERMINATED_STRING, 2, 4},
		{"'\\", 2, DIAG_UNTERMINATED_STRING, 0, 2},
		{"f'{a", 4, DIAG_UNTERMINATED_STRING, 0, 4},
		{"f'{'", 4, DIAG_UNTERMINATED_STRING, 0, 4},
		{"'\\q'", 4, DIAG_BAD_ESCAPE, 1, 3},
		{"0b2", 3, DIAG_BAD_NUMBER, 0, 3},
		{"f'}'", 4, DIAG_BAD_FSTRING, 2, 3},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct lexed l = lex_bytes(cases[i].text, cases[i].n);
		assert_int_equal(only_error(&l), cases[i].code);
		assert_int_equal(diags_at(l.diags, 0)->primary.at.start, cases[i].start);
		assert_int_equal(diags_at(l.diags, 0)->primary.at.end, cases[i].end);
		done(&l);
	}
}

static void a_binary_file_is_no_flood(void **state)
{
	char text[4096];
	for (size_t i = 0; i < sizeof text; i++)
		text[i] = (char)(i * 2654435761u >> 7);
	struct lexed l = lex_bytes(text, sizeof text);
	assert_false(l.ok);
	assert_true(diags_errors(l.diags) < 500);
	done(&l);
}

static void integers(void **state)
{
	static const struct {
		const char *text;
		uint64_t want;
		bool ok;
	} cases[] = {{"0", 0, true},
		     {"42", 42, true},
		     {"1_000", 1000, true},
		     {"0x2A", 42, true},
		     {"0b1010", 10, true},
		     {"0o52", 42, true},
		     {"0xffff_ffff_ffff_ffff", UINT64_MAX, true},
		     {"18446744073709551615", UINT64_MAX, true},
		     {"18446744073709551616", 0, false},
		     {"0x1_0000_0000_0000_0000", 0, false},
		     {"99999999999999999999999", 0, false}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct lexed l = lex_text(cases[i].text);
		uint64_t v;
		assert_int_equal(token_kind(&l.tokens, 0), TOK_INT);
		assert_int_equal(literal_int(&l.tokens, 0, &v), cases[i].ok);
		if (cases[i].ok)
			assert_true(v == cases[i].want);
		done(&l);
	}
}

static void floats(void **state)
{
	static const struct {
		const char *text;
		double want;
	} cases[] = {{"3.14", 3.14}, {"1.0e-5", 1e-5}, {".5", 0.5}, {"5.", 5}, {"1_0.2_5", 10.25}, {"5.e3", 5000}, {"1E+2", 100}, {"7", 7}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct lexed l = lex_text(cases[i].text);
		assert_true(literal_float(&l.tokens, 0) == cases[i].want);
		done(&l);
	}
}

static void check_string(const char *text, token_id i, const char *want, size_t n)
{
	struct lexed l = lex_text(text);
	struct arena *a = arena_new(0);
	size_t got;
	const char *s = literal_string(&l.tokens, i, a, &got);
	assert_true(l.ok);
	assert_int_equal(got, n);
	assert_memory_equal(s, want, n + 1);
	arena_free(a);
	done(&l);
}

static void strings(void **state)
{
	check_string("\"\"", 0, "", 0);
	check_string("'it\\'s \"x\"'", 0, "it's \"x\"", 8);
	check_string("\"\\n\\t\\r\\\\\\\"\\0\"", 0, "\n\t\r\\\"\xC0\x80", 7);
	check_string("'\\x41\\xe9\\u{3B1}\\u{1F600}'", 0, "A\xc3\xa9\xce\xb1\xf0\x9f\x98\x80", 9);
	check_string("'{{}}'", 0, "{{}}", 4);
	check_string("f'{{}}'", 0, "{}", 2);
	check_string("f'a{{{x}b{y}}}c'", 0, "a{", 2);
	check_string("f'a{{{x}b{y}}}c'", 2, "b", 1);
	check_string("f'a{{{x}b{y}}}c'", 4, "}c", 2);
}

int test_lexer(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_spelling_is_its_kind),
		cmocka_unit_test(position_does_not_matter),
		cmocka_unit_test(words_of_every_length),
		cmocka_unit_test(pairs_with_a_space),
		cmocka_unit_test(newlines_are_marked),
		cmocka_unit_test(lines_of_a_long_file),
		cmocka_unit_test(errors_have_their_place),
		cmocka_unit_test(a_binary_file_is_no_flood),
		cmocka_unit_test(integers),
		cmocka_unit_test(floats),
		cmocka_unit_test(strings),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
