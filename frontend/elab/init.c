/* Initializers of parameters: units without inputs. */
#include "frontend/elab/unit.h"
#include "base/bug.h"
#include "frontend/elab/locals.h"

static bool init_fits(struct elab *e, struct layer_param *p, struct value *v, span at)
{
	struct hir_type have, want = p->type;
	if (value_is_scalar(*v)) {
		hir_ref r = emit_scalar(&e->em, *v, want.elem, at);
		if (r == HIR_NONE)
			return false;
		*v = value_tensor(r);
	}
	if (v->kind != V_TENSOR) {
		if (!is_poison(*v))
			report_error(&e->em, DIAG_PARAM_INIT, at, "the initializer of `%s` is %s, not a tensor",
				     name_text(e->em.f, p->name), value_text(&e->em, *v));
		return false;
	}
	have = *type_of(&e->em, v->u.t);
	for (uint32_t i = 0; i < want.rank; i++) {
		int64_t n = -1;
		dim_is_const(p->dims, want.dims[i], &n);
		want.dims[i] = dim_const(e->em.b->dims, n);
	}
	if (!hir_same_shape(&have, &want) || !dtype_widens(have.elem, want.elem)) {
		struct diag *g = report_error(&e->em, DIAG_PARAM_INIT, at, "the initializer of `%s` is %s, but the %s is %s%s",
					      name_text(e->em.f, p->name), value_text(&e->em, *v), p->local ? "state" : "parameter",
					      dtype_text(want.elem), shape_text(&e->em, &want));
		diag_secondary(e->em.report.out, g, p->at, "declared here");
		return false;
	}
	*v = value_tensor(emit_cast(&e->em, v->u.t, want.elem, at));
	return true;
}

struct hir_unit *param_init(struct elab *e, struct layer_param *p)
{
	struct module *m = p->owner->item->mod;
	struct ast_const c = ast_const(&m->ast, p->node);
	uint64_t known;
	if (!c.value || !p->has_type)
		return NULL;
	struct hasher *h = hasher_new();
	hasher_add_str(h, "initializer");
	hasher_add_hash(h, p->owner->key);
	hasher_add_str(h, name_text(e->em.f, p->name));
	hash128 identity = hasher_finish(h);
	if (map_get(&e->em.f->elab.units, identity, &known))
		return (struct hir_unit *)(uintptr_t)known;
	BUG_ON(e->em.f->arena != e->em.f->session);
	struct func fn = {.mod = m, .item = p->owner->item, .name = p->name};
	struct frame fr = {.site.at = SPAN_NONE, .mod = m, .self = p->owner};
	struct builder b;
	struct hir_unit *u = NULL;
	builder_open(&e->em, &b);
	frame_push(e, &fr);
	struct value v = eval(e, c.value);
	bool ok = init_fits(e, p, &v, node_span(m, c.value));
	frame_pop(e);
	if (ok)
		u = unit_finish(e, &fn, identity, arena_printf(e->em.f->arena, "initializer of %s", name_text(e->em.f, p->name)), &v);
	else
		builder_close(&e->em);
	if (u)
		u->at = p->at;
	map_put(&e->em.f->elab.units, identity, (uint64_t)(uintptr_t)u);
	return u;
}
