/* Declarations of states. */
#include <string.h>
#include "frontend/elab/expr.h"
#include "frontend/elab/states.h"
#include "frontend/types/sig.h"

/* The dimensions of a state's type, if the source lists them. */
static struct ast_nodes declared_dims(const struct ast *t, node_id type)
{
	struct ast_nodes none = {NULL, 0};
	if (ast_kind(t, type) != NODE_TYPE_NAME || !ast_b(t, type))
		return none;
	struct ast_nodes args = ast_nodes(t, ast_b(t, type));
	bool listed = args.n && ast_kind(t, args.at[args.n - 1]) == NODE_TYPE_SHAPE;
	return listed ? ast_nodes(t, ast_a(t, args.at[args.n - 1])) : none;
}

/* Finds the dimension with a capacity. False: reported. */
static bool find_capacity(struct elab *e, struct layer_param *p, node_id type)
{
	struct ast_nodes dims = declared_dims(elab_tree(e), type);
	p->axis = STATE_FIXED;
	for (uint32_t i = 0; i < dims.n; i++) {
		if (ast_kind(elab_tree(e), dims.at[i]) != NODE_DIM_CAP)
			continue;
		name_id name = elab_name(e, ast_a(elab_tree(e), dims.at[i]));
		span at = elab_span(e, dims.at[i]);
		struct value bound;
		if (p->axis != STATE_FIXED)
			return report_false(&e->em, DIAG_STATE_TYPE, at, "state `%s` has two capacities: only one dimension can grow",
					    name_text(e->em.f, p->name));
		if (name_lookup(e, name, at, &bound)) {
			struct diag *g = report_error(&e->em, DIAG_STATE_TYPE, at, "`%s` has a value already, so it cannot name a capacity",
						      name_text(e->em.f, name));
			diag_help(e->em.report.out, g, "choose a new name; the manifest sets it: `state.T = 4096` for `cap T`");
			return false;
		}
		p->axis = i;
		p->capacity = name;
	}
	return true;
}

/* Sets the type, with 0 for the dimension that grows. False: reported, or not known while a definition is checked. */
static bool set_type(struct elab *e, struct layer_param *p, node_id type)
{
	struct sig s;
	sig_open(&s, &e->em, e->frame->mod, p->owner);
	s.use_locals = true;
	struct type *t = sig_type(&s, type);
	bool tensor = t->kind == TY_TENSOR && t->shape == SHAPE_DIMS;
	if (tensor && p->axis != STATE_FIXED)
		t->dims[p->axis] = dim_const(s.dims, 0);
	p->has_type = tensor && sig_constant_type(&s, t, &p->type);
	if (!p->has_type && t->kind != TY_ANY && !e->em.checking) {
		struct diag *g = report_error(&e->em, DIAG_STATE_TYPE, t->at, "the type of state `%s` is not known when the layer is made",
					      name_text(e->em.f, p->name));
		diag_help(e->em.report.out, g,
			  "write an element type, and sizes that are numbers or arguments of the layer; one dimension may be `cap T`");
	}
	sig_close(&s);
	return p->has_type;
}

struct layer_param *declare_state(struct elab *e, struct instance *in, node_id n)
{
	struct ast_const c = ast_const(elab_tree(e), n);
	struct layer_param *p = ARENA_NEW(e->em.f->arena, struct layer_param);
	*p = (struct layer_param){.id = e->em.f->elab.next_param++,
				  .name = elab_name(e, c.name),
				  .owner = in,
				  .node = n,
				  .dims = e->em.b->dims,
				  .axis = STATE_FIXED,
				  .at = elab_span(e, n)};
	const char *name = name_text(e->em.f, p->name);
	size_t len = strlen(name) + 1;
	char *unique = ARENA_ARRAY(e->em.f->arena, char, len + sizeof p->id); /* shown as `name` */
	memcpy(unique, name, len);
	memcpy(unique + len, &p->id, sizeof p->id);
	p->local = intern(e->em.f->names, unique, len + sizeof p->id);
	bool ok = find_capacity(e, p, c.type) && set_type(e, p, c.type);
	if (ok && c.value && p->axis != STATE_FIXED) {
		struct diag *g = report_error(&e->em, DIAG_STATE_TYPE, elab_span(e, c.value),
					      "state `%s` has a capacity, so it is empty at first", name);
		diag_help(e->em.report.out, g, "remove the initial value; a first run may assign or append one");
		ok = false;
	}
	in->failed = in->failed || !ok;
	return p;
}
