/* Matches values against patterns. */
#include <string.h>
#include "base/buf.h"
#include "frontend/types/sig.h"
#include "frontend/types/type_state.h"

/* A generic element type: the type that it is bound to, else its name. */
static const char *elem_var_text(const struct sig *s, const struct type *t)
{
	const struct sig_var *v = &s->vars.at[t->elem_var];
	return v->bound ? dtype_text(v->elem) : name_text(s->e->f, v->name);
}

static const char *declared_type_text(struct sig *s, const struct type *t)
{
	struct arena *a = s->e->f->arena;
	switch (t->kind) {
	case TY_TENSOR: {
		const char *shape = t->shape == SHAPE_DIMS ? sig_pattern_text(s, t) : "";
		if (t->elem == DT_COUNT && t->elem_var == SIG_NO_VAR)
			return arena_printf(a, "a tensor%s%s", *shape ? " " : "", shape);
		return arena_printf(a, "a tensor %s%s", t->elem != DT_COUNT ? dtype_text(t->elem) : elem_var_text(s, t), shape);
	}
	case TY_SCALAR: return arena_printf(a, "%s", dtype_text(t->elem));
	case TY_STR: return "a string";
	case TY_VOID: return "no value";
	case TY_TUPLE: return arena_printf(a, "a tuple of %u", t->n_items);
	case TY_LIST: return t->n_items > 1 ? arena_printf(a, "a list of %u", t->n_items) : "a list";
	case TY_LAYER: return t->layer ? arena_printf(a, "an instance of `%s`", name_text(s->e->f, t->layer->name)) : "a layer";
	case TY_FN: return "a function or layer";
	case TY_OPTION: return arena_printf(a, "%s or none", declared_type_text(s, t->items[0]));
	case TY_GENERIC: return arena_printf(a, "a value of type `%s`", name_text(s->e->f, s->vars.at[t->elem_var].name));
	case TY_ANY: break;
	}
	return "another type";
}

/* Suggests the call that makes a tensor of a list. */
static void suggest_tensor(struct emitter *e, struct diag *g, dtype elem, span at)
{
	const struct source *src = sources_get(e->f->sources, at.source);
	const char *maker = elem == DT_TRIT ? "ternary_tensor" : "tensor";
	diag_help(e->report.out, g, "make the list a tensor: `%s(…)`", maker);
	diag_edit(e->report.out, g, at, arena_printf(e->f->arena, "%s(%.*s)", maker, (int)(at.end - at.start), src->text + at.start));
}

/* Suggests the bool for 0 or 1. */
static void suggest_bool(struct emitter *e, struct diag *g, int64_t n, span at)
{
	diag_help(e->report.out, g, "write `%s`", n ? "true" : "false");
	if (at.source != SPAN_NO_SOURCE && at.end == at.start + 1) /* the number itself */
		diag_edit(e->report.out, g, at, n ? "true" : "false");
}

/* "5 of type int32" for a number with a declared type, else value_text. */
static const char *value_with_type_text(struct emitter *e, const struct type *t, struct value v)
{
	bool number = (v.kind == V_INT || v.kind == V_FLOAT) && v.typed && (t->kind == TY_SCALAR || t->kind == TY_TENSOR);
	if (!number)
		return value_text(e, v);
	struct buf b = {0};
	value_print(e->f, e->b->dims, v, &b);
	const char *text = arena_printf(e->f->arena, "%s of type %s", b.at, dtype_text(scalar_type(v)));
	buf_free(&b);
	return text;
}

static bool report_mismatch(struct sig *s, struct type *t, struct value v, const struct sig_site *site)
{
	struct emitter *e = s->e;
	if (report_missing_arguments(e, v, site->at))
		return false;
	const char *text = value_with_type_text(e, t, v);
	struct diag *g =
		report_error(e, DIAG_TYPE_MISMATCH, site->at, "%s is %s, but %s is declared", site->what, text, declared_type_text(s, t));
	diag_label_primary(e->report.out, g, "%s", text);
	e->evaluator->note_type_error(e, site->at);
	if (site->decl.source != SPAN_NO_SOURCE)
		diag_secondary(e->report.out, g, site->decl, "declared here");
	if (v.kind == V_TENSOR && t->kind == TY_TENSOR && t->elem == DT_TRIT)
		diag_help(e->report.out, g, "make trits by `ternary_quantize(…)`, or with their scale by `absmean_quantize(…)`");
	else if (v.kind == V_TENSOR && t->kind == TY_TENSOR && t->elem != DT_COUNT)
		diag_help(e->report.out, g, "convert it: `%s(…)`", dtype_text(t->elem));
	else if (v.typed && t->kind == TY_SCALAR && dtype_class(t->elem) == dtype_class(scalar_type(v)))
		diag_help(e->report.out, g, "narrowing needs a cast: `%s(…)`", dtype_text(t->elem));
	else if (t->kind == TY_SCALAR && dtype_class(t->elem) == DTC_INT &&
		 (v.kind == V_FLOAT || (v.kind == V_TENSOR && dtype_class(type_of(e, v.u.t)->elem) == DTC_FLOAT)))
		diag_help(e->report.out, g, "`/` gives a float, `//` an integer; `int(…)` converts a float");
	else if (v.kind == V_TUPLE && t->kind == TY_TENSOR)
		diag_help(e->report.out, g, "take one of the tuple's values, `t[0]`, or name all of them: `let (a, b) = t`");
	else if (v.kind == V_INT && (v.u.i == 0 || v.u.i == 1) && t->kind == TY_SCALAR && t->elem == DT_BOOL)
		suggest_bool(e, g, v.u.i, site->at);
	else if (v.kind == V_LIST && t->kind == TY_TENSOR && site->at.source != SPAN_NO_SOURCE)
		suggest_tensor(e, g, t->elem, site->at);
	return false;
}

/* ---- matching ---- */

static bool match_elem(struct sig *s, struct type *t, struct value *v, const struct sig_site *site)
{
	struct emitter *e = s->e;
	dtype have = type_of(e, v->u.t)->elem, want = t->elem;
	if (want == DT_COUNT && t->elem_var != SIG_NO_VAR) {
		struct sig_var *var = &s->vars.at[t->elem_var];
		if (!var->bound) {
			var->bound = true;
			var->elem = have;
			var->bound_at = site->at;
			var->bound_by = site->what;
			var->bound_text = value_text(e, *v);
			return true;
		}
		want = var->elem;
	}
	if (want == DT_COUNT || want == have)
		return true;
	if (!dtype_widens(have, want))
		return report_mismatch(s, t, *v, site);
	*v = value_tensor(emit_cast(e, v->u.t, want, site->at));
	return true;
}

/* The signature's symbol for a symbol that the check added to the unit while the signature was open. */
static uint32_t unify_import_symbol(struct sig *s, uint32_t sym)
{
	struct dims *d = s->e->b->dims;
	while (s->n_outer + s->imported.len <= sym) {
		uint32_t own = UINT32_MAX, mine;
		for (uint32_t i = 0; i < s->vars.len && own == UINT32_MAX; i++)
			if (s->vars.at[i].has_unit_sym && dim_is_sym(d, s->vars.at[i].unit_sym, &mine) &&
			    mine == s->n_outer + s->imported.len)
				own = s->vars.at[i].sym;
		if (own == UINT32_MAX) {
			own = dims_syms(s->dims);
			dim_new_sym(s->dims, dims_sym_name(d, s->n_outer + s->imported.len));
		}
		vec_push(&s->imported, own);
	}
	return s->imported.at[sym - s->n_outer];
}

static dim actual_dim(struct sig *s, dim d)
{
	uint32_t now = dims_syms(s->e->b->dims);
	dim *map = ARENA_ARRAY(s->e->temp, dim, now + 1);
	for (uint32_t i = 0; i < now; i++)
		map[i] = dim_sym(s->dims, i < s->n_outer ? i : unify_import_symbol(s, i));
	return dim_translate(s->dims, s->e->b->dims, d, map);
}

static bool match_shape_var(struct sig *s, const struct type *t, const struct hir_type *have, const struct sig_site *site)
{
	struct sig_var *var = &s->vars.at[t->shape_var];
	struct emitter *e = s->e;
	if (!var->bound) {
		var->bound = true;
		var->rank = have->rank;
		memcpy(var->shape, have->dims, sizeof have->dims);
		var->bound_at = site->at;
		var->bound_by = site->what;
		return true;
	}
	bool same = var->rank == have->rank;
	for (uint32_t i = 0; same && i < have->rank; i++) {
		int c = dim_compare(e->b->dims, var->shape[i], have->dims[i]);
		same = c > 0 || (!c && e->checking);
	}
	if (same)
		return true;
	struct hir_type other = {.rank = (uint8_t)var->rank};
	memcpy(other.dims, var->shape, sizeof other.dims);
	struct diag *g = report_error(e, s->result ? DIAG_RESULT_SHAPE : DIAG_ARG_SHAPE, site->at, "%s has shape %s, but `%s` is %s",
				      site->what, shape_text(e, have), name_text(e->f, var->name), shape_text(e, &other));
	diag_secondary(e->report.out, g, var->bound_at, "`%s` comes from %s", name_text(e->f, var->name),
		       var->bound_by ? var->bound_by : "here");
	return false;
}

static bool match_tensor(struct sig *s, struct type *t, struct value *v, const struct sig_site *site)
{
	struct emitter *e = s->e;
	if (!match_elem(s, t, v, site))
		return false;
	struct hir_type have = *type_of(e, v->u.t);
	if (t->shape == SHAPE_VAR)
		return match_shape_var(s, t, &have, site);
	if (t->shape == SHAPE_ANY)
		return true;
	struct sig_match_info m = {.site = *site, .type = t, .actual = have, .tensor = v->u.t};
	if (t->rank != have.rank) {
		struct diag *g = sig_report_shape(s, &m, 0, "declared", arena_printf(e->f->arena, "%u declared here", t->rank));
		diag_label_primary(e->report.out, g, "%u dimension%s", have.rank, have.rank == 1 ? "" : "s");
		return false;
	}
	vec_push(&s->matches, m);
	for (uint32_t i = 0; i < t->rank; i++) {
		struct sig_equation q = {
			.pattern = t->dims[i], .actual = actual_dim(s, have.dims[i]), .match = s->matches.len - 1, .axis = i};
		vec_push(&s->eqs, q);
	}
	return true;
}

void sig_add_equation(struct sig *s, struct type *t, const struct hir_type *actual, uint32_t axis, const struct sig_site *site)
{
	struct sig_match_info m = {.site = *site, .type = t, .actual = *actual, .tensor = HIR_NONE};
	vec_push(&s->matches, m);
	struct sig_equation q = {
		.pattern = t->dims[axis], .actual = actual_dim(s, actual->dims[axis]), .match = s->matches.len - 1, .axis = axis};
	vec_push(&s->eqs, q);
}

void sig_bind_size(struct sig *s, name_id name, struct value v, span at, const char *what)
{
	if (v.kind != V_INT && v.kind != V_DIM)
		return;
	uint32_t i = sig_dim_var(s, name);
	if (i == SIG_NO_VAR)
		return;
	struct sig_var *var = &s->vars.at[i];
	var->bound = true;
	var->value = v.kind == V_INT ? dim_const(s->dims, v.u.i) : actual_dim(s, v.u.d);
	var->bound_at = at;
	var->bound_by = what;
}

/* Matches a compile-time scalar with a declared scalar type. */
static bool match_literal(struct sig *s, struct type *t, struct value *v, const struct sig_site *site)
{
	struct emitter *e = s->e;
	dtype want = t->elem;
	uint64_t scratch;
	if (v->typed && v->kind != V_BOOL && v->kind != V_TRIT && !dtype_widens(scalar_type(*v), want))
		return report_mismatch(s, t, *v, site);
	if (dtype_class(want) == DTC_FLOAT && v->kind == V_INT) {
		*v = value_with_type(*v, want);
		return true;
	}
	if (dtype_class(want) == DTC_FLOAT && v->kind == V_DIM) {
		*v = value_tensor(emit_scalar(e, *v, want, site->at));
		return true;
	}
	if (want == DT_TRIT && v->kind == V_INT) {
		if (!scalar_bytes(e, *v, want, &scratch, site->at))
			return false;
		*v = (struct value){.kind = V_TRIT, .u.i = v->u.i};
		return true;
	}
	bool good = dtype_class(want) == DTC_FLOAT ? v->kind == V_FLOAT
		    : want == DT_BOOL              ? v->kind == V_BOOL
		    : want == DT_TRIT              ? v->kind == V_TRIT
						   : v->kind == V_INT || v->kind == V_DIM;
	if (!good)
		return report_mismatch(s, t, *v, site);
	if (v->kind == V_INT && !scalar_bytes(e, *v, want, &scratch, site->at))
		return false;
	if (v->kind != V_BOOL && v->kind != V_TRIT)
		*v = value_with_type(*v, want);
	return true;
}

static bool match_scalar(struct sig *s, struct type *t, struct value *v, const struct sig_site *site)
{
	if (value_is_scalar(*v))
		return match_literal(s, t, v, site);
	if (v->kind != V_TENSOR || type_of(s->e, v->u.t)->rank || !dtype_widens(type_of(s->e, v->u.t)->elem, t->elem))
		return report_mismatch(s, t, *v, site);
	*v = value_tensor(emit_cast(s->e, v->u.t, t->elem, site->at));
	return true;
}

static bool match_seq(struct sig *s, struct type *t, struct value *v, const struct sig_site *site)
{
	bool tuple = t->kind == TY_TUPLE, ok = true;
	if (v->kind == V_RANGE && !tuple)
		return true;
	bool counted = tuple || t->n_items > 1;
	if (!value_is_seq(*v) || (counted && v->u.seq->n != t->n_items))
		return report_mismatch(s, t, *v, site);
	if (!t->n_items && !tuple)
		return true;
	struct value copy = value_seq(s->e->f->arena, tuple ? V_TUPLE : V_LIST, v->u.seq->n);
	for (uint32_t i = 0; i < copy.u.seq->n; i++) {
		copy.u.seq->at[i] = v->u.seq->at[i];
		struct sig_site part = *site;
		part.what = arena_printf(s->e->f->arena, "element %u of %s", i, site->what);
		ok = sig_match(s, t->items[counted ? i : 0], &copy.u.seq->at[i], &part) && ok;
	}
	*v = copy;
	return ok;
}

/* The element type of a number that is matched with tensor type `t`. */
static dtype scalar_elem(const struct sig *s, const struct type *t, struct value v)
{
	if (t->elem != DT_COUNT)
		return t->elem;
	const struct sig_var *var = t->elem_var == SIG_NO_VAR ? NULL : &s->vars.at[t->elem_var];
	return var && var->bound ? var->elem : scalar_type(v);
}

/* ---- generics that are types ---- */

static void bind_generic(struct sig *s, struct sig_var *var, struct value v, const struct sig_site *site)
{
	struct hir_type t = {.elem = DT_COUNT};
	if (v.kind == V_TENSOR)
		t = *type_of(s->e, v.u.t);
	else if (value_is_scalar(v))
		t.elem = scalar_type(v);
	var->bound = true;
	var->value_kind = value_is_scalar(v) ? V_TENSOR : v.kind;
	var->elem = t.elem;
	var->rank = t.rank;
	memcpy(var->shape, t.dims, sizeof t.dims);
	var->literal = value_is_literal(v);
	var->bound_at = site->at;
	var->bound_by = site->what;
	var->bound_text = value_text(s->e, v);
}

/* True if a tensor or number has the type of the generic. The shape of a result is not compared. */
static bool fits_generic(struct sig *s, const struct sig_var *var, struct value v)
{
	struct emitter *e = s->e;
	struct hir_type t = {.elem = scalar_type(v)};
	if (v.kind == V_TENSOR)
		t = *type_of(e, v.u.t);
	if (t.elem != var->elem)
		return false;
	bool same = s->result || t.rank == var->rank;
	for (uint32_t i = 0; same && !s->result && i < t.rank; i++) {
		int c = dim_compare(e->b->dims, t.dims[i], var->shape[i]);
		same = c > 0 || (!c && e->checking);
	}
	return same;
}

static bool match_generic(struct sig *s, struct type *t, struct value *v, const struct sig_site *site)
{
	struct emitter *e = s->e;
	struct sig_var *var = &s->vars.at[t->elem_var];
	bool number = v->kind == V_TENSOR || value_is_scalar(*v);
	if (!var->bound && (var->kind == SV_TYPE || number)) {
		bind_generic(s, var, *v, site);
		return true;
	}
	if (var->kind == SV_DTYPE) { /* an element type: matches its scalar */
		struct type scalar = *t;
		scalar.kind = TY_SCALAR;
		scalar.elem = var->elem;
		return var->bound ? match_scalar(s, &scalar, v, site) : report_mismatch(s, t, *v, site);
	}
	bool one = number && (v->kind != V_TENSOR || !type_of(e, v->u.t)->rank) && var->value_kind == V_TENSOR && !var->rank;
	if (one && value_is_literal(*v) && scalar_converts(*v, var->elem)) {
		struct type scalar = *t;
		scalar.kind = TY_SCALAR;
		scalar.elem = var->elem;
		return var->literal || match_scalar(s, &scalar, v, site);
	}
	dtype have = v->kind == V_TENSOR ? type_of(e, v->u.t)->elem : number ? scalar_type(*v) : DT_COUNT;
	if (one && var->literal && !value_is_literal(*v) &&
	    (have == var->elem || dtype_class(have) == DTC_FLOAT || dtype_class(var->elem) == dtype_class(have))) {
		bind_generic(s, var, *v, site);
		return true;
	}
	if (number ? var->value_kind == V_TENSOR && fits_generic(s, var, *v) : var->value_kind == v->kind)
		return true;
	struct diag *g = report_error(e, DIAG_TYPE_MISMATCH, site->at, "`%s` is one type, but %s is %s and %s is %s",
				      name_text(e->f, var->name), var->bound_by, var->bound_text, site->what, value_text(e, *v));
	diag_label_primary(e->report.out, g, "%s", value_text(e, *v));
	if (var->bound_at.source != SPAN_NO_SOURCE)
		diag_secondary(e->report.out, g, var->bound_at, "%s", var->bound_text);
	if (site->decl.source != SPAN_NO_SOURCE)
		diag_secondary(e->report.out, g, site->decl, "declared here");
	return false;
}

/* True for an instance of the layer; of any layer, also for a layer that is not called yet, and a functional one. */
static bool fits_layer(const struct type *t, struct value v)
{
	if (t->layer)
		return v.kind == V_LAYER && v.u.layer->item == t->layer;
	bool functional = v.kind == V_FN && ast_kind(&v.u.fn->mod->ast, v.u.fn->node) == NODE_LAYER;
	return v.kind == V_LAYER || v.kind == V_LAYER_CLASS || value_is_partial(v) || functional;
}

bool sig_match(struct sig *s, struct type *t, struct value *v, const struct sig_site *site)
{
	if (is_poison(*v) || t->kind == TY_ANY)
		return true;
	switch (t->kind) {
	case TY_TENSOR:
		if (value_is_scalar(*v) && (t->shape != SHAPE_DIMS || !t->rank)) {
			dtype elem = scalar_elem(s, t, *v);
			if (v->typed && !dtype_widens(scalar_type(*v), elem))
				return report_mismatch(s, t, *v, site);
			hir_ref r = emit_scalar(s->e, *v, elem, site->at);
			if (r == HIR_NONE)
				return false;
			*v = value_tensor(r);
		}
		return v->kind == V_TENSOR ? match_tensor(s, t, v, site) : report_mismatch(s, t, *v, site);
	case TY_SCALAR: return match_scalar(s, t, v, site);
	case TY_STR: return v->kind == V_STR || report_mismatch(s, t, *v, site);
	case TY_VOID: return v->kind == V_VOID || v->kind == V_NONE || report_mismatch(s, t, *v, site);
	case TY_TUPLE:
	case TY_LIST: return match_seq(s, t, v, site);
	case TY_LAYER: return fits_layer(t, *v) || report_mismatch(s, t, *v, site);
	case TY_FN: return value_is_callable(*v) || report_mismatch(s, t, *v, site);
	case TY_OPTION: return v->kind == V_NONE || sig_match(s, t->items[0], v, site);
	case TY_GENERIC: return match_generic(s, t, v, site);
	case TY_ANY: break;
	}
	return true;
}
