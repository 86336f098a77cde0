/* Notes of the resolver and the elaborator in an editor's index. Without an index, the usual case, each costs one test. */
#ifndef TRIB_FRONTEND_NAMES_INDEX_NOTE_H
#define TRIB_FRONTEND_NAMES_INDEX_NOTE_H
#include "frontend/index/index.h"
#include "frontend/names/module.h"

/* The prelude's symbols come first: its names, then the types that are not values. */
void index_add_builtin(struct frontend *f, const char *name, bool type);
void index_bare_types(struct frontend *f);
/* The symbol of an item; of an import, the symbol of its definition. */
uint32_t index_item(struct frontend *f, struct item *it);

/* ---- names (resolve_*.c) ---- */
struct definition {
	enum symbol_kind kind;
	node_id whole;
	uint32_t parent;
	bool typed;
};
/* Notes a definition, once for each position of a name. Returns its symbol. */
uint32_t index_define(struct frontend *f, const struct module *m, token_id name, const struct definition *d);
/* Notes the name of a capacity. All of one name are one symbol; those of the standard library are another. */
void index_capacity(struct frontend *f, const struct module *m, token_id name, node_id whole);
/* The symbol of a capacity, of the standard library or not; SYMBOL_NONE: there is none. */
uint32_t index_find_capacity(const struct index *ix, const char *name, bool std);
void index_use(struct frontend *f, span at, uint32_t symbol);
static inline bool index_asked(const struct frontend *f, span at)
{
	return f->index && f->index->asked.source == at.source && f->index->asked.start >= at.start && f->index->asked.start <= at.end;
}
void index_offer(struct frontend *f, const char *name, enum symbol_kind kind, uint32_t symbol, const char *detail);
/* Offers all names of the file's top level and the prelude. */
void index_offer_globals(struct frontend *f, struct module *m, enum ask_context context);
void index_offer_items(struct frontend *f, struct module *m, bool own);
#endif
