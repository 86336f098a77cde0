/* Elaborates each definition once with unknown arguments of its declared types. */
#include "frontend/elab/check.h"
#include <string.h>
#include "frontend/elab/call.h"
#include "frontend/elab/layer.h"
#include "frontend/elab/name.h"
#include "frontend/types/sig.h"
#include "frontend/unit/reads.h"

static void check_alias(struct elab *e, struct item *it)
{
	struct ast_alias al = ast_alias(&it->mod->ast, it->node);
	struct sig s;
	sig_open(&s, &e->em, it->mod, NULL);
	sig_generics(&s, al.generics);
	sig_type(&s, al.type);
	sig_close(&s);
}

static void check_main(struct elab *e, struct item *it)
{
	enum flow flow;
	eval_block(e, ast_a(&it->mod->ast, it->node), &flow);
}

static void check_item(struct elab *e, struct item *it)
{
	struct builder b;
	struct frame root = {.site.at = SPAN_NONE, .mod = it->mod};
	struct reads reads;
	builder_open(&e->em, &b);
	b.open_params = true;
	frame_push(e, &root);
	reads_open(&e->em, &reads);
	switch (it->kind) {
	case ITEM_CONST: item_value(e, it, tok_span(it->mod, it->name_token)); break;
	case ITEM_FN:
	case ITEM_LAYER: check_func(e, item_func(e->em.f, it)); break;
	case ITEM_MODULE_LAYER: check_layer(e, it); break;
	case ITEM_TYPE: check_alias(e, it); break;
	case ITEM_MAIN: check_main(e, it); break;
	case ITEM_IMPORT:
	case ITEM_FROM: break;
	}
	struct item_reads read = reads_close(&e->em);
	if (it->kind != ITEM_CONST) /* evaluation records its own reads */
		it->checked.reads = read;
	it->refresh.must_check = false;
	frame_pop(e);
	builder_close(&e->em);
}

/* Memory of one check is released before the next, so that it stays small and in the processor's cache. */
void check_module(struct frontend *f, struct module *m, struct diags *discarded, bool again)
{
	struct arena *work = arena_new(64 * 1024);
	struct diags *shown = f->diags;
	struct elab e;
	elab_init(&e, f, true);
	arena_alloc(work, 1, 1); /* keeps the first block */
	arena_mark_t start = arena_mark(work);
	f->arena = work;
	for (uint32_t i = 0; i < m->n_items; i++) {
		const struct item *it = &m->items[i];
		if (it->has_syntax_error != (discarded != NULL) ||
		    (again ? !it->refresh.must_check : it->refresh.check == CHECK_VALID && it->kind != ITEM_CONST))
			continue;
		f->diags = e.em.report.out = discarded ? discarded : shown;
		check_item(&e, &m->items[i]);
		f->diags = shown;
		elab_reset(&e);
		arena_release(work, start);
	}
	f->arena = f->session;
	elab_free(&e);
	arena_free(work);
}
