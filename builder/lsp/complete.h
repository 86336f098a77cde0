/* Items of a completion. */
#ifndef TRIB_BUILDER_LSP_COMPLETE_H
#define TRIB_BUILDER_LSP_COMPLETE_H
#include "builder/lsp/query.h"

/* Some of the protocol's CompletionItemKind. */
enum { ITEM_FUNCTION = 3, ITEM_FIELD = 5, ITEM_CLASS = 7, ITEM_MODULE = 9, ITEM_PROPERTY = 10, ITEM_KEYWORD = 14 };

/* Writes one item; `detail` may be NULL. */
void completion_put_item(struct query *q, const char *name, int kind, const char *detail);
/* Writes the items at the offset of a manifest. */
void completion_put_manifest(struct query *q);
#endif
