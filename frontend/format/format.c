/* Walks the tokens. A separator precedes each token: nothing or a space, a possible break, or a forced one; a comment that ends a line
 * forces it. By construction the tokens are those of the source, except for `;` and optional commas. */
#include "frontend/format/format.h"
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/diag.h"
#include "base/source.h"
#include "frontend/format/state.h"
#include "frontend/syntax/parser.h"

enum frame_kind { FRAME_GROUP, FRAME_BRACKET };
struct frame {
	uint8_t kind, style;
	bool indented; /* a GROUP from its first break on; a BRACKET that indents what it holds */
	bool plain;    /* a GROUP that fills a parenthesis, which is indented already */
	bool grouped;  /* a BRACKET with a group of its own */
};

struct formatter {
	const struct tokens *tok;
	const struct mark *marks;
	struct printer p;
	struct gap gap;
	VEC(struct frame) frames;
	token_id prev;      /* the token written last; TOKEN_NONE at the start */
	uint32_t gap_start; /* the start of the text after it that is not processed yet */
	bool any_item;
	bool item_long;     /* the previous definition took several lines */
	bool item_blank;    /* an empty line precedes this one */
	uint32_t item_line; /* lines written before its keyword */
};

static enum token_kind format_kind(const struct formatter *f, token_id i) { return token_kind(f->tok, i); }
static unsigned flags(const struct formatter *f, token_id i) { return f->marks[i].flags; }
static struct frame *format_top(struct formatter *f) { return f->frames.len ? &f->frames.at[f->frames.len - 1] : NULL; }

static bool format_opens(const struct formatter *f, token_id i) { return flags(f, i) & MARK_OPENS; }
static bool format_closes(const struct formatter *f, token_id i) { return flags(f, i) & MARK_CLOSES; }

/* --- separators --- */

/* True if the two tokens would become one without a space: a number and a dot, dots and a number. */
static bool dots_meet(const struct formatter *f, token_id a, token_id b)
{
	char last = token_text(f->tok, a)[token_len(f->tok, a) - 1], first = *token_text(f->tok, b);
	if (first != '.')
		return false;
	return last == '.' || (format_kind(f, b) == TOK_DOT && (format_kind(f, a) == TOK_INT || format_kind(f, a) == TOK_FLOAT));
}

static bool needs_space(const struct formatter *f, token_id a, token_id b)
{
	enum token_kind x = format_kind(f, a), y = format_kind(f, b);
	if (flags(f, a) & MARK_TIGHT_AFTER || flags(f, b) & MARK_TIGHT_BEFORE || x == TOK_DOT || y == TOK_DOT)
		return dots_meet(f, a, b);
	if (x == TOK_LPAREN || x == TOK_LBRACKET || y == TOK_RPAREN || y == TOK_RBRACKET || y == TOK_COMMA)
		return false;
	if (y == TOK_COLON)
		return flags(f, b) & MARK_BREAK_BEFORE;
	return !(x == TOK_LBRACE && y == TOK_RBRACE);
}

enum separator_kind { SEPARATOR_NONE, SEPARATOR_BREAK, SEPARATOR_LINE };
struct separator {
	enum separator_kind kind;
	unsigned flags; /* of the break */
	bool indents;   /* a group's break: the group's lines after its first are indented */
};

/* True if the bracket has breaks after `[` and before `]`. */
static bool has_edges(unsigned style) { return style != STYLE_TIGHT && style != STYLE_HUG; }

static bool format_is_empty(const struct formatter *f, token_id open) { return f->marks[open].partner == open + 1; }

/* True if the source has a comma before the closing bracket and that on a separate line. Such a list stays broken. */
static bool has_magic_comma(const struct formatter *f, token_id open)
{
	const struct mark *m = &f->marks[open];
	return (m->style == STYLE_LIST || m->style == STYLE_FILL) && format_kind(f, m->partner - 1) == TOK_COMMA &&
	       token_after_newline(f->tok, m->partner);
}

static struct separator separator_in_bracket(const struct formatter *f, token_id open)
{
	const struct mark *m = &f->marks[open];
	unsigned space = m->style == STYLE_BLOCK ? EVENT_SPACE : 0;
	bool line = m->flags & MARK_FORCED || has_magic_comma(f, open);
	if (!has_edges(m->style) || format_is_empty(f, open))
		return (struct separator){0};
	return (struct separator){line ? SEPARATOR_LINE : SEPARATOR_BREAK, space, false};
}

static struct separator separator_after_comma(struct formatter *f)
{
	unsigned style = format_top(f) && format_top(f)->kind == FRAME_BRACKET ? format_top(f)->style : STYLE_BLOCK;
	if (style == STYLE_BLOCK || style == STYLE_HUG)
		return (struct separator){0};
	return (struct separator){SEPARATOR_BREAK, EVENT_SPACE | (style == STYLE_FILL || style == STYLE_TIGHT ? EVENT_FILL : 0), false};
}

static struct separator find_separator(struct formatter *f, token_id i)
{
	token_id prev = f->prev;
	unsigned here = flags(f, i), before = prev == TOKEN_NONE ? 0 : flags(f, prev);
	bool in_group = format_top(f) && format_top(f)->kind == FRAME_GROUP;
	if (prev == TOKEN_NONE || format_kind(f, i) == TOK_EOF)
		return (struct separator){SEPARATOR_LINE, 0, false};
	if (format_opens(f, prev) && !(format_closes(f, i) && format_is_empty(f, prev)))
		return separator_in_bracket(f, prev);
	if (format_closes(f, i))
		return separator_in_bracket(f, f->marks[i].partner);
	if (here & MARK_LINE)
		return (struct separator){SEPARATOR_LINE, 0, false};
	if (here & MARK_BREAK_BEFORE)
		return (struct separator){SEPARATOR_BREAK,
					  (format_kind(f, i) == TOK_DOT ? 0 : EVENT_SPACE) | (here & MARK_FILL ? EVENT_FILL : 0) |
						  (format_kind(f, i) == TOK_ARROW ? EVENT_ARROW : 0),
					  in_group};
	if (before & MARK_ASSIGN)
		return (struct separator){SEPARATOR_BREAK, EVENT_SPACE | EVENT_ASSIGN, false};
	if (before & MARK_BREAK_AFTER)
		return (struct separator){SEPARATOR_BREAK, EVENT_SPACE | (before & MARK_FILL ? EVENT_FILL : 0), in_group};
	return format_kind(f, prev) == TOK_COMMA ? separator_after_comma(f) : (struct separator){0};
}

/* --- comments --- */

static uint32_t format_columns(const char *text, uint32_t n)
{
	uint32_t width = 0;
	for (uint32_t i = 0; i < n; i++)
		width += (text[i] & 0xC0) != 0x80;
	return width;
}

static uint32_t last_line(const char *text, uint32_t n)
{
	uint32_t at = n;
	while (at && text[at - 1] != '\n')
		at--;
	return at;
}

static void format_put_comment(struct formatter *f, const struct comment *comment, bool space)
{
	const char *text = f->tok->src->text + comment->start;
	uint32_t len = comment->end - comment->start, from = comment->multi ? last_line(text, len) : 0;
	unsigned spaces = !space ? 0 : comment->line ? EVENT_SPACES : EVENT_SPACE;
	printer_comment(&f->p, text, len, format_columns(text + from, len - from),
			spaces | (comment->line || comment->multi ? EVENT_BESIDE : 0));
	if (comment->multi)
		printer_flush(&f->p);
}

/* Returns the newlines after comment i. */
static unsigned newlines_after(const struct gap *gap, uint32_t i)
{
	return i + 1 < gap->comments.len ? gap->comments.at[i + 1].newlines : gap->newlines;
}

/* Returns the number of comments at the end of the previous line. */
static uint32_t count_trailing_comments(const struct formatter *f)
{
	const struct gap *g = &f->gap;
	uint32_t n = 0;
	if (f->prev == TOKEN_NONE)
		return 0;
	for (uint32_t i = 0; i < g->comments.len && !g->comments.at[i].newlines; i++)
		if (g->comments.at[i].line || newlines_after(g, i))
			n = i + 1;
	return n;
}

static void put_break(struct formatter *f, struct separator at, bool blank)
{
	unsigned b = blank ? EVENT_BLANK : 0;
	if (at.kind == SEPARATOR_LINE)
		printer_line(&f->p, blank);
	else if (at.kind == SEPARATOR_BREAK)
		printer_break(&f->p, at.flags | b);
}

static bool no_space_after(const struct formatter *f, token_id prev)
{
	return prev == TOKEN_NONE || (format_opens(f, prev) && format_kind(f, prev) != TOK_LBRACE);
}

/* Writes the separator before comment i, which is not at the end of the previous line. True if a space is still needed. */
static bool separate_comment(struct formatter *f, struct separator *at, uint32_t i, bool ended, bool first_in)
{
	const struct comment *c = &f->gap.comments.at[i];
	bool own_line = c->newlines && (c->line || newlines_after(&f->gap, i));
	if (ended || (own_line && !i)) {
		printer_line(&f->p, c->newlines > 1 && !(first_in && !i));
	} else if (!i && at->kind != SEPARATOR_NONE) {
		put_break(f, *at, c->newlines > 1 && !first_in);
		at->kind = SEPARATOR_NONE;
		return false;
	}
	return true;
}

/* Writes the gap's comments. Changes *at to the separator before the next token, which is a closing bracket if `closing`. */
static void put_comments(struct formatter *f, struct separator *at, bool first_in, bool closing)
{
	uint32_t n = count_trailing_comments(f);
	bool ended = false, space = !no_space_after(f, f->prev);
	for (uint32_t i = 0; i < f->gap.comments.len; i++) {
		const struct comment *c = &f->gap.comments.at[i];
		struct separator none = {0};
		if (i >= n)
			space &= separate_comment(f, closing ? &none : at, i, ended, first_in);
		format_put_comment(f, c, space);
		ended = c->line || newlines_after(&f->gap, i);
		space = true;
	}
	if (ended)
		at->kind = SEPARATOR_LINE;
}

/* --- frames --- */

static void indent(struct formatter *f)
{
	struct frame *fr = format_top(f);
	if (fr->indented || fr->plain)
		return;
	fr->indented = true;
	printer_event(&f->p, EVENT_INDENT, 0);
}

static void open_groups(struct formatter *f, token_id i)
{
	const struct frame *outer = format_top(f);
	bool plain = outer && outer->kind == FRAME_BRACKET && outer->style == STYLE_PAREN && format_opens(f, f->prev);
	for (uint32_t n = f->marks[i].opens; n; n--) {
		vec_push(&f->frames, ((struct frame){.kind = FRAME_GROUP, .plain = plain}));
		printer_event(&f->p, EVENT_BEGIN, 0);
		plain = false;
	}
}

static void close_groups(struct formatter *f, token_id i)
{
	for (uint32_t n = f->marks[i].closes; n; n--) {
		if (format_top(f)->indented)
			printer_event(&f->p, EVENT_DEDENT, 0);
		printer_event(&f->p, EVENT_END, 0);
		f->frames.len--;
	}
}

static void begin_bracket(struct formatter *f, token_id i)
{
	const struct mark *m = &f->marks[i];
	bool grouped = !(m->flags & MARK_SHARED);
	struct frame new = {.kind = FRAME_BRACKET, .style = m->style, .indented = m->style != STYLE_HUG, .grouped = grouped};
	if (grouped)
		printer_event(&f->p, EVENT_BEGIN, m->flags & MARK_BODY ? EVENT_BODY : 0);
	vec_push(&f->frames, new);
}

static void end_bracket(struct formatter *f)
{
	if (format_top(f)->grouped)
		printer_event(&f->p, EVENT_END, EVENT_BRACKET);
	f->frames.len--;
}

/* --- definitions of the file --- */

/* Inserts an empty line between two definitions if one of them takes several lines. */
static void format_end_item(struct formatter *f)
{
	bool is_long = f->p.lines > f->item_line;
	size_t at = f->p.item_break;
	if ((is_long || f->item_long) && !f->item_blank) {
		struct buf *out = f->p.out;
		buf_putc(out, '\n');
		memmove(out->at + at + 1, out->at + at, out->len - at - 1);
		out->at[at] = '\n';
	}
	f->item_long = is_long;
}

static bool gap_has_blank(const struct gap *gap)
{
	bool blank = gap->newlines > 1;
	for (uint32_t i = 0; i < gap->comments.len; i++)
		blank |= gap->comments.at[i].newlines > 1;
	return blank;
}

static void begin_item(struct formatter *f)
{
	printer_flush(&f->p);
	if (f->any_item)
		format_end_item(f);
	f->item_blank = !f->any_item || gap_has_blank(&f->gap);
	f->any_item = f->p.record_item_break = true;
}

/* --- tokens --- */

/* Returns the last token of the piece at i. An f-string is one piece; its text is copied. */
static token_id piece_end(const struct formatter *f, token_id i) { return format_kind(f, i) == TOK_FSTR_HEAD ? f->marks[i].partner : i; }

static void format_put_token(struct formatter *f, token_id i, bool space)
{
	token_id last = piece_end(f, i);
	const char *text = token_text(f->tok, i);
	uint32_t len = f->tok->ends[last] - f->tok->starts[i];
	bool wide = format_kind(f, i) == TOK_STRING || last != i || format_kind(f, i) == TOK_FSTR_WHOLE;
	if (format_kind(f, i) == TOK_GE && format_closes(f, i)) { /* `>=` that closes type arguments; its `=` begins a value */
		text = "> =";
		len = 3;
	}
	printer_text(&f->p, text, len, wide ? format_columns(text, len) : len, space ? EVENT_SPACE : 0);
}

/* True for `;`, for commas that the layout adds itself, and for the first `>` of `>>`, which has no text. */
static bool is_dropped(struct formatter *f, token_id i)
{
	if (format_kind(f, i) == TOK_SEMICOLON || (format_kind(f, i) == TOK_GT && f->tok->starts[i] == f->tok->ends[i]))
		return true;
	if (format_kind(f, i) != TOK_COMMA)
		return false;
	if (format_closes(f, i + 1))
		return !(flags(f, i + 1) & MARK_KEEPS_COMMA) && f->marks[f->marks[i + 1].partner].style != STYLE_PAREN;
	return format_kind(f, i + 1) == TOK_LBRACE && !flags(f, i) &&
	       (!format_top(f) || format_top(f)->style == STYLE_BLOCK); /* ends a `where` */
}

static void scan_gap(struct formatter *f, token_id i)
{
	uint32_t end = f->tok->starts[i];
	f->gap.comments.len = 0;
	f->gap.newlines = 0;
	if (end - f->gap_start > 1 || token_after_newline(f->tok, i))
		format_gap(f->tok->src, f->gap_start, end, &f->gap);
	if (format_kind(f, i) == TOK_EOF && !f->gap.newlines)
		f->gap.newlines = 1;
}

/* Writes a token that never begins a line: a comma, or `//`, which would look like a comment. Comments on its line stay before it;
 * others move after it. */
static void put_inner_token(struct formatter *f, token_id i)
{
	bool inner = !token_after_newline(f->tok, i);
	if (inner) {
		scan_gap(f, i);
		for (uint32_t k = 0; k < f->gap.comments.len; k++)
			format_put_comment(f, &f->gap.comments.at[k], true);
		f->gap_start = f->tok->ends[i];
	}
	format_put_token(f, i, format_kind(f, i) != TOK_COMMA);
	f->prev = i;
}

static bool close_bracket(struct formatter *f, token_id i, struct separator at, bool space)
{
	token_id opened = f->marks[i].partner;
	unsigned style = f->marks[opened].style;
	bool comments = f->gap.comments.len;
	if (!format_is_empty(f, opened) && (style == STYLE_LIST || style == STYLE_FILL) && !(flags(f, i) & MARK_KEEPS_COMMA))
		printer_event(&f->p, EVENT_COMMA, 0);
	if (comments)
		put_comments(f, &at, opened == f->prev, true);
	if (format_top(f)->indented)
		printer_event(&f->p, EVENT_DEDENT, 0);
	put_break(f, at, false);
	return at.kind == SEPARATOR_NONE && (space || (comments && style == STYLE_BLOCK));
}

/* Writes the comments and the break before a token. True if a space is still needed. */
static bool put_separator(struct formatter *f, token_id i, struct separator at, bool space)
{
	bool first_in = f->prev == TOKEN_NONE || format_opens(f, f->prev), comments = f->gap.comments.len;
	bool inside_line = at.kind == SEPARATOR_NONE || at.flags & EVENT_ASSIGN;
	bool blank = f->gap.newlines > 1 && !(first_in && !comments) && !inside_line && !at.indents;
	if (at.indents)
		indent(f);
	if (comments && inside_line)
		printer_event(&f->p, EVENT_INDENT, 0);
	if (comments)
		put_comments(f, &at, first_in, false);
	if (format_kind(f, i) != TOK_EOF)
		put_break(f, at, blank);
	if (comments && inside_line)
		printer_event(&f->p, EVENT_DEDENT, 0);
	return at.kind == SEPARATOR_NONE && (space || comments);
}

static void put_token_with_layout(struct formatter *f, token_id i)
{
	token_id last = piece_end(f, i);
	struct separator at = find_separator(f, i);
	bool space = f->prev != TOKEN_NONE && needs_space(f, f->prev, i);
	scan_gap(f, i);
	if (flags(f, i) & MARK_ITEM || format_kind(f, i) == TOK_EOF)
		begin_item(f);
	space = format_closes(f, i) ? close_bracket(f, i, at, space) : put_separator(f, i, at, space);
	if (flags(f, i) & MARK_DEFINES)
		f->item_line = f->p.lines + f->p.pending;
	if (!format_closes(f, i))
		open_groups(f, i);
	if (format_opens(f, i))
		begin_bracket(f, i);
	if (format_kind(f, i) != TOK_EOF)
		format_put_token(f, i, space);
	if (format_opens(f, i) && format_top(f)->indented)
		printer_event(&f->p, EVENT_INDENT, 0);
	if (format_closes(f, i)) {
		end_bracket(f);
		open_groups(f, i); /* of the `=` of a `>=` */
	}
	close_groups(f, last);
	f->prev = last;
	f->gap_start = f->tok->ends[last];
}

void format_ast(const struct ast *t, struct buf *out)
{
	struct mark *marks = format_marks(t);
	struct formatter f = {.tok = &t->tokens, .marks = marks, .p = {.out = out}, .prev = TOKEN_NONE};
	for (token_id i = 0; i < t->tokens.len; i = piece_end(&f, i) + 1) {
		if (is_dropped(&f, i))
			continue;
		if (format_kind(&f, i) == TOK_COMMA || format_kind(&f, i) == TOK_SLASH2)
			put_inner_token(&f, i);
		else
			put_token_with_layout(&f, i);
	}
	printer_flush(&f.p);
	if (f.p.started)
		buf_putc(out, '\n');
	printer_free(&f.p);
	vec_free(&f.frames);
	vec_free(&f.gap.comments);
	free(marks);
}

bool format_same(const struct ast *a, const struct ast *b)
{
	struct ast_nodes x = ast_nodes(a, ast_a(a, AST_ROOT)), y = ast_nodes(b, ast_a(b, AST_ROOT));
	if (a->len != b->len || memcmp(a->kinds, b->kinds, a->len) != 0)
		return false;
	for (uint32_t i = 0; i < x.n; i++)
		if (!hash_eq(ast_item_tokens(a, x.at[i]), ast_item_tokens(b, y.at[i])))
			return false;
	return true;
}

#ifdef NDEBUG
enum { CHECK_RESULT = false };
#else
enum { CHECK_RESULT = true };
#endif

/* Debug builds parse the result and compare the trees. */
static void format_check_result(const struct ast *before, const struct source *src, const char *text, size_t len)
{
	struct sources *sources = sources_new();
	struct diags *d = diags_new(0);
	struct ast after;
	BUG_ON(!parse_source(sources_add(sources, src->path, text, len), &after, d) || !format_same(before, &after));
	ast_free(&after);
	diags_free(d);
	sources_free(sources);
}

bool format_source(const struct source *src, struct buf *out, struct diags *d)
{
	struct ast t;
	bool ok = parse_source(src, &t, d);
	size_t from = out->len;
	if (ok) {
		buf_reserve(out, src->len + src->len / 8); /* most results have about the length of the source */
		format_ast(&t, out);
	}
	if (CHECK_RESULT && out->len > from)
		format_check_result(&t, src, out->at + from, out->len - from);
	ast_free(&t);
	return ok;
}
