/* Inlay hints: the inferred type after a `let` name, the inferred result after a signature. */
#include <string.h>
#include "builder/lsp/query.h"

/* Finds the offset of the hint. False if the definition itself contains the type. */
static bool find_hint(const struct symbol *s, uint32_t *at)
{
	bool callable = s->kind == SYMBOL_FN || s->kind == SYMBOL_LAYER || s->kind == SYMBOL_METHOD;
	bool variable = s->kind == SYMBOL_LOCAL || s->kind == SYMBOL_MEMBER || s->kind == SYMBOL_PARAM || s->kind == SYMBOL_CONST;
	*at = callable ? s->header.end : s->at.end;
	return (callable || variable) && !s->typed && s->type;
}

/* The length of the type without the value of a number, which the source shows. */
static size_t type_len(const char *type)
{
	const char *value = strstr(type, " = ");
	return value ? (size_t)(value - type) : strlen(type);
}

void query_inlay_hints(struct query *q)
{
	const struct index *ix = q->analysis->index;
	json_open(q->out, '[');
	for (uint32_t i = 0; i < ix->symbols.len; i++) {
		const struct symbol *s = &ix->symbols.at[i];
		uint32_t at;
		if (s->at.source != q->source->id || !find_hint(s, &at) || at < q->first || at > q->last)
			continue;
		struct buf label = {0};
		buf_printf(&label, "%s %.*s", at == s->at.end ? ":" : "->", (int)type_len(s->type), s->type);
		json_open(q->out, '{');
		put_position(q, "position", (span){q->source->id, at, at});
		json_member_str(q->out, "label", label.at);
		json_member_int(q->out, "kind", 1);
		json_member_bool(q->out, "paddingLeft", at != s->at.end);
		json_close(q->out, '}');
		buf_free(&label);
	}
	json_close(q->out, ']');
}
