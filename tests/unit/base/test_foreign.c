#include "base/foreign.h"
#include "base/print.h"
#include "tests/unit/unit.h"
#include "base/buf.h"
#include "base/utf8.h"

static void check(enum foreign_form form, const char *text, const char *expect)
{
	struct buf b = {0};
	foreign_puts(&b, form, text);
	assert_string_equal(b.len ? b.at : "", expect);
	buf_free(&b);
}

#define UNKNOWN "\xEF\xBF\xBD" /* U+FFFD */
#define BREAK "&#8203;"

static void unsafe_characters(void **state)
{
	static const uint32_t unsafe[] = {0,      7,      0x1B,   0x7F,   0x80,   0x9B,    0x9F,    0x61C,
					  0x200E, 0x200F, 0x2028, 0x2029, 0x202A, 0x202E,  0x2060,  0x2066,
					  0x2069, 0x206F, 0xFEFF, 0xFFF9, 0xFFFB, 0xE0000, 0xE0041, 0xE007F},
			      safe[] = {' ',    '~',    0xA0,   0x61B,  0x61D,  0x200D, 0x2010,  0x2027,  0x202F,  0x205F,
					0x2070, 0xFEFE, 0xFF00, 0xFFFC, 0xFFFD, 0xFFF8, 0x1F600, 0xDFFFF, 0xE0080, 0xE0100};
	for (size_t i = 0; i < sizeof unsafe / sizeof *unsafe; i++)
		assert_true(foreign_is_unsafe(unsafe[i]));
	for (size_t i = 0; i < sizeof safe / sizeof *safe; i++)
		assert_false(foreign_is_unsafe(safe[i]));
}

static void terminals(void **state)
{
	check(FOREIGN_LINE,
	      "a\x1b[31mb\xC2\x9B"
	      "2J\xE2\x80\xAE"
	      "c",
	      "a" UNKNOWN "[31mb" UNKNOWN "2J" UNKNOWN "c");
	check(FOREIGN_LINE, "a\nb\tc\rd", "a" UNKNOWN "b c" UNKNOWN "d");
	check(FOREIGN_LINE, "\xFF\xC3", UNKNOWN UNKNOWN);
	check(FOREIGN_LINE, "h\xC3\xA9 \xE6\xBC\xA2 \xF0\x9F\x98\x80 <&|`", "h\xC3\xA9 \xE6\xBC\xA2 \xF0\x9F\x98\x80 <&|`");
	check(FOREIGN_MESSAGE, "a\n::error::b\n", "a\n  | ::error::b");
	check(FOREIGN_LINE, "##[error]a ##vso[x] #[b] [##]", "##" UNKNOWN "error]a ##vso" UNKNOWN "x] #[b] [##]");
	check(FOREIGN_TEXT, "a\n\tb\x1b\r", "a\n\tb" UNKNOWN UNKNOWN);
}

static void json(void **state)
{
	check(FOREIGN_JSON, "a\"b\\\n\r\t\x01\x7f", "a\\\"b\\\\\\n\\r\\t\\u0001\\u007f");
	check(FOREIGN_JSON, "\xC2\x9B\xE2\x80\xAE\xEF\xBB\xBF\xF3\xA0\x81\x81\xC3\xA9\xFF",
	      "\\u009b\\u202e\\ufeff\\udb40\\udc41\xC3\xA9" UNKNOWN);
	check(FOREIGN_JSON, "[##[error]", "[##\\u005berror]");
	check(FOREIGN_CODE, "##[error]", "`##" UNKNOWN "error]`");
	check(FOREIGN_SCRIPT, "{\"a\": \"</script>\"}\n", "{\"a\": \"\\u003c/script>\"}\n");
}

static void markup(void **state)
{
	check(FOREIGN_HTML, "<img src=\"x\" alt='&'>\x1b", "&lt;img src=&#34;x&#34; alt=&#39;&amp;&#39;&gt;" UNKNOWN);
	check(FOREIGN_DOT, "a\"b\\N&amp;\n\x1b", "a\\\"b\\\\N&amp;amp;\\n" UNKNOWN);
	check(FOREIGN_WORKFLOW, "100%\n::error::a,b\x1b", "100%25%0A::error::a,b" UNKNOWN);
	check(FOREIGN_PROPERTY, "a,b:c%\r", "a%2Cb%3Ac%25%0D");
}

static void markdown(void **state)
{
	check(FOREIGN_MARKDOWN, "layer4.1 [1, 64] is 12.5 % of net.tri:31", "layer4.1 \\[1, 64\\] is 12.5 % of net.tri:31");
	check(FOREIGN_MARKDOWN, "my_layer _x_ __y__ *z*", "my_layer \\_x\\_ \\_\\_y\\_\\_ \\*z\\*");
	check(FOREIGN_MARKDOWN, "<img src=x>", "&#60;img src=x&#62;");
	check(FOREIGN_MARKDOWN, "![a](b) [a]: b", "!\\[a\\](b) \\[a\\]: b");
	check(FOREIGN_MARKDOWN, "a|b~c\\", "a&#124;b&#126;" BREAK "c\\\\");
	check(FOREIGN_MARKDOWN, "@user a@b.c #12 !12 &12 GH-12 $12 %v1 ~bug",
	      "&#64;" BREAK "user a&#64;" BREAK "b.c &#35;" BREAK "12 !" BREAK "12 &#38;" BREAK "12 GH-" BREAK "12 &#36;" BREAK "12 %" BREAK
	      "v1 &#126;" BREAK "bug");
	check(FOREIGN_MARKDOWN,
	      "http://a.b www.a.b mailto:x :smile:", "http:" BREAK "//a.b www" BREAK ".a.b mailto:" BREAK "x :" BREAK "smile:");
	check(FOREIGN_MARKDOWN, "5 %", "5 %");
	check(FOREIGN_MARKDOWN, "a@", "a&#64;" BREAK); /* what follows is not known */
	check(FOREIGN_MARKDOWN, "/close", "&#47;close");
	check(FOREIGN_MARKDOWN, "- a", "&#45; a");
	check(FOREIGN_MARKDOWN, "a\nb", "a" UNKNOWN "b");
	check(FOREIGN_MARKDOWN, "write `profile = true`, or `a", "write `profile = true`, or \\`a");
	check(FOREIGN_MARKDOWN, "``", "\\`\\`");
}

static void code(void **state)
{
	check(FOREIGN_CODE, "@user <b> [a](b) http://c", "`@user <b> [a](b) http://c`");
	check(FOREIGN_CODE, "", "");
	check(FOREIGN_CODE, "a|b\\|", "`a`&#124;`b\\`&#124;");
	check(FOREIGN_CODE, "||", "&#124;&#124;");
	check(FOREIGN_CODE, "a`b``c", "```a`b``c```");
	check(FOREIGN_CODE, "`a", "`` `a ``");
	check(FOREIGN_CODE, " a ", "`  a  `");
	check(FOREIGN_CODE, "a\n\x1b", "`a" UNKNOWN UNKNOWN "`");
	check(FOREIGN_MARKDOWN, "`a``b`", "`a`" BREAK "`b`"); /* three backticks in a row would pair with others */
}

static void formats(void **state)
{
	struct buf b = {0}, plain = {0};
	foreign_printf(&b, FOREIGN_LINE, "\x1b[1m%s%c%%|%5s|%-5s|%.2s|%*s|%-*.*s|", "a\x1b", '\n', "\xE6\xBC\xA2", "\xC3\xA9", "abc", 3,
		       "x", -4, 1, "yz");
	assert_string_equal(b.at, "\x1b[1ma" UNKNOWN UNKNOWN "%|   \xE6\xBC\xA2|\xC3\xA9    |ab|  x|y   |");
	buf_clear(&b);
#define NUMBERS                                                                                                                    \
	"%d %5u %-5d| %05lld %lu %zu %x %#llX %jd %hhu %.3f %10.2g %e %*d %c", -1, 2u, 3, -4ll, 5ul, (size_t)6, 0x7f, 0xABCDEFull, \
		(intmax_t) - 8, 9, 1.5, 2.25, 1e100, 4, 5, 'x'
	foreign_printf(&b, FOREIGN_LINE, NUMBERS);
	buf_printf(&plain, NUMBERS);
	assert_string_equal(b.at, plain.at);
	buf_free(&b);
	buf_free(&plain);
	assert_int_equal(foreign_columns("a\xE6\xBC\xA2\x1b"), 4);
	assert_int_equal(foreign_columns(""), 0);
}

static void streams(void **state)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);
	struct buf lines = {0};
	buf_puts(&lines, "a\x1b\nb\n");
	print(out, "trib: `%s`\n", "x\n::error::y\xC2\x9B");
	print_text(out, &lines);
	print_drawn(out, &lines);
	print_data(out, "\x1b\0z", 3);
	fclose(out);
	assert_memory_equal(text, "trib: `x\n  | ::error::y" UNKNOWN "`\na" UNKNOWN "\nb\na\x1b\nb\n\x1b\0z", n);
	free(text);
	buf_free(&lines);
}

int test_foreign(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unsafe_characters), cmocka_unit_test(terminals), cmocka_unit_test(json),    cmocka_unit_test(markup),
		cmocka_unit_test(markdown),          cmocka_unit_test(code),      cmocka_unit_test(formats), cmocka_unit_test(streams),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
