/* Inlay hints: the inferred type behind a `let` name, the inferred result behind a signature. */
#include <string.h>
#include "builder/lsp/call.h"

/* Where the hint stands; false: the definition says it itself. */
static bool hint_place(const struct symbol *s, uint32_t *at)
{
	bool callable = s->kind == SYMBOL_FN || s->kind == SYMBOL_LAYER || s->kind == SYMBOL_METHOD;
	bool variable = s->kind == SYMBOL_LOCAL || s->kind == SYMBOL_MEMBER || s->kind == SYMBOL_PARAM || s->kind == SYMBOL_CONST;
	*at = callable ? s->header.end : s->at.end;
	return (callable || variable) && !s->typed && s->type;
}

/* The value of a number stands behind it already. */
static size_t type_len(const char *type)
{
	const char *value = strstr(type, " = ");
	return value ? (size_t)(value - type) : strlen(type);
}

void request_inlay_hints(struct call *c)
{
	struct place p;
	size_t start, end;
	if (!call_range(c, &p, &start, &end))
		return;
	const struct index *ix = p.a->index;
	json_open(c->out, '[');
	for (uint32_t i = 0; i < ix->symbols.len; i++) {
		const struct symbol *s = &ix->symbols.at[i];
		uint32_t at;
		if (s->at.source != p.source->id || !hint_place(s, &at) || at < start || at > end)
			continue;
		struct buf label = {0};
		buf_printf(&label, "%s %.*s", at == s->at.end ? ":" : "->", (int)type_len(s->type), s->type);
		json_open(c->out, '{');
		put_position(c, p.a, "position", (span){p.source->id, at, at});
		json_member_str(c->out, "label", label.at);
		json_member_int(c->out, "kind", 1);
		json_member_bool(c->out, "paddingLeft", at != s->at.end);
		json_close(c->out, '}');
		buf_free(&label);
	}
	json_close(c->out, ']');
}
