#include "builder/watch/edit.h"
#include <ctype.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/path.h"
#include "base/source.h"
#include "frontend/syntax/lexer.h"
#include "frontend/syntax/token.h"

enum { SMALL_TOKENS = 3, SMALL_BYTES = 24 };

/* The old or the new text. */
struct side {
	struct sources *sources;
	struct tokens tokens;
	uint32_t from, to; /* the tokens that the other side does not have */
};

static bool open_side(struct side *s, const char *file, struct edit_text text)
{
	struct diags *none = diags_new(0);
	s->sources = sources_new();
	lex(sources_add(s->sources, file, text.at, text.len), &s->tokens, none);
	diags_free(none);
	return s->tokens.len > 0;
}

static void close_side(struct side *s)
{
	tokens_free(&s->tokens);
	sources_free(s->sources);
}

static bool same_token(const struct side *a, uint32_t i, const struct side *b, uint32_t k)
{
	const struct tokens *x = &a->tokens, *y = &b->tokens;
	return token_kind(x, i) == token_kind(y, k) && token_len(x, i) == token_len(y, k) &&
	       memcmp(token_text(x, i), token_text(y, k), token_len(x, i)) == 0;
}

/* Finds the tokens between the common beginning and the common end. */
static void find_difference(struct side *a, struct side *b)
{
	uint32_t n = a->tokens.len, m = b->tokens.len, from = 0, least = n < m ? n : m, end = 0;
	while (from < least && same_token(a, from, b, from))
		from++;
	while (end < least - from && same_token(a, n - 1 - end, b, m - 1 - end))
		end++;
	*a = (struct side){a->sources, a->tokens, from, n - end};
	*b = (struct side){b->sources, b->tokens, from, m - end};
}

/* The text of the difference; NULL if it is not small. */
static const char *small_text(struct arena *a, const struct side *s)
{
	const struct tokens *t = &s->tokens;
	if (s->from == s->to)
		return "";
	uint32_t start = t->starts[s->from], len = t->ends[s->to - 1] - start;
	if (s->to - s->from > SMALL_TOKENS || len > SMALL_BYTES || memchr(t->src->text + start, '\n', len))
		return NULL;
	return arena_strndup(a, t->src->text + start, len);
}

static const char *edit_text_of(struct arena *a, const struct tokens *t, token_id i)
{
	return arena_strndup(a, token_text(t, i), token_len(t, i));
}

/* The name in `let NAME = 3` or `f(NAME=3)` if token `at` is the value; else NULL. */
static const char *name_of_value(struct arena *a, const struct tokens *t, token_id at)
{
	if (at < 2 || token_kind(t, at - 1) != TOK_ASSIGN)
		return NULL;
	for (token_id i = at - 1; i > 0 && !token_after_newline(t, i); i--)
		if (token_kind(t, i) == TOK_NAME && (token_kind(t, i - 1) == TOK_LET || token_kind(t, i - 1) == TOK_CONST))
			return edit_text_of(a, t, i);
	return token_kind(t, at - 2) == TOK_NAME ? edit_text_of(a, t, at - 2) : NULL;
}

static bool begins_definition(const struct tokens *t, token_id i)
{
	enum token_kind k = token_kind(t, i);
	return (k == TOK_FN || k == TOK_LAYER || k == TOK_CONST || k == TOK_TYPE || k == TOK_MAIN || k == TOK_IMPORT || k == TOK_FROM) &&
	       i + 1 < t->len;
}

/* The first definition with a token of the difference, and how many more there are. NULL if there is none. */
static const char *definitions(struct arena *a, const struct side *s, uint32_t *more)
{
	const struct tokens *t = &s->tokens;
	const char *current = NULL, *first = NULL, *last = NULL;
	int depth = 0;
	*more = 0;
	for (token_id i = 0; i < s->to || (i == s->from && i < t->len); i++) {
		enum token_kind k = token_kind(t, i);
		if (depth == 0 && begins_definition(t, i)) {
			bool named = token_kind(t, i + 1) == TOK_NAME;
			current = k == TOK_IMPORT || k == TOK_FROM ? "import" : named ? edit_text_of(a, t, i + 1) : "main";
		}
		depth += (k == TOK_LBRACE) - (k == TOK_RBRACE);
		if (i < s->from || !current || current == last)
			continue;
		*more += first != NULL;
		first = first ? first : current;
		last = current;
	}
	return first;
}

static uint32_t line_of_byte(struct edit_text before, struct edit_text after)
{
	uint32_t line = 1;
	for (size_t i = 0; i < before.len && i < after.len && before.at[i] == after.at[i]; i++)
		line += after.at[i] == '\n';
	return line;
}

static void describe_source(struct arena *a, struct edit *e, struct edit_text before, struct edit_text after)
{
	struct side old = {0}, new = {0};
	if (open_side(&old, e->file, before) && open_side(&new, e->file, after)) {
		find_difference(&old, &new);
		if (old.from == old.to && new.from == new.to) {
			e->line = line_of_byte(before, after);
			e->what = "comments or white space";
		} else {
			const struct tokens *t = &new.tokens;
			token_id at = new.from < t->len ? new.from : t->len - 1;
			token_id beside = new.from == new.to &&at > 0 ? at - 1 : at; /* for removed tokens */
			e->line = source_position(new.sources, t->src->id, t->starts[beside]).line;
			e->before = small_text(a, &old);
			e->after = e->before ? small_text(a, &new) : NULL;
			e->name = e->after ? name_of_value(a, t, at) : NULL;
			if (!e->name)
				e->name = definitions(a, new.from == new.to ? &old : &new, &e->more);
		}
	}
	close_side(&old);
	close_side(&new);
}

static struct edit_text line_at(struct edit_text t, size_t at)
{
	size_t from = at < t.len ? at : t.len, to = from;
	while (from > 0 && t.at[from - 1] != '\n')
		from--;
	while (to < t.len && t.at[to] != '\n')
		to++;
	return (struct edit_text){t.at + from, to - from};
}

/* Reads the trimmed key and value of a line `key = value`. False for any other line. */
static bool key_value(struct arena *a, struct edit_text line, const char **key, const char **value)
{
	const char *eq = memchr(line.at, '=', line.len), *end = line.at + line.len, *from = line.at, *stop = eq;
	if (!eq)
		return false;
	while (from < eq && isspace((unsigned char)*from))
		from++;
	while (stop > from && isspace((unsigned char)stop[-1]))
		stop--;
	*key = arena_strndup(a, from, (size_t)(stop - from));
	for (from = eq + 1; from < end && isspace((unsigned char)*from);)
		from++;
	while (end > from && isspace((unsigned char)end[-1]))
		end--;
	*value = arena_strndup(a, from, (size_t)(end - from));
	return true;
}

/* A manifest or an included file: lines with keys. */
static void describe_lines(struct arena *a, struct edit *e, struct edit_text before, struct edit_text after)
{
	size_t at = 0;
	const char *old_key, *new_key, *old, *new;
	while (at < before.len && at < after.len && before.at[at] == after.at[at])
		at++;
	e->line = line_of_byte(before, after);
	bool known = key_value(a, line_at(after, at), &new_key, &new);
	if (known)
		e->name = new_key;
	if (known && key_value(a, line_at(before, at), &old_key, &old) && strcmp(old_key, new_key) == 0 && strlen(old) <= SMALL_BYTES &&
	    strlen(new) <= SMALL_BYTES) {
		e->before = old;
		e->after = new;
	}
}

struct edit edit_describe(struct arena *a, const char *file, struct edit_text before, struct edit_text after)
{
	struct edit e = {.file = file};
	if (!before.at || !after.at)
		e.what = after.at ? "is new" : before.at ? "is gone" : NULL;
	else if (path_has_extension(file, "tri"))
		describe_source(a, &e, before, after);
	else
		describe_lines(a, &e, before, after);
	return e;
}

void edit_print(const struct edit *e, struct buf *out)
{
	buf_puts(out, e->file);
	if (e->line)
		buf_printf(out, ":%u", e->line);
	if (e->what)
		buf_printf(out, " %s", e->what);
	if (e->name)
		buf_printf(out, " `%s`", e->name);
	if (e->more)
		buf_printf(out, " and %u more", e->more);
	if (e->before && e->after)
		buf_printf(out, " %s→%s", *e->before ? e->before : "nothing", *e->after ? e->after : "nothing");
}
