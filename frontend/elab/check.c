/* Elaborates each definition once with unknown arguments of its declared types. */
#include "frontend/elab/elaborate.h"
#include <string.h>
#include "frontend/elab/function.h"
#include "frontend/elab/index_value.h"
#include "frontend/elab/locals.h"
#include "frontend/elab/expr.h"
#include "frontend/types/sig.h"
#include "frontend/unit/reads.h"

/* True if the signature exceeds the limit of sizes (reported): the time to solve grows with their square. */
static bool too_many_sizes(struct sig *s, node_id param)
{
	enum { MOST = 2000 };
	if (s->vars.len <= MOST)
		return false;
	report_error(s->e, DIAG_ELAB_STEPS, node_span(s->mod, param), "the signature has more than %d sizes and generics", MOST);
	return true;
}

/* True if an element type is a generic that nothing has bound. With `bind` it becomes float32, which has every trait. */
static bool has_generic_elements(struct sig *s, bool bind)
{
	bool found = false;
	for (uint32_t i = 0; i < s->vars.len; i++) {
		struct sig_var *v = &s->vars.at[i];
		if (v->kind != SV_DTYPE || v->bound)
			continue;
		found = true;
		v->bound = bind;
		v->elem = DT_FLOAT32;
	}
	return found;
}

/* Checks a function's body with unknown arguments of the declared types. Returns whether it has generic element types; values of those are
 * unknown, or with `as_floats` they are float32. captured: the values of fn->captured. */
static bool check_body(struct elab *e, struct func *fn, const struct value *captured, bool as_floats)
{
	struct ast_fn decl = ast_fn(&fn->mod->ast, fn->node);
	const struct ast *t = &fn->mod->ast;
	struct frame fr;
	struct sig s;
	uint32_t first = dims_syms(e->em.b->dims);
	bool generic = false;
	if (!enter_function(e, fn, NULL, &fr, SPAN_NONE, NULL))
		return false;
	push_captured(e, fn, captured);
	sig_open(&s, &e->em, fn->mod, fn->self);
	s.use_locals = fn->local;
	sig_generics(&s, decl.generics);
	struct value *values = ARENA_ARRAY(e->em.f->arena, struct value, decl.params.n + 1);
	for (uint32_t i = 0; i < decl.params.n && !too_many_sizes(&s, decl.params.at[i]); i++) {
		node_id type = ast_a(t, decl.params.at[i]);
		struct type *declared = type ? sig_type(&s, type) : NULL;
		generic = has_generic_elements(&s, as_floats) || generic;
		fr.tensor_args = fr.tensor_args || (declared && declared->kind == TY_TENSOR);
		bool size = declared && declared->kind == TY_SCALAR && dtype_class(declared->elem) == DTC_INT;
		values[i] = size       ? sig_unknown_size(&s, node_name(e, fn->mod, decl.params.at[i]))
			    : declared ? sig_unknown_value(&s, declared, node_span(fn->mod, decl.params.at[i]))
				       : VALUE_POISON;
	}
	sig_bind_unknowns(&s);
	sig_bind_locals(&s);
	e->em.b->named_from = first;
	e->em.b->named_to = decl.where.n ? first : dims_syms(e->em.b->dims); /* a condition may make two equal */
	for (uint32_t i = 0; i < decl.params.n; i++) {
		check_default(e, fn->mod, fn->self, decl.generics, decl.params.at[i]);
		index_note_value(e, ast_token(t, decl.params.at[i]), values[i]);
		local_push(e, node_name(e, fn->mod, decl.params.at[i]), values[i], false);
	}
	for (uint32_t i = 0; i < decl.where.n; i++)
		check_condition(e, decl.where.at[i]);
	index_note_result(e, run_statements(e, &s, &decl));
	sig_close(&s);
	leave_function(e);
	return generic;
}

/* Shapes do not depend on element types: what is wrong with the shapes of one type is wrong. */
static void check_shapes(struct elab *e, struct func *fn, const struct value *captured)
{
	struct frontend *f = e->em.f;
	struct diags *shown = e->em.report.out, *all = diags_new(0);
	struct index *index = f->index;
	uint32_t errors = e->em.report.errors, before = diags_errors(shown);
	f->index = NULL;
	f->diags = e->em.report.out = all;
	check_body(e, fn, captured, true);
	f->diags = e->em.report.out = shown;
	f->index = index;
	diags_merge_class(shown, all, DIAG_CLASS_SHAPES);
	e->em.report.errors = errors + diags_errors(shown) - before;
	diags_free(all);
}

static void check_func(struct elab *e, struct func *fn, const struct value *captured)
{
	uint32_t errors = e->em.report.errors;
	if (check_body(e, fn, captured, false) && e->em.report.errors == errors)
		check_shapes(e, fn, captured);
}

void check_local_fn(struct elab *e, struct func *fn, const struct value *captured)
{
	uint32_t from = e->em.b->named_from, to = e->em.b->named_to;
	check_func(e, fn, captured);
	e->em.b->named_from = from;
	e->em.b->named_to = to;
}

static void check_layer(struct elab *e, struct item *it, bool defaults)
{
	const struct instance *in = instantiate_generic(e, it, defaults);
	for (uint32_t i = 0; i < in->n_members; i++)
		if (in->members[i].kind == M_FN)
			check_func(e, in->members[i].value.u.fn, NULL);
}

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

static void check_item(struct elab *e, struct item *it, bool defaults)
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
	case ITEM_LAYER: check_func(e, item_func(e->em.f, it), NULL); break;
	case ITEM_MODULE_LAYER: check_layer(e, it, defaults); break;
	case ITEM_TYPE: check_alias(e, it); break;
	case ITEM_MAIN: check_main(e, it); break;
	case ITEM_IMPORT:
	case ITEM_FROM: break;
	}
	struct item_reads read = reads_close(&e->em);
	if (it->kind != ITEM_CONST && !defaults) /* evaluation records its own reads */
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
		check_item(&e, &m->items[i], false);
		f->diags = shown;
		elab_reset(&e);
		arena_release(work, start);
	}
	f->arena = f->session;
	elab_free(&e);
	arena_free(work);
}

void check_with_defaults(struct frontend *f, struct item *it)
{
	struct arena *work = arena_new(64 * 1024);
	struct elab e;
	elab_init(&e, f, true);
	f->arena = work;
	check_item(&e, it, true);
	f->arena = f->session;
	elab_free(&e);
	arena_free(work);
}
