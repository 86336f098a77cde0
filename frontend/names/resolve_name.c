/* Names in scope, their uses, and the completions that an editor gets. */
#include "frontend/names/index_note.h"
#include "frontend/names/resolve_state.h"

void scope_push(struct resolver *r, token_id name, enum symbol_kind kind, node_id whole, bool typed)
{
	struct definition d = {kind, whole, r->parent, typed};
	name_id n = name_at(r, name);
	struct scope_entry *hidden = scope_find(r, n);
	struct scope_entry s = {.name = n, .symbol = index_define(r->f, r->m, name, &d), .tok = name, .kind = (uint8_t)kind};
	s.hidden = hidden ? (uint32_t)(hidden - r->scope.at) + 1 : 0;
	vec_push(&r->scope, s);
	while (r->f->resolver.innermost.len <= n)
		vec_push(&r->f->resolver.innermost, 0);
	r->f->resolver.innermost.at[n] = r->scope.len;
}

struct scope_entry *scope_find(struct resolver *r, name_id n)
{
	uint32_t at = n < r->f->resolver.innermost.len ? r->f->resolver.innermost.at[n] : 0;
	return at ? &r->scope.at[at - 1] : NULL;
}

void scope_cut(struct resolver *r, uint32_t mark)
{
	while (r->scope.len > mark) {
		const struct scope_entry *s = &r->scope.at[--r->scope.len];
		r->f->resolver.innermost.at[s->name] = s->hidden;
	}
}

void use_item(struct resolver *r, struct item *it, token_id tok)
{
	it->resolved.used = true;
	r->f->loaded.reexports = r->f->loaded.reexports || (it->import.target && it->mod != r->m);
	if (r->f->index)
		index_use(r->f, tok_span(r->m, tok), index_item(r->f, it));
}

bool use_defined_name(struct resolver *r, token_id tok)
{
	name_id n = name_at(r, tok);
	struct scope_entry *local = scope_find(r, n);
	struct item *it = local ? NULL : module_find(r->m, n);
	if (local) {
		local->used = true;
		index_use(r->f, tok_span(r->m, tok), local->symbol);
	} else if (it) {
		use_item(r, it, tok);
	}
	return local || it;
}

bool use_name(struct resolver *r, token_id tok)
{
	uint64_t i;
	if (use_defined_name(r, tok))
		return true;
	if (!map_get(&r->f->prelude.by_name, map_key_u64(name_at(r, tok)), &i))
		return false;
	index_use(r->f, tok_span(r->m, tok), (uint32_t)i);
	return true;
}

void offer_names(struct resolver *r, token_id tok, enum ask_context context)
{
	if (!index_asked(r->f, tok_span(r->m, tok)))
		return;
	r->f->index->candidates.len = 0;
	for (uint32_t i = r->scope.len; i-- > 0;) {
		struct scope_entry s = r->scope.at[i];
		if (scope_find(r, s.name) == &r->scope.at[i])
			index_offer(r->f, name_text(r->f, s.name), r->f->index->symbols.at[s.symbol].kind, s.symbol, NULL);
	}
	index_offer_globals(r->f, r->m, context);
}

void offer_members(struct resolver *r, struct module *m, token_id tok)
{
	if (!index_asked(r->f, tok_span(r->m, tok)))
		return;
	r->f->index->context = ASK_MEMBER;
	index_offer_items(r->f, m, m == r->m);
}
