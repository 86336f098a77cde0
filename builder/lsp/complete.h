/* Items of a completion. */
#ifndef TRIB_BUILDER_LSP_COMPLETE_H
#define TRIB_BUILDER_LSP_COMPLETE_H
#include "builder/lsp/call.h"

/* Some of the protocol's CompletionItemKind. */
enum { ITEM_FUNCTION = 3, ITEM_FIELD = 5, ITEM_CLASS = 7, ITEM_MODULE = 9, ITEM_PROPERTY = 10, ITEM_KEYWORD = 14 };

/* One item; `detail` may be NULL. */
void complete_put(struct call *c, const char *name, int kind, const char *detail);
/* The items at a place of a manifest. */
void complete_manifest(struct call *c, const struct place *p);
#endif
