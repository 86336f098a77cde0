/* Printed texts that look like a format of Python or C, or like an f-string without its `f`. */
#include <string.h>
#include "base/buf.h"
#include "frontend/names/resolve_state.h"

/* The placeholders of a text, `{x}` or `%d`, and the f-string that was probably meant. */
struct holes {
	struct resolver *r;
	struct ast_nodes args; /* the values after the text */
	struct buf text;       /* the f-string */
	uint32_t named, taken; /* names in braces that are in scope; arguments inserted */
	bool odd;              /* braces hold something else */
};

static bool resolve_text_is_letter(char c) { return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* True if the name is in scope, or a constant. Notes the use. */
static bool known(struct resolver *r, const char *name, size_t len)
{
	name_id id = intern(r->f->names, name, len);
	struct scope_entry *s = scope_find(r, id);
	if (s)
		s->used = true;
	return s || module_find(r->m, id);
}

static void resolve_text_put_argument(struct holes *h, const char *spec, size_t len)
{
	if (h->taken < h->args.n) {
		span at = node_span(h->r->m, h->args.at[h->taken]);
		buf_puts(&h->text, "{");
		buf_put(&h->text, h->r->t->tokens.src->text + at.start, at.end - at.start);
		buf_put(&h->text, spec, len);
		buf_puts(&h->text, "}");
	}
	h->taken++;
}

/* Reads the placeholder at the `{` p. Returns the end, after the `}`; NULL: the braces hold neither a name nor a placeholder. */
static const char *read_brace(struct holes *h, const char *p, const char *end)
{
	const char *q = p + 1;
	while (q < end && (resolve_text_is_letter(*q) || is_digit(*q)))
		q++;
	const char *close = memchr(q, '}', (size_t)(end - q)), *again = memchr(q, '{', (size_t)(end - q));
	if (!close || (again && again < close))
		return NULL;
	if (q == p + 1 && (*q == '}' || *q == ':')) {
		resolve_text_put_argument(h, q, (size_t)(close - q));
		return close + 1;
	}
	if (!resolve_text_is_letter(p[1]) || !strchr(":}.[(=+-*/ ", *q) || !known(h->r, p + 1, (size_t)(q - p - 1)))
		return NULL;
	h->named++;
	if (p[-1] == '$')
		h->text.len--;
	buf_put(&h->text, p, (size_t)(close + 1 - p));
	return close + 1;
}

/* Reads the conversion at the `%` p. Returns its end; NULL: it is none. */
static const char *read_conversion(struct holes *h, const char *p, const char *end)
{
	const char *q = p + 1;
	char spec[16] = ":";
	while (q < end && (is_digit(*q) || *q == '.' || *q == '-'))
		q++;
	if (q == end || !strchr("dsfgeixru", *q) || (q + 1 < end && resolve_text_is_letter(q[1])) || q - p > 8)
		return NULL;
	memcpy(spec + 1, p + 1, (size_t)(q - p - 1));
	if (strchr("fgex", *q))
		spec[q - p] = *q;
	resolve_text_put_argument(h, spec, q - p > 1 ? strlen(spec) : 0);
	return q + 1;
}

static void resolve_text_read_text(struct holes *h, const char *p, const char *end, char mark)
{
	while (p < end) {
		const char *next = *p != mark ? NULL : mark == '{' ? read_brace(h, p, end) : read_conversion(h, p, end);
		h->odd = h->odd || (!next && (*p == '{' || *p == '}'));
		if (!next)
			buf_put(&h->text, p, 1);
		p = next ? next : p + 1;
	}
}

/* True if the arguments can be written between the quotes. */
static bool resolve_text_fits(const struct holes *h, const char *first, const char *end)
{
	for (uint32_t i = 0; i < h->args.n; i++) {
		span at = node_span(h->r->m, h->args.at[i]);
		const char *text = h->r->t->tokens.src->text + at.start;
		uint32_t n = at.end - at.start;
		if (ast_kind(h->r->t, h->args.at[i]) == NODE_NAMED_ARG || memchr(text, *first, n) || memchr(text, '\n', n) ||
		    memchr(text, '{', n) || memchr(text, '?', n))
			return false;
	}
	return memchr(first, '\\', (size_t)(end - first)) == NULL || h->args.n == 0;
}

static void warn(struct holes *h, node_id text, char mark, const char *first, const char *end)
{
	struct resolver *r = h->r;
	span at = node_span(r->m, text);
	struct diag *g = diag_add(r->warnings, DIAG_PLAIN_TEXT, at,
				  mark == '%' ? "this text is printed unchanged: `%%` formats nothing"
					      : "this text is printed unchanged: braces hold values only in an f-string");
	if (h->args.n)
		at.end = node_span(r->m, h->args.at[h->args.n - 1]).end;
	diag_help(r->warnings, g, "put values into a string with an f-string: `f\"n = {n}\"`");
	if (!h->odd && resolve_text_fits(h, first, end))
		diag_edit(r->warnings, g, at, h->text.at);
}

static bool try_mark(struct resolver *r, node_id text, struct ast_nodes args, char mark)
{
	span at = node_span(r->m, text);
	const char *first = r->t->tokens.src->text + at.start, *end = r->t->tokens.src->text + at.end;
	struct holes h = {.r = r, .args = args};
	buf_puts(&h.text, "f");
	buf_put(&h.text, first, 1);
	resolve_text_read_text(&h, first + 1, end - 1, mark);
	buf_put(&h.text, first, 1);
	buf_puts(&h.text, "");
	bool arguments = h.taken && h.taken == args.n && !h.named, names = h.named && !h.taken && !args.n;
	if (arguments || names)
		warn(&h, text, mark, first, end);
	buf_free(&h.text);
	return arguments || names;
}

void warn_plain_text(struct resolver *r, node_id text, struct ast_nodes args)
{
	if (ast_kind(r->t, text) == NODE_STRING && !try_mark(r, text, args, '{') && args.n)
		try_mark(r, text, args, '%');
}
