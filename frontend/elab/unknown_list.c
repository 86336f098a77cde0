/* Lists of unknown length. */
#include "frontend/elab/unknown_list.h"
#include "frontend/elab/function.h"
#include "frontend/rules/builtin.h"

static struct value list_with(struct elab *e, struct element element)
{
	struct element *el = ARENA_NEW(e->em.f->arena, struct element);
	*el = element;
	return (struct value){.kind = V_POISON, .u.element = el};
}

struct value unknown_list(struct elab *e, struct value item, uint32_t first)
{
	return list_with(e, (struct element){.item = item, .first = first});
}

/* ---- elements ---- */

/* Replaces the symbols from `first` on: by new ones, one for each old one. With `apart`, a joined symbol becomes a new one
 * at each place. */
struct renewal {
	struct elab *e;
	uint32_t first, n;
	dim *map; /* by symbol */
	bool *mapped;
	bool apart;
	bool any; /* something was replaced */
};

static void renew_symbol(void *ctx, uint32_t sym)
{
	struct renewal *r = ctx;
	struct dims *d = r->e->em.b->dims;
	if (sym < r->first)
		return;
	r->any = true;
	if (r->mapped[sym])
		return;
	r->mapped[sym] = true;
	r->map[sym] = dim_new_sym(d, arena_strdup(r->e->em.f->arena, dims_sym_name(d, sym)));
}

static dim renew_size(struct renewal *r, dim d)
{
	struct dims *dims = r->e->em.b->dims;
	uint32_t sym;
	if (r->apart) {
		if (!dim_is_sym(dims, d, &sym) || sym < r->first)
			return d;
		r->any = true;
		return joined_size(r->e);
	}
	dim_each_sym(dims, d, renew_symbol, r);
	return r->any ? dim_translate(dims, dims, d, r->map) : d;
}

static struct value renew(struct renewal *r, struct value v);

static struct value renew_tensor(struct renewal *r, struct value v)
{
	const struct hir_node *n = node_at(&r->e->em, v.u.t);
	struct hir_type t = n->type;
	bool same = true;
	span at = n->at;
	for (uint32_t i = 0; i < t.rank; i++) {
		dim d = renew_size(r, t.dims[i]);
		same = same && dim_eq(d, t.dims[i]);
		t.dims[i] = d;
	}
	return same ? v : value_tensor(emit_unknown_tensor(&r->e->em, &t, at));
}

static struct value renew_layer(struct renewal *r, struct value v)
{
	const struct instance *in = v.u.layer;
	bool before = r->any;
	if (in->generic)
		return v;
	uint32_t n = instance_arguments(in);
	struct value *args = ARENA_ARRAY(r->e->em.f->arena, struct value, n + 1);
	r->any = false;
	for (uint32_t i = 0; i < n; i++)
		args[i] = renew(r, in->members[i].value);
	struct value out = r->any ? instantiate_again(r->e, in, args) : v;
	r->any = r->any || before;
	return out;
}

static struct value renew(struct renewal *r, struct value v)
{
	if (v.kind == V_DIM)
		v.u.d = renew_size(r, v.u.d);
	else if (v.kind == V_TENSOR)
		v = renew_tensor(r, v);
	else if (v.kind == V_LAYER)
		v = renew_layer(r, v);
	else if (is_unknown_list(v))
		v = unknown_list(r->e, renew(r, v.u.element->item), v.u.element->first);
	else if (value_is_seq(v) && !value_is_partial(v)) {
		struct value copy = value_seq(r->e->em.f->arena, v.kind, v.u.seq->n);
		for (uint32_t i = 0; i < v.u.seq->n; i++)
			copy.u.seq->at[i] = renew(r, v.u.seq->at[i]);
		return copy;
	}
	return v;
}

static struct value renewed(struct elab *e, struct value v, uint32_t first, bool apart)
{
	struct arena *a = e->em.f->arena;
	struct renewal r = {.e = e, .first = first, .n = dims_syms(e->em.b->dims), .apart = apart};
	if (first >= r.n)
		return v;
	r.map = ARENA_ARRAY(a, dim, r.n + 1);
	r.mapped = ARENA_ARRAY(a, bool, r.n + 1);
	for (uint32_t i = 0; i < r.n; i++)
		r.map[i] = dim_sym(e->em.b->dims, i);
	return renew(&r, v);
}

uint32_t unknown_list_kinds(struct value v)
{
	uint32_t n = 0;
	for (const struct element *el = is_unknown_list(v) && v.u.element->item.kind != V_VOID ? v.u.element : NULL; el; el = el->next)
		n++;
	return n;
}

struct value unknown_list_item_of(struct elab *e, struct value v, uint32_t kind)
{
	const struct element *el = v.u.element;
	while (kind--)
		el = el->next;
	return renewed(e, el->item, el->first, false);
}

struct value unknown_list_item(struct elab *e, struct value v)
{
	return unknown_list_kinds(v) == 1 ? unknown_list_item_of(e, v, 0) : VALUE_POISON;
}

/* ---- joins ---- */

enum { MOST_KINDS = 4 };

/* Adds what an element may be: joins it with the kind that it is of, or makes it another kind. */
static void unknown_list_add_item(struct join *join, struct element *list, struct value v)
{
	uint32_t kinds = 1;
	struct element *last = list;
	if (list->item.kind == V_VOID) {
		list->item = v;
		return;
	}
	for (struct element *el = list; el; last = el, el = el->next, kinds++)
		if (el->item.kind != V_LAYER || v.kind != V_LAYER || el->item.u.layer->item == v.u.layer->item) {
			el->item = join_values(join, el->item, v);
			list->next = el->item.kind == V_LAYER ? list->next : NULL;
			list->item = el->item.kind == V_LAYER ? list->item : el->item;
			return;
		}
	join->changed = true;
	if (kinds > MOST_KINDS) {
		list->item = VALUE_POISON;
		list->next = NULL;
		return;
	}
	last->next = ARENA_NEW(join->e->em.f->arena, struct element);
	*last->next = (struct element){.item = v, .first = list->first, .apart = list->apart};
}

static void unknown_list_add_items(struct join *join, struct element *list, const struct element *more)
{
	for (; more && more->item.kind != V_VOID; more = more->next)
		unknown_list_add_item(join, list, more->item);
}

/* A known list as an unknown one, whose symbols from `first` on differ between elements. */
struct value forget_length(struct elab *e, struct value list, uint32_t first)
{
	struct join j = {.e = e, .at = SPAN_NONE, .own = UINT32_MAX};
	struct element el = {.item = {.kind = V_VOID}, .first = first};
	for (uint32_t i = 0; i < list.u.seq->n; i++)
		unknown_list_add_item(&j, &el, list.u.seq->at[i]);
	return list_with(e, el);
}

struct value join_unknown_lists(struct join *join, struct value a, struct value b)
{
	struct elab *e = join->e;
	uint32_t now = dims_syms(e->em.b->dims), fa = is_poison(a) ? a.u.element->first : now, fb = is_poison(b) ? b.u.element->first : now;
	uint32_t first = fa < fb ? fa : fb;
	struct value x = is_poison(a) ? a : forget_length(e, a, first), y = is_poison(b) ? b : forget_length(e, b, first);
	bool empty = x.u.element->item.kind == V_VOID;
	struct join items = {.e = e, .at = join->at, .own = first};
	struct element list = {.item = {.kind = V_VOID}, .first = first, .apart = !empty};
	if (!is_poison(a))
		join->changed = true;
	if (y.u.element->item.kind == V_VOID)
		return x;
	for (const struct element *el = empty ? NULL : x.u.element; el; el = el->next) /* one symbol must not cover two sizes */
		unknown_list_add_item(&items, &list, el->apart ? el->item : renewed(e, el->item, first, true));
	items.changed = false;
	unknown_list_add_items(&items, &list, y.u.element);
	join->changed = join->changed || (!empty && items.changed);
	return list_with(e, list);
}

/* ---- operators and calls ---- */

bool unknown_list_operator(struct elab *e, enum token_kind op, struct value a, struct value b, struct value *out)
{
	struct join j = {.e = e, .at = SPAN_NONE, .own = UINT32_MAX};
	bool x = is_unknown_list(a), y = is_unknown_list(b);
	if (op == TOK_PLUS && (x || y) && (x || a.kind == V_LIST) && (y || b.kind == V_LIST))
		return *out = join_unknown_lists(&j, a, b), true;
	if (op == TOK_STAR && (x || a.kind == V_LIST) && (x || b.kind == V_DIM || is_poison(b)) && e->em.checking)
		return *out = x ? a : forget_length(e, a, dims_syms(e->em.b->dims)), true;
	return false;
}

/* An element of an iterable, known or not. */
static struct value any_item(struct elab *e, struct value v)
{
	uint32_t now = dims_syms(e->em.b->dims);
	if (v.kind == V_LIST)
		v = forget_length(e, v, now);
	if (v.kind == V_RANGE)
		return (struct value){.kind = V_DIM, .u.d = joined_size(e)};
	return unknown_list_item(e, v);
}

static struct value list_of_tuples(struct elab *e, enum special sp, const struct args *args)
{
	uint32_t first = dims_syms(e->em.b->dims), n = sp == SP_ZIP ? args->n : 2;
	struct value t = value_seq(e->em.f->arena, V_TUPLE, n);
	for (uint32_t i = 0; i < n; i++)
		t.u.seq->at[i] = sp == SP_ZIP ? any_item(e, args->at[i].v)
				 : i          ? any_item(e, args->at[0].v)
					      : (struct value){.kind = V_DIM, .u.d = dim_new_sym(e->em.b->dims, "i")};
	return unknown_list(e, t, first);
}

/* A builtin of a list: what it makes of one element and of two, joined. False: it reports errors. */
static bool call_with_items(struct elab *e, enum builtin bi, const struct args *args, uint32_t list, span at, struct value *result)
{
	struct value out[2];
	uint32_t errors = e->em.report.errors;
	suppress_diags(&e->em);
	for (uint32_t n = 1; n <= 2; n++) {
		struct args some = {args->n, ARENA_ARRAY(e->em.f->arena, struct arg, args->n)};
		for (uint32_t i = 0; i < args->n; i++)
			some.at[i] = args->at[i];
		some.at[list].v = value_seq(e->em.f->arena, V_LIST, n);
		for (uint32_t i = 0; i < n; i++)
			some.at[list].v.u.seq->at[i] = unknown_list_item(e, args->at[list].v);
		out[n - 1] = call_builtin(&e->em, bi, &some, at);
	}
	restore_diags(&e->em);
	bool known = e->em.report.errors == errors;
	e->em.report.errors = errors;
	if (known)
		*result = value_join(e, out[0], out[1], JOIN_COMPILE_TIME, NULL, at);
	return known;
}

bool call_with_unknown_list(struct elab *e, struct value callee, const struct args *args, span at, struct value *out)
{
	uint32_t list = 0;
	while (list < args->n && !is_unknown_list(args->at[list].v))
		list++;
	if (list == args->n)
		return false;
	if (callee.kind == V_BUILTIN)
		return call_with_items(e, callee.u.builtin, args, list, at, out);
	if (callee.kind != V_SPECIAL || args->at[0].name)
		return false;
	switch (callee.u.special) {
	case SP_LEN: return *out = (struct value){.kind = V_DIM, .u.d = joined_size(e)}, true;
	case SP_REVERSED: return *out = args->at[0].v, true;
	case SP_ENUMERATE:
	case SP_ZIP: return *out = list_of_tuples(e, callee.u.special, args), true;
	default: return false;
	}
}
