#include "frontend/syntax/literal.h"
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/bug.h"

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
}

static unsigned literal_base_of(const char *p, uint32_t n)
{
	if (n < 2 || p[0] != '0')
		return 10;
	return (p[1] | 0x20) == 'x' ? 16 : (p[1] | 0x20) == 'o' ? 8 : (p[1] | 0x20) == 'b' ? 2 : 10;
}

bool literal_int(const struct tokens *t, token_id i, uint64_t *v)
{
	const char *p = token_text(t, i);
	uint32_t n = token_len(t, i);
	unsigned base = literal_base_of(p, n);
	*v = 0;
	for (uint32_t k = base == 10 ? 0 : 2; k < n; k++) {
		int d = digit_value(p[k]);
		if (d < 0)
			continue; /* an underscore */
		if (__builtin_mul_overflow(*v, (uint64_t)base, v) || __builtin_add_overflow(*v, (uint64_t)d, v))
			return false;
	}
	return true;
}

double literal_float(const struct tokens *t, token_id i)
{
	const char *p = token_text(t, i);
	uint32_t n = token_len(t, i), len = 0;
	uint64_t whole;
	if (token_kind(t, i) == TOK_INT && literal_int(t, i, &whole))
		return (double)whole;
	char *clean = malloc(n + 1);
	if (!clean)
		bug_no_memory();
	for (uint32_t k = 0; k < n; k++)
		if (p[k] != '_')
			clean[len++] = p[k];
	clean[len] = 0;
	double v = strtod(clean, NULL); /* the locale is "C": nothing calls setlocale */
	free(clean);
	return v;
}

/* NUL as the two bytes 0xC0 0x80, which no UTF-8 text has, since a NUL ends strings. format_template converts them back. */
static char *put_utf8(char *out, uint32_t c)
{
	if (c && c < 0x80) {
		*out++ = (char)c;
	} else if (c < 0x800) {
		*out++ = (char)(0xc0 | c >> 6);
		*out++ = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		*out++ = (char)(0xe0 | c >> 12);
		*out++ = (char)(0x80 | (c >> 6 & 0x3f));
		*out++ = (char)(0x80 | (c & 0x3f));
	} else {
		*out++ = (char)(0xf0 | (c >> 18 & 7));
		*out++ = (char)(0x80 | (c >> 12 & 0x3f));
		*out++ = (char)(0x80 | (c >> 6 & 0x3f));
		*out++ = (char)(0x80 | (c & 0x3f));
	}
	return out;
}

/* The value of at most `max` hexadecimal digits from *p on, which moves past them. */
static uint32_t literal_hex(const char **p, const char *end, int max)
{
	uint32_t v = 0;
	for (; max && *p < end && digit_value(**p) >= 0; max--, ++*p)
		v = v * 16 + (uint32_t)digit_value(**p);
	return v;
}

/* *p is after the backslash. The decoded bytes never need more room than the escape. */
static char *put_escape(char *out, const char **p, const char *end)
{
	char c = *(*p)++;
	switch (c) {
	case 'n': *out++ = '\n'; return out;
	case 't': *out++ = '\t'; return out;
	case 'r': *out++ = '\r'; return out;
	case '0': return put_utf8(out, 0);
	case 'x': return put_utf8(out, literal_hex(p, end, 2));
	case 'u': {
		*p += *p < end && **p == '{';
		uint32_t v = literal_hex(p, end, 6);
		*p += *p < end && **p == '}';
		return put_utf8(out, v);
	}
	default: *out++ = c; return out;
	}
}

/* Length of the quotes and braces before the text itself. */
static uint32_t opening(enum token_kind k) { return k == TOK_FSTR_WHOLE || k == TOK_FSTR_HEAD ? 2 : 1; }

const char *literal_string(const struct tokens *t, token_id i, struct arena *a, size_t *n)
{
	enum token_kind k = token_kind(t, i);
	uint32_t len = token_len(t, i), skip = opening(k);
	const char *p = token_text(t, i) + skip, *end = token_text(t, i) + (len > skip ? len - 1 : skip);
	char *text = arena_alloc(a, (len > skip ? len : skip) + 4, 1), *out = text;
	while (p < end) {
		if (*p == '\\' && p + 1 < end) {
			p++;
			out = put_escape(out, &p, end);
			continue;
		}
		if (k != TOK_STRING && (*p == '{' || *p == '}') && p + 1 < end && p[1] == *p)
			p++;
		*out++ = *p++;
	}
	*out = 0;
	*n = (size_t)(out - text);
	return text;
}
