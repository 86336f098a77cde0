/* Module-form layers: making an instance runs the layer's body; parameters are declared, members keep what they were bound to. */
#include <string.h>
#include "frontend/names/index_note.h"
#include "frontend/types/sig.h"
#include "frontend/unit/elab.h"

static const struct ast *tree(struct elab *e) { return &e->frame->mod->ast; }

/* Layers are made by the hundred: no printf for what they are called. */
static const char *joined(struct elab *e, const char *a, const char *b, const char *c)
{
	size_t na = strlen(a), nb = strlen(b), nc = strlen(c) + 1;
	char *text = arena_alloc(e->f->arena, na + nb + nc, 1);
	memcpy(text, a, na);
	memcpy(text + na, b, nb);
	memcpy(text + na + nb, c, nc);
	return text;
}

static struct member *add_member(struct elab *e, struct instance *in, struct member m)
{
	if (in->n_members == in->cap_members) {
		uint32_t cap = in->cap_members ? in->cap_members * 2 : 8;
		struct member *bigger = ARENA_ARRAY(e->f->arena, struct member, cap);
		if (in->n_members)
			memcpy(bigger, in->members, in->n_members * sizeof m);
		in->members = bigger;
		in->cap_members = cap;
	}
	in->members[in->n_members] = m;
	return &in->members[in->n_members++];
}

/* ---- members ---- */

static void declare_param(struct elab *e, struct instance *in, node_id n)
{
	struct ast_const c = ast_const(tree(e), n);
	struct iparam *p = ARENA_NEW(e->f->arena, struct iparam);
	*p = (struct iparam){.id = e->f->elab.next_param++,
			     .name = elab_name(e, c.name),
			     .owner = in,
			     .node = n,
			     .dims = e->b->dims,
			     .at = elab_span(e, n)};
	if (c.type) {
		struct sig s;
		sig_open(&s, e, e->frame->mod, in);
		s.use_locals = true;
		struct type *t = sig_type(&s, c.type);
		p->known = sig_constant_type(&s, t, &p->type);
		if (!p->known && t->kind == TY_TENSOR && t->shape == SHAPE_DIMS && !e->checking)
			elab_error(e, DIAG_PARAM_TYPE, t->at, "the shape of parameter `%s` is not known here", name_text(e->f, p->name));
		sig_close(&s);
	}
	if (!p->known && c.value) { /* the type is that of the initializer */
		struct builder scratch;
		if (!e->checking)
			builder_open(e, &scratch);
		struct value v = eval(e, c.value);
		if (value_is_scalar(v) && v.kind != V_DIM) {
			p->known = true;
			p->type = (struct hir_type){.elem = scalar_type(v)};
			p->dims = e->b->dims;
		}
		if (v.kind == V_TENSOR) {
			p->known = true;
			p->type = *type_of(e, v.u.t);
			p->dims = e->b->dims;
		}
		if (!e->checking)
			builder_close(e);
	}
	if (!p->known && !c.type && !c.value)
		elab_error(e, DIAG_PARAM_TYPE, p->at, "parameter `%s` needs a type or an initializer", name_text(e->f, p->name));
	in->failed = in->failed || !p->known;
	if (p->known && e->f->index)
		index_note_value(e, c.name, param_value(e, p, p->at));
	add_member(e, in, (struct member){.kind = M_PARAM, .name = p->name, .param = p, .at = p->at});
}

/* A let: its names become members. Tensors are kept as source and evaluated again in each unit. */
static void declare_lets(struct elab *e, struct instance *in, node_id n)
{
	uint32_t mark = e->locals.len;
	exec(e, n, NULL);
	for (uint32_t i = mark; i < e->locals.len; i++) {
		struct local l = e->locals.at[i];
		bool lazy = !e->checking && value_holds(l.value, V_TENSOR);
		in->failed = in->failed || is_poison(l.value);
		add_member(e, in,
			   (struct member){
				   .kind = lazy ? M_LAZY : M_VALUE, .name = l.name, .value = l.value, .node = n, .at = elab_span(e, n)});
	}
	e->locals.len = mark;
}

static void declare_fn(struct elab *e, struct instance *in, node_id n)
{
	struct func *fn = ARENA_NEW(e->f->arena, struct func);
	*fn = (struct func){.mod = e->frame->mod, .item = in->item, .node = n, .name = elab_name(e, ast_fn(tree(e), n).name), .self = in};
	add_member(e, in, (struct member){.kind = M_FN, .name = fn->name, .value = {.kind = V_FN, .u.fn = fn}, .at = elab_span(e, n)});
}

static void run_layer_body(struct elab *e, struct instance *in, node_id body)
{
	struct ast_nodes items = ast_nodes(tree(e), ast_a(tree(e), body));
	for (uint32_t i = 0; i < items.n; i++) /* functions first: a `let` may name one */
		if (ast_kind(tree(e), items.at[i]) == NODE_FN)
			declare_fn(e, in, items.at[i]);
	for (uint32_t i = 0; i < items.n && !e->gave_up; i++) {
		switch (ast_kind(tree(e), items.at[i])) {
		case NODE_PARAM: declare_param(e, in, items.at[i]); break;
		case NODE_LET:
		case NODE_CONST: declare_lets(e, in, items.at[i]); break;
		case NODE_ASSERT: exec(e, items.at[i], NULL); break;
		default: break;
		}
	}
}

/* ---- arguments ---- */

static void key_of(struct elab *e, struct instance *in, uint32_t n_args)
{
	struct hasher *h = hasher_new();
	item_hash_identity(h, e->f, in->item);
	for (uint32_t i = 0; i < n_args; i++)
		value_hash(h, e->f, in->members[i].value);
	in->key = hasher_finish(h);
}

static bool run_time_arg(struct elab *e, struct value v, span at)
{
	if (value_holds(v, V_TENSOR) && !e->checking) {
		struct diag *g =
			elab_error(e, DIAG_TYPE_MISMATCH, at, "an argument that configures a layer must be known at compile time, not %s",
				   elab_value_text(e, v));
		diag_help(e->out, g, "a layer is made first, `let fc = nn.Linear(64, 10)`, then called: `fc(x)`");
		return true;
	}
	return false;
}

static bool configure(struct elab *e, struct instance *in, const struct ast_fn *decl, struct arg **bound, span at)
{
	const struct ast *t = tree(e);
	struct sig s;
	bool ok = true;
	const char *label = joined(e, "` of layer `", name_text(e->f, in->item->name), "`");
	sig_open(&s, e, e->frame->mod, in);
	s.use_locals = true;
	sig_generics(&s, decl->generics);
	for (uint32_t i = 0; i < decl->params.n; i++) {
		node_id p = decl->params.at[i];
		name_id name = elab_name(e, ast_token(t, p));
		struct value v = bound[i] ? bound[i]->v : eval(e, ast_b(t, p));
		span vat = bound[i] ? bound[i]->at : elab_span(e, p);
		if (ast_a(t, p) && !is_left_out(t, p, v))
			ok = (bound[i] ? sig_match(&s, sig_type(&s, ast_a(t, p)), &v, vat, elab_span(e, p),
						   joined(e, "argument `", name_text(e->f, name), label))
				       : match_default(&s, decl->generics, p, &v, vat,
						       joined(e, "argument `", name_text(e->f, name), label))) &&
			     ok;
		ok = ok && !run_time_arg(e, v, vat);
		add_member(e, in, (struct member){.kind = M_VALUE, .name = name, .value = v, .at = elab_span(e, p), .is_arg = true});
	}
	ok = sig_solve(&s) && ok;
	struct value *values = ARENA_ARRAY(e->temp, struct value, decl->params.n + 1);
	for (uint32_t i = 0; i < decl->params.n; i++)
		values[i] = in->members[i].value;
	ok = ok && check_where(e, &s, decl, values, at);
	sig_close(&s);
	return ok;
}

/* Checking one definition: a layer already being made says nothing about itself. */
static bool making(struct elab *e, const struct item *it)
{
	for (struct frame *f = e->frame; f; f = f->up)
		if (f->self && !f->func && f->self->item == it)
			return true;
	return false;
}

static bool contains_itself(struct elab *e, const struct instance *in, span at)
{
	for (struct frame *f = e->frame->up; f; f = f->up) {
		if (f->func || !f->self || f->self->item != in->item || !hash_eq(f->self->key, in->key))
			continue;
		elab_error(e, DIAG_RECURSION, at, "layer `%s` contains itself", name_text(e->f, in->item->name));
		return true;
	}
	return false;
}

/* Functions that a layer's body or main calls without tensors run in their place; any other is a unit, and so is what makes layers in it. */
static bool inside_unit(const struct elab *e)
{
	const struct frame *f = e->frame;
	bool tensors = false;
	while (f && f->func) {
		tensors = tensors || f->tensors;
		f = f->up;
	}
	if (e->checking)
		return tensors;
	return e->frame && e->frame->func && (!f || f->unit != e->b);
}

static const struct subtree *subtree_of(struct elab *e, const struct instance *in);

/* @variadic: the last parameter is a list, which may also be written as the remaining positional arguments. */
static void pack_rest(struct elab *e, struct args *args, uint32_t n_params)
{
	uint32_t first = n_params - 1, n = 0;
	while (first + n < args->n && !args->at[first + n].name)
		n++;
	if (!n || first + n < args->n || (n == 1 && (value_is_seq(args->at[first].v) || is_poison(args->at[first].v))))
		return;
	struct value list = value_seq(e->f->arena, V_LIST, n);
	for (uint32_t i = 0; i < n; i++)
		list.u.seq->at[i] = args->at[first + i].v;
	args->at[first].v = elab_list(e, list, args->at[first].at);
	args->at[first].at.end = args->at[first + n - 1].at.end;
	args->n = first + 1;
}

/* nn.ReLU(x): the layer is made and called at once. */
static bool given_tensor(struct elab *e, struct item *it, const struct ast_fn *decl, const struct args *args, span at)
{
	const struct ast *t = &it->mod->ast;
	const char *name = name_text(e->f, it->name), *text = e->frame->mod ? e->frame->mod->ast.tokens.src->text : "";
	uint32_t i = 0, n = 0;
	while (i < args->n && (args->at[i].v.kind != V_TENSOR || !type_of(e, args->at[i].v.u.t)->rank || args->at[i].name))
		i++;
	if (i == args->n)
		return false;
	node_id type = i < decl->params.n ? ast_a(t, decl->params.at[i]) : AST_NONE;
	bool number = type && ast_kind(t, type) == NODE_TYPE_NAME && !ast_b(t, type) &&
		      dtype_find(name_text(e->f, token_name(e->f, it->mod, ast_token(t, type)))) != DT_COUNT;
	if (i < decl->params.n && !number)
		return false;
	struct diag *g = elab_error(e, DIAG_NOT_CALLABLE, args->at[i].at,
				    "a tensor is given where layer `%s` is made, not where it is called", name);
	while (at.start + n < at.end && text[at.start + n] != '(')
		n++;
	if (args->n == 1 && i >= decl->params.n)
		diag_help(e->out, g, "write `%.*s()(x)`, or make it a member, `let name = %.*s()`, and call that: `name(x)`", (int)n,
			  text + at.start, (int)n, text + at.start);
	else
		diag_help(e->out, g, "make it in the layer's body, `let name = %.*s(…)`, and call that: `name(x)`", (int)n,
			  text + at.start);
	if (args->n == 1 && i >= decl->params.n && at.start + n < at.end)
		diag_edit(e->out, g, (span){at.source, at.start + n, at.start + n}, "()");
	return true;
}

struct value instantiate(struct elab *e, struct item *it, struct args *args, span at)
{
	reads_note(e, it, READ_WHOLE);
	it->checked.has_instances = it->checked.has_instances || e->f->arena == e->f->session;
	struct ast_fn decl = ast_fn(&it->mod->ast, it->node);
	struct arg **bound = ARENA_ARRAY(e->f->arena, struct arg *, decl.params.n + 1);
	const char *what = joined(e, "layer `", name_text(e->f, it->name), "`");
	if (attr_find(it->mod, decl.attrs, "variadic"))
		pack_rest(e, args, decl.params.n);
	else if (given_tensor(e, it, &decl, args, at))
		return VALUE_POISON;
	if (!bind_args(e, it->mod, decl.params, args, at, what, bound))
		return VALUE_POISON;
	if (e->checking && making(e, it))
		return VALUE_POISON;
	if (e->frames >= ELAB_MAX_FRAMES) {
		elab_error(e, DIAG_ELAB_DEPTH, at, "layers are nested more than %d deep", ELAB_MAX_FRAMES);
		e->gave_up = true;
		return VALUE_POISON;
	}
	e->steps += 20;
	struct instance *in = ARENA_NEW(e->f->arena, struct instance);
	*in = (struct instance){.item = it, .id = e->f->elab.next_instance++, .dims = e->b->dims};
	for (uint32_t i = 0; i < decl.params.n && i < 64; i++)
		in->given |= (uint64_t)(bound[i] != NULL) << i;
	bool in_unit = inside_unit(e);
	struct frame fr = {.up = e->frame, .mod = it->mod, .self = in, .base = e->locals.len, .call_at = at, .what = what, .unit = e->b};
	e->frame = &fr;
	e->frames++;
	e->depth += 4;
	bool ok = configure(e, in, &decl, bound, at);
	if (ok) {
		key_of(e, in, decl.params.n);
		ok = !contains_itself(e, in, at);
	}
	if (ok) {
		bool hush = e->checking && fr.up && fr.up->mod && !it->mod->std; /* its own check reports what is wrong inside */
		if (hush)
			elab_hush(e);
		uint32_t before = e->errors;
		run_layer_body(e, in, decl.body);
		in->failed = in->failed || e->errors > before;
		in->params = subtree_of(e, in);
		if (hush)
			elab_unhush(e);
	}
	e->locals.len = fr.base;
	e->frame = fr.up;
	e->frames--;
	e->depth -= 4;
	struct value v = {.kind = V_LAYER, .u.layer = in};
	if (ok && in_unit && in->params->n) {
		struct diag *g =
			elab_error(e, DIAG_LAYER_IN_FN, at, "%s has parameters and cannot be made while tensors are computed", what);
		diag_help(e->out, g, "make it in the body of the layer: `let name = …` before the functions");
		return VALUE_POISON;
	}
	return ok ? v : VALUE_POISON;
}

/* ---- checking ---- */

void check_layer(struct elab *e, struct item *it)
{
	struct ast_fn decl = ast_fn(&it->mod->ast, it->node);
	struct instance *in = ARENA_NEW(e->f->arena, struct instance);
	struct frame fr = {.up = e->frame, .mod = it->mod, .self = in, .base = e->locals.len, .call_at = SPAN_NONE};
	struct sig s;
	*in = (struct instance){.item = it, .id = e->f->elab.next_instance++, .dims = e->b->dims, .generic = true};
	e->frame = &fr;
	sig_open(&s, e, it->mod, in);
	sig_generics(&s, decl.generics);
	for (uint32_t i = 0; i < decl.params.n; i++) {
		node_id p = decl.params.at[i], type = ast_a(tree(e), p);
		struct value v = VALUE_POISON;
		if (type) {
			struct type *t = sig_type(&s, type);
			v = sig_unknown(&s, t, elab_span(e, p));
			if (v.kind == V_DIM) /* its symbol carries the argument's name */
				v.u.d = dim_new_sym(e->b->dims, name_text(e->f, elab_name(e, ast_token(tree(e), p))));
		}
		check_default(e, it->mod, in, decl.generics, p);
		index_note_value(e, ast_token(tree(e), p), v);
		add_member(e, in,
			   (struct member){.kind = M_VALUE,
					   .name = elab_name(e, ast_token(tree(e), p)),
					   .value = v,
					   .at = elab_span(e, p),
					   .is_arg = true});
	}
	sig_close(&s);
	run_layer_body(e, in, decl.body);
	e->frame = fr.up;
	for (uint32_t i = 0; i < in->n_members; i++)
		if (in->members[i].kind == M_FN)
			check_func(e, in->members[i].value.u.fn);
}

/* ---- parameters of a subtree ---- */

static const char *dotted(struct elab *e, const char *prefix, const char *name) { return *prefix ? joined(e, prefix, ".", name) : name; }

static const char *number(struct elab *e, uint32_t i)
{
	char digits[12], *at = digits + sizeof digits;
	do
		*--at = (char)('0' + i % 10);
	while (i /= 10);
	return arena_strndup(e->f->arena, at, (size_t)(digits + sizeof digits - at));
}

/* ("_l0", cell): the string ends the names of the parameters from number `first` on. */
static void add_suffix(struct elab *e, const char *suffix, uint32_t first, struct param_list *out)
{
	for (uint32_t i = first; i < out->names.len; i++)
		out->names.at[i] = joined(e, out->names.at[i], suffix, "");
}

/* ("denselayer1", layer): the string takes the place of its number in the list, or ends the names if it begins with `_`. */
static bool is_named(struct value v) { return v.kind == V_TUPLE && v.u.seq->n == 2 && v.u.seq->at[0].kind == V_STR; }

static void params_of_seq(struct elab *e, const struct seq *seq, const char *prefix, struct param_list *out)
{
	for (uint32_t i = 0; i < seq->n; i++) {
		struct value v = seq->at[i];
		uint32_t first = out->names.len;
		if (is_named(v) && v.u.seq->at[0].u.s[0] == '_') {
			params_of(e, v.u.seq->at[1], prefix, out);
			add_suffix(e, v.u.seq->at[0].u.s, first, out);
		} else if (is_named(v))
			params_of(e, v.u.seq->at[1], dotted(e, prefix, v.u.seq->at[0].u.s), out);
		else if (value_holds(v, V_LAYER))
			params_of(e, v, dotted(e, prefix, number(e, i)), out);
	}
}

static void add_param(struct param_list *out, struct iparam *p, const char *name)
{
	if (!map_put(&out->seen, map_key_u64(p->id), 1))
		return;
	vec_push(&out->at, p);
	vec_push(&out->names, name);
}

/* Arguments last: a sub-layer that was passed in takes the name of the member that the body bound it to. */
static void params_of_instance(struct elab *e, const struct instance *in, const char *prefix, struct param_list *out)
{
	for (int args = 0; args < 2; args++)
		for (uint32_t i = 0; i < in->n_members; i++) {
			const struct member *m = &in->members[i];
			const char *name = name_text(e->f, m->name);
			if (m->is_arg != (args == 1))
				continue;
			if (m->kind == M_PARAM)
				add_param(out, m->param, dotted(e, prefix, name));
			else if (m->kind == M_VALUE && (m->value.kind == V_LAYER || value_is_seq(m->value)))
				params_of(e, m->value, *name == '_' ? prefix : dotted(e, prefix, name), out);
		}
}

void params_of(struct elab *e, struct value v, const char *prefix, struct param_list *out)
{
	if (value_is_seq(v)) {
		params_of_seq(e, v.u.seq, prefix, out);
		return;
	}
	if (v.kind != V_LAYER || !map_put(&out->seen, map_key_u64((uint64_t)1 << 32 | v.u.layer->id), 1))
		return;
	const struct subtree *all = v.u.layer->params;
	if (!all)
		params_of_instance(e, v.u.layer, prefix, out);
	for (uint32_t i = 0; all && i < all->n; i++)
		if (!map_get(&out->seen, map_key_u64(all->at[i]->id), NULL))
			add_param(out, all->at[i], dotted(e, prefix, all->names[i]));
}

/* Once the body has run: what is in it does not change any more. */
static const struct subtree *subtree_of(struct elab *e, const struct instance *in)
{
	struct param_list l = {0};
	struct subtree *s = ARENA_NEW(e->f->arena, struct subtree);
	params_of_instance(e, in, "", &l);
	s->n = l.at.len;
	s->at = ARENA_ARRAY(e->f->arena, struct iparam *, s->n + 1);
	s->names = ARENA_ARRAY(e->f->arena, const char *, s->n + 1);
	if (s->n) {
		memcpy(s->at, l.at.at, s->n * sizeof *s->at);
		memcpy(s->names, l.names.at, s->n * sizeof *s->names);
	}
	param_list_free(&l);
	return s;
}

void param_list_free(struct param_list *l)
{
	vec_free(&l->at);
	vec_free(&l->names);
	map_free(&l->seen);
}
