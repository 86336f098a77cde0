/* Each definition is elaborated once with unknown arguments of its declared types. */
#include "frontend/check.h"
#include <string.h>
#include "frontend/elab.h"
#include "frontend/sig.h"

static void check_alias(struct elab *e, struct item *it)
{
	struct ast_alias al = ast_alias(&it->mod->ast, it->node);
	struct sig s;
	sig_open(&s, e, it->mod, NULL);
	sig_generics(&s, al.generics);
	sig_type(&s, al.type);
	sig_close(&s);
}

static void check_main(struct elab *e, struct item *it)
{
	enum flow flow;
	eval_block(e, ast_a(&it->mod->ast, it->node), &flow);
}

void check_item(struct frontend *f, struct item *it)
{
	struct elab e;
	struct builder b;
	struct frame root = {.mod = it->mod, .call_at = SPAN_NONE};
	elab_init(&e, f, true);
	builder_open(&e, &b);
	b.open_params = true;
	e.frame = &root;
	switch (it->kind) {
	case ITEM_CONST: item_value(&e, it, tok_span(it->mod, it->name_token)); break;
	case ITEM_FN:
	case ITEM_LAYER: check_func(&e, item_func(f, it)); break;
	case ITEM_MODULE_LAYER: check_layer(&e, it); break;
	case ITEM_TYPE: check_alias(&e, it); break;
	case ITEM_MAIN: check_main(&e, it); break;
	case ITEM_IMPORT:
	case ITEM_FROM: break;
	}
	elab_free(&e);
}
