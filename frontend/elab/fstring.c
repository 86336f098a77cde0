/* f-strings. */
#include "frontend/elab/expr.h"
#include "frontend/syntax/literal.h"
#include "frontend/unit/text.h"

/* The `=` and the format between an expression and the next text. */
static struct text_format interpolation_format(struct elab *e, struct text_builder *builder, node_id expr)
{
	const struct tokens *tokens = &elab_tree(e)->tokens;
	token_id after = ast_last_token(elab_tree(e), expr) + 1;
	struct text_format s = no_text_format;
	s.at = elab_span(e, expr);
	if (token_kind(tokens, after) == TOK_ASSIGN) {
		span next = token_span(tokens, ++after);
		text_put_bytes(builder, tokens->src->text + s.at.start, next.start - s.at.start);
	}
	if (token_kind(tokens, after) != TOK_FSTR_SPEC)
		return s;
	s.text = token_text(tokens, after) + 1;
	s.n = token_len(tokens, after) - 1;
	s.at = token_span(tokens, after);
	const char *why = format_parse(s.text, s.n, &s.parsed);
	if (why) {
		struct diag *g = report_error(&e->em, DIAG_BAD_FSTRING, s.at, "%s", why);
		diag_note(e->em.report.out, g,
			  "a format is [[fill]align][sign][#][0][width][, or _][.precision][type], as in `:.3f`, `:>8`, `:04d`, `:,`");
		builder->poison = true;
	}
	return s;
}

struct value eval_fstring(struct elab *e, node_id n)
{
	struct ast_fstring fs = ast_fstring(elab_tree(e), n);
	struct text_builder t = {.e = &e->em};
	size_t len;
	for (uint32_t i = 0; i <= fs.n; i++) {
		const char *text = literal_string(&elab_tree(e)->tokens, fs.texts[i], e->em.f->arena, &len);
		text_put_bytes(&t, text, len);
		if (i == fs.n)
			break;
		struct text_format format = interpolation_format(e, &t, fs.exprs[i]);
		struct value v = eval(e, fs.exprs[i]);
		text_put_value(&t, v, &format);
	}
	return text_finish(&t, elab_span(e, n));
}
