/* Initializers of parameters: units without inputs. */
#include "base/bug.h"
#include "frontend/unit/elab.h"

static bool init_fits(struct elab *e, struct iparam *p, struct value *v, span at)
{
	struct hir_type have, want = p->type;
	if (value_is_scalar(*v)) {
		hir_ref r = emit_scalar(e, *v, want.elem, at);
		if (r == HIR_NONE)
			return false;
		*v = value_tensor(r);
	}
	if (v->kind != V_TENSOR) {
		if (!is_poison(*v))
			elab_error(e, DIAG_PARAM_INIT, at, "the initializer of `%s` is %s, not a tensor", name_text(e->f, p->name),
				   elab_value_text(e, *v));
		return false;
	}
	have = *type_of(e, v->u.t);
	for (uint32_t i = 0; i < want.rank; i++) {
		int64_t n = -1;
		dim_is_const(p->dims, want.dims[i], &n);
		want.dims[i] = dim_const(e->b->dims, n);
	}
	if (!hir_same_shape(&have, &want) || !dtype_widens(have.elem, want.elem)) {
		struct diag *g =
			elab_error(e, DIAG_PARAM_INIT, at, "the initializer of `%s` is %s, but the parameter is %s%s",
				   name_text(e->f, p->name), elab_value_text(e, *v), dtype_text(want.elem), elab_shape_text(e, &want));
		diag_secondary(e->out, g, p->at, "declared here");
		return false;
	}
	*v = value_tensor(emit_cast(e, v->u.t, want.elem, at));
	return true;
}

struct hir_unit *param_init(struct elab *e, struct iparam *p)
{
	struct module *m = p->owner->item->mod;
	struct ast_const c = ast_const(&m->ast, p->node);
	uint64_t known;
	if (!c.value || !p->known)
		return NULL;
	struct hasher *h = hasher_new();
	hasher_add_str(h, "initializer");
	hasher_add_hash(h, p->owner->key);
	hasher_add_str(h, name_text(e->f, p->name));
	hash128 identity = hasher_finish(h);
	if (map_get(&e->f->elab.units, identity, &known))
		return (struct hir_unit *)(uintptr_t)known;
	BUG_ON(e->f->arena != e->f->session);
	struct func fn = {.mod = m, .item = p->owner->item, .name = p->name};
	struct frame fr = {.up = e->frame, .mod = m, .self = p->owner, .base = e->locals.len, .call_at = SPAN_NONE};
	struct builder b;
	struct hir_unit *u = NULL;
	builder_open(e, &b);
	e->frame = &fr;
	struct value v = eval(e, c.value);
	bool ok = init_fits(e, p, &v, node_span(m, c.value));
	e->frame = fr.up;
	if (ok)
		u = unit_finish(e, &fn, identity, arena_printf(e->f->arena, "initializer of %s", name_text(e->f, p->name)), &v);
	else
		builder_close(e);
	if (u)
		u->at = p->at;
	map_put(&e->f->elab.units, identity, (uint64_t)(uintptr_t)u);
	return u;
}
