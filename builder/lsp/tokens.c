/* Semantic tokens: five numbers for each name. A position is relative to the name before. */
#include "builder/lsp/query.h"

enum token_type {
#define TOKEN_TYPE(id, name) TYPE_##id,
#include "builder/lsp/token_types.def"
#undef TOKEN_TYPE
	TYPE_NONE
};
enum { MODIFIER_DECLARATION = 1, MODIFIER_LIBRARY = 2 };

static enum token_type tokens_type_of(enum symbol_kind k)
{
	switch (k) {
	case SYMBOL_MODULE: return TYPE_NAMESPACE;
	case SYMBOL_FN:
	case SYMBOL_BUILTIN: return TYPE_FUNCTION;
	case SYMBOL_LAYER: return TYPE_CLASS;
	case SYMBOL_TYPE: return TYPE_TYPE;
	case SYMBOL_METHOD: return TYPE_METHOD;
	case SYMBOL_PARAM:
	case SYMBOL_STATE:
	case SYMBOL_MEMBER: return TYPE_PROPERTY;
	case SYMBOL_ARG: return TYPE_PARAMETER;
	case SYMBOL_CONST:
	case SYMBOL_LOCAL: return TYPE_VARIABLE;
	case SYMBOL_GENERIC:
	case SYMBOL_CAPACITY:
	case SYMBOL_DIM: return TYPE_TYPE_PARAMETER;
	default: return TYPE_NONE;
	}
}

/* The kind of the definition that an imported name leads to. */
static enum symbol_kind tokens_kind_of(const struct index *ix, const struct symbol *s)
{
	uint32_t to = s->kind == SYMBOL_ALIAS && s->target.source != SPAN_NO_SOURCE ? index_symbol_at(ix, s->target) : SYMBOL_NONE;
	return to == SYMBOL_NONE ? s->kind : ix->symbols.at[to].kind;
}

void query_semantic_tokens(struct query *q)
{
	uint32_t n;
	int64_t last_line = 0, last_char = 0;
	const struct index *ix = q->analysis->index;
	const struct index_use *uses = index_uses_in(ix, q->source->id, &n);
	json_open(q->out, '{');
	json_member_open(q->out, "data", '[');
	for (uint32_t i = 0; i < n; i++) {
		const struct symbol *s = uses[i].symbol == SYMBOL_NONE ? NULL : &ix->symbols.at[uses[i].symbol];
		enum token_type type = s ? tokens_type_of(tokens_kind_of(ix, s)) : TYPE_NONE;
		struct position at = source_position(q->analysis->sources, q->source->id, uses[i].at.start);
		const char *line;
		uint32_t len;
		source_line(q->analysis->sources, q->source->id, at.line, &line, &len);
		if (type == TYPE_NONE || at.col - 1 + (uses[i].at.end - uses[i].at.start) > len)
			continue;
		int64_t row = at.line - 1, column = position_width(line, at.col - 1, q->state->client.utf8);
		bool declared = s->at.source == uses[i].at.source && s->at.start == uses[i].at.start;
		json_int(q->out, row - last_line);
		json_int(q->out, row == last_line ? column - last_char : column);
		json_int(q->out, position_width(line + at.col - 1, uses[i].at.end - uses[i].at.start, q->state->client.utf8));
		json_int(q->out, type);
		json_int(q->out, (declared ? MODIFIER_DECLARATION : 0) | (s->std ? MODIFIER_LIBRARY : 0));
		last_line = row;
		last_char = column;
	}
	json_close(q->out, ']');
	json_close(q->out, '}');
}
