/* Any bytes as foreign text, in all forms. What comes out is UTF-8 without unsafe characters; text for terminals stays the same when it is
 * escaped again; JSON holds the same text. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/foreign.h"
#include "base/utf8.h"
#include "tests/fuzz/fuzz.h"

static void expect(bool ok)
{
	if (!ok)
		abort();
}

/* True if nothing is invalid or unsafe but `may_have`. */
static bool is_safe(const struct buf *b, const char *may_have)
{
	uint32_t cp;
	for (size_t i = 0; i < b->len; i += utf8_decode(b->at + i, b->len - i, &cp)) {
		utf8_decode(b->at + i, b->len - i, &cp);
		if (foreign_is_unsafe(cp) && (cp > 0x7F || !cp || !strchr(may_have, (int)cp)))
			return false;
	}
	return utf8_valid_prefix(b->at, b->len) == b->len;
}

static void check_again(enum foreign_form form, const struct buf *once)
{
	struct buf twice = {0};
	foreign_put(&twice, form, once->at, once->len);
	expect(twice.len == once->len && memcmp(twice.at, once->at, once->len) == 0);
	buf_free(&twice);
}

/* The text with U+FFFD in place of invalid bytes. */
static void repair(const char *s, size_t n, struct buf *out)
{
	char text[4];
	uint32_t cp;
	for (size_t i = 0; i < n;) {
		i += utf8_decode(s + i, n - i, &cp);
		buf_put(out, text, utf8_put(cp, text));
	}
}

static void check_json(const char *s, size_t n, const struct buf *escaped)
{
	struct buf text = {0}, repaired = {0};
	buf_printf(&text, "\"%s\"", escaped->at);
	repair(s, n, &repaired);
	json_t *v = json_loadb(text.at, text.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	expect(v && json_string_length(v) == repaired.len && memcmp(json_string_value(v), repaired.at, repaired.len) == 0);
	json_decref(v);
	buf_free(&text);
	buf_free(&repaired);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *s = (const char *)data;
	for (int form = 0; form < FOREIGN_FORMS && size; form++) {
		struct buf b = {0};
		foreign_put(&b, (enum foreign_form)form, s, size);
		if (b.len)
			expect(is_safe(&b, form == FOREIGN_TEXT || form == FOREIGN_HTML        ? "\n\t"
					   : form == FOREIGN_MESSAGE || form == FOREIGN_SCRIPT ? "\n"
											       : ""));
		if (b.len && (form == FOREIGN_LINE || form == FOREIGN_TEXT))
			check_again((enum foreign_form)form, &b);
		if (form == FOREIGN_JSON)
			check_json(s, size, &b);
		if (b.len && form == FOREIGN_HTML)
			expect(!strpbrk(b.at, "<>\"'"));
		if (b.len && (form == FOREIGN_MARKDOWN || form == FOREIGN_CODE))
			expect(!memchr(b.at, '|', b.len));
		buf_free(&b);
	}
	return 0;
}
