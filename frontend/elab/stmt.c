/* Statements, blocks and conditions. */
#include <string.h>
#include "frontend/elab/branch.h"
#include "frontend/names/index_note.h"
#include "frontend/types/sig.h"

static const struct ast *tree(struct elab *e) { return &e->frame->mod->ast; }

/* ---- conditions ---- */

int condition(struct elab *e, struct value v, span at, bool report)
{
	if (v.kind == V_BOOL)
		return v.u.b;
	if (is_poison(v))
		return -1;
	if (v.kind != V_TENSOR) {
		struct diag *g = elab_error(e, DIAG_CONDITION, at, "a condition must be a bool, not %s", elab_value_text(e, v));
		if (v.kind == V_INT)
			diag_help(e->out, g, "compare it with 0");
		return -2;
	}
	const struct hir_type *t = type_of(e, v.u.t);
	if (t->elem == DT_BOOL && !t->rank)
		return -1;
	if (report) {
		struct diag *g = elab_error(e, DIAG_RUNTIME_IF, at, "a condition must be a single bool, not %s", elab_value_text(e, v));
		diag_help(e->out, g,
			  t->rank ? "a tensor is not a condition: use `where(c, a, b)`, or `any`, `all`" : "compare it: `x != 0`");
	}
	return -2;
}

void locals_snapshot(struct elab *e, struct local **copy, uint32_t *n)
{
	*n = e->locals.len - e->frame->base;
	*copy = ARENA_ARRAY(e->f->arena, struct local, *n + 1);
	if (*n)
		memcpy(*copy, e->locals.at + e->frame->base, *n * sizeof **copy);
}

/* Is it certain that values of these types are not the same type and shape? */
static bool surely_differ(struct elab *e, struct value a, struct value b, enum decided how)
{
	bool numbers = (a.kind == V_TENSOR || value_is_scalar(a)) && (b.kind == V_TENSOR || value_is_scalar(b));
	if (value_is_seq(a) && a.kind == b.kind)
		return a.u.seq->n != b.u.seq->n;
	if (a.kind != V_TENSOR || b.kind != V_TENSOR)
		return !numbers && (a.kind == V_TENSOR || b.kind == V_TENSOR || (a.kind == V_LAYER && b.kind == V_LAYER));
	const struct hir_type *ta = type_of(e, a.u.t), *tb = type_of(e, b.u.t);
	bool differ = ta->rank != tb->rank;
	differ = differ || (!dtype_widens(tb->elem, ta->elem) && (how == DECIDED_BY_LOOP || !dtype_widens(ta->elem, tb->elem)));
	for (uint32_t i = 0; i < ta->rank && i < tb->rank; i++)
		differ = differ || dim_compare(e->b->dims, ta->dims[i], tb->dims[i]) < 0;
	return differ;
}

static void report_differ(struct elab *e, struct value a, struct value b, enum decided how, const struct local *l, span at)
{
	bool loop = how == DECIDED_BY_LOOP;
	const char *what = l ? arena_printf(e->f->arena, "`%s`", name_text(e->f, l->name)) : "the value of this branch";
	struct diag *g = elab_error(e, loop ? DIAG_LOOP_TYPES : DIAG_BRANCH_TYPES, at, "%s is %s %s, and %s %s", what,
				    elab_value_text(e, a), loop ? "when the loop starts" : "where the condition holds",
				    elab_value_text(e, b), loop ? "after an iteration" : "where not");
	diag_label_primary(e->out, g, loop ? "only the run knows how often this loop runs" : "only the run knows which way is taken");
	if (a.kind == V_TENSOR)
		diag_secondary(e->out, g, node_at(e, a.u.t)->at, "%s", elab_value_text(e, a));
	if (b.kind == V_TENSOR)
		diag_secondary(e->out, g, node_at(e, b.u.t)->at, "%s", elab_value_text(e, b));
	bool elems = a.kind == V_TENSOR && b.kind == V_TENSOR && type_of(e, a.u.t)->elem != type_of(e, b.u.t)->elem;
	if (elems)
		diag_help(e->out, g, "cast it: `%s(…)`", dtype_text(type_of(e, a.u.t)->elem));
	else if (a.kind != V_TENSOR || b.kind != V_TENSOR)
		diag_help(e->out, g, "what is no number or tensor is chosen at compile time, by conditions on constants and shapes");
	else
		diag_help(e->out, g,
			  loop ? "what a loop carries keeps its type and shape: start with the full size, and fill it by `where`"
			       : "both ways must give the same type and shape; `where(c, a, b)` broadcasts");
}

/* Checking: the value of something that is `a` on one way and `b` on the other. */
static struct value either(struct elab *e, struct value a, struct value b, enum decided how, const struct local *l, span at)
{
	if (value_same(a, b))
		return a;
	if (is_poison(a) || is_poison(b))
		return VALUE_POISON;
	if (how != DECIDED_EARLIER && surely_differ(e, a, b, how)) {
		report_differ(e, a, b, how, l, at);
		return VALUE_POISON;
	}
	if (a.kind != V_TENSOR || b.kind != V_TENSOR)
		return VALUE_POISON;
	const struct hir_type ta = *type_of(e, a.u.t), *tb = type_of(e, b.u.t);
	return ta.elem == tb->elem && hir_same_shape(&ta, tb) ? value_tensor(emit_unknown(e, &ta, at)) : VALUE_POISON;
}

void locals_either(struct elab *e, const struct local *before, uint32_t n, enum decided how, span at)
{
	for (uint32_t i = 0; i < n; i++) {
		struct local *now = &e->locals.at[e->frame->base + i];
		now->value = either(e, before[i].value, now->value, how, now, at);
	}
}

static void locals_restore(struct elab *e, const struct local *from, uint32_t n)
{
	if (n)
		memcpy(e->locals.at + e->frame->base, from, n * sizeof *from);
}

/* ---- if ---- */

/* Statements that follow. */
struct items {
	const node_id *at;
	uint32_t n;
	bool tail; /* the value of the last is wanted */
};

static struct value branch(struct elab *e, node_id n, enum flow *flow)
{
	*flow = FLOW_NEXT;
	if (n == AST_NONE)
		return (struct value){.kind = V_VOID};
	if (ast_kind(tree(e), n) == NODE_BLOCK)
		return eval_block(e, n, flow);
	return ast_kind(tree(e), n) == NODE_IF ? eval_if(e, n, flow) : eval(e, n);
}

static bool leaves(enum flow f) { return f == FLOW_RETURN || f == FLOW_BREAK || f == FLOW_CONTINUE; }

/* Checking: both ways of a condition that nobody knows; what they leave different is unknown. `sure`: the run decides, not the elaboration. */
static struct value both_branches(struct elab *e, const struct ast_if *f, bool sure, enum flow *flow)
{
	span at = elab_span(e, f->cond);
	bool wanted = e->tail;
	struct local *before, *after;
	uint32_t n;
	enum flow fa, fb;
	bool returned = e->frame->returned;
	locals_snapshot(e, &before, &n);
	e->unsure++;
	e->tail = wanted;
	struct value a = branch(e, f->then, &fa), first = e->frame->result;
	e->frame->returned = returned;
	locals_snapshot(e, &after, &n);
	locals_restore(e, before, n);
	e->tail = wanted;
	struct value b = branch(e, f->otherwise, &fb);
	e->unsure--;
	if (fa == FLOW_NEXT && fb == FLOW_NEXT)
		locals_either(e, after, n, sure ? DECIDED_BY_BRANCH : DECIDED_EARLIER, at);
	else if (fa == FLOW_NEXT)
		locals_restore(e, after, n);
	*flow = fa == fb ? fa : FLOW_NEXT;
	e->exits_seen += leaves(fa) || leaves(fb);
	if (sure && *flow == FLOW_NEXT && (fa == FLOW_RETURN || fb == FLOW_RETURN) && e->frame->result.kind != V_VOID)
		e->frame->maybe_result_at = e->frame->result_at;
	if (*flow != FLOW_RETURN && !returned && e->frame->returned)
		e->frame->result = VALUE_POISON;
	if (*flow == FLOW_RETURN) {
		e->frame->returned = true;
		e->frame->result = either(e, first, e->frame->result, sure ? DECIDED_BY_BRANCH : DECIDED_EARLIER, NULL, at);
	} else {
		e->frame->returned = returned;
	}
	if (fa != FLOW_NEXT || fb != FLOW_NEXT)
		return fa == FLOW_NEXT ? a : fb == FLOW_NEXT ? b : VALUE_POISON;
	return either(e, a, b, sure && wanted ? DECIDED_BY_BRANCH : DECIDED_EARLIER, NULL, at);
}

static struct value run_items(struct elab *e, const struct items *items, enum flow *flow);

/* The run decides. Where one side surely leaves, `rest`, what follows in the block, is part of the other, and *rest_done. */
static struct value runtime_if(struct elab *e, const struct ast_if *f, hir_ref cond, const struct items *rest, bool *rest_done,
			       enum flow *flow)
{
	struct branch br;
	node_id sides[2] = {f->then, f->otherwise};
	bool wanted = e->tail;
	branch_open(e, &br, cond, elab_span(e, f->cond));
	for (uint32_t i = 0; i < 2; i++) {
		enum flow way;
		branch_enter(&br, i);
		e->tail = wanted;
		struct value v = branch(e, sides[i], &way);
		branch_leave(&br, i, v, way);
	}
	bool first = leaves(br.sides[0].flow), second = leaves(br.sides[1].flow);
	if (rest && rest->n && first != second && e->errors == br.errors) {
		enum flow way = br.sides[first].flow;
		branch_enter(&br, first);
		struct value v = run_items(e, rest, &way);
		branch_leave(&br, first, v, way);
		*rest_done = true;
	}
	return branch_merge(&br, flow);
}

static struct value eval_if_before(struct elab *e, node_id n, const struct items *rest, bool *rest_done, enum flow *flow)
{
	struct ast_if f = ast_if(tree(e), n);
	bool wanted = e->tail;
	struct value c = eval(e, f.cond);
	int known = condition(e, c, elab_span(e, f.cond), true);
	*flow = FLOW_NEXT;
	e->tail = wanted;
	if (known >= 0)
		return branch(e, known ? f.then : f.otherwise, flow);
	if (e->gave_up)
		return VALUE_POISON;
	if (!e->checking && c.kind == V_TENSOR && known == -1)
		return runtime_if(e, &f, c.u.t, rest, rest_done, flow);
	return both_branches(e, &f, c.kind == V_TENSOR && known == -1, flow);
}

struct value eval_if(struct elab *e, node_id n, enum flow *flow) { return eval_if_before(e, n, NULL, NULL, flow); }

/* ---- patterns ---- */

static void set_local(struct elab *e, name_id name, struct value v, span at)
{
	struct local *l = local_find(e, name);
	if (l && !l->constant) {
		l->value = v;
		l->at = at;
		return;
	}
	struct value old;
	if (l) {
		elab_error(e, DIAG_ASSIGN, at, "`%s` is a constant and cannot be assigned to", name_text(e->f, name));
	} else if (name_lookup(e, name, at, &old)) {
		const struct member *m = e->frame->self ? instance_member(e->frame->self, name) : NULL;
		const char *what = !m                   ? "not a local"
				   : m->is_arg          ? "an argument of the layer"
				   : m->kind == M_PARAM ? "a parameter of the layer"
							: "a member of the layer";
		struct diag *g = elab_error(e, DIAG_ASSIGN, at, "`%s` is %s and cannot be assigned to", name_text(e->f, name), what);
		if (m)
			diag_secondary(e->out, g, m->at, "declared here");
		diag_help(e->out, g, "give the new value another name: `let new_%s = …`", name_text(e->f, name));
	}
}

static void bind_poison(struct elab *e, node_id p, bool constant) { bind_pattern(e, p, VALUE_POISON, SPAN_NONE, constant); }

static void bind_seq(struct elab *e, node_id p, struct value v, span at, bool constant)
{
	struct ast_nodes items = ast_nodes(tree(e), ast_a(tree(e), p));
	uint32_t rest = items.n;
	for (uint32_t i = 0; i < items.n; i++)
		if (ast_kind(tree(e), items.at[i]) == NODE_PAT_REST)
			rest = i;
	uint32_t need = rest < items.n ? items.n - 1 : items.n;
	bool fits = value_is_seq(v) && (rest < items.n ? v.u.seq->n >= need : v.u.seq->n == need);
	if (!fits && !is_poison(v)) {
		struct diag *g = elab_error(e, DIAG_PATTERN, elab_span(e, p), "the pattern has %u names%s, the value is %s", need,
					    rest < items.n ? " and a rest" : "", elab_value_text(e, v));
		if (at.source != SPAN_NO_SOURCE)
			diag_secondary(e->out, g, at, "%s", elab_value_text(e, v));
		if (need == 2 && (v.kind == V_LAYER || value_is_scalar(v)))
			diag_help(e->out, g, "a loop with the index runs over `enumerate(xs)`");
		else if (v.kind == V_TENSOR)
			diag_help(e->out, g, "a tensor's parts are `x[0]`, `x[1]`; `split` and `chunk` make lists of them");
	}
	for (uint32_t i = 0; i < items.n; i++) {
		if (!fits) {
			bind_poison(e, items.at[i], constant);
		} else if (i == rest) {
			struct value r = value_seq(e->f->arena, V_LIST, v.u.seq->n - need);
			for (uint32_t k = 0; k < r.u.seq->n; k++)
				r.u.seq->at[k] = v.u.seq->at[rest + k];
			bind_pattern(e, items.at[i], r, at, constant);
		} else {
			bind_pattern(e, items.at[i], v.u.seq->at[i < rest ? i : i - 1 + v.u.seq->n - need], at, constant);
		}
	}
}

static void bind_name(struct elab *e, token_id name, struct value v, bool constant)
{
	index_note_value(e, name, v);
	local_push(e, elab_name(e, name), v, constant);
	if (e->main_params && !e->frame->func && !e->frame->self)
		params_of(e, v, name_text(e->f, elab_name(e, name)), e->main_params);
}

void bind_pattern(struct elab *e, node_id p, struct value v, span at, bool constant)
{
	switch (ast_kind(tree(e), p)) {
	case NODE_PAT_NAME:
		bind_name(e, ast_token(tree(e), p), v, constant);
		e->locals.at[e->locals.len - 1].at = at;
		break;
	case NODE_PAT_REST: bind_name(e, ast_a(tree(e), p), v, constant); break;
	case NODE_PAT_TUPLE:
	case NODE_PAT_LIST: bind_seq(e, p, v, at, constant); break;
	default: break;
	}
}

/* ---- assignment ---- */

static struct value no_value(struct elab *e, node_id value)
{
	struct diag *g = elab_error(e, DIAG_TYPE_MISMATCH, elab_span(e, value), "this gives no value");
	if (ast_kind(tree(e), value) == NODE_CALL)
		diag_help(e->out, g,
			  "what is called here ends without a `return`; a layer to be made by a call has a `fn forward` in its body");
	else if (ast_kind(tree(e), value) == NODE_IF)
		diag_help(e->out, g, "every way of an `if` with a value ends with one: add `else { … }`");
	return VALUE_POISON;
}

static void assign_target(struct elab *e, node_id target, struct value v, span at)
{
	switch (ast_kind(tree(e), target)) {
	case NODE_NAME: set_local(e, elab_name(e, ast_token(tree(e), target)), v, elab_span(e, target)); break;
	case NODE_PAREN: assign_target(e, ast_a(tree(e), target), v, at); break;
	case NODE_TUPLE: {
		struct ast_nodes items = ast_nodes(tree(e), ast_a(tree(e), target));
		bool fits = value_is_seq(v) && v.u.seq->n == items.n;
		if (!fits && !is_poison(v))
			elab_error(e, DIAG_PATTERN, elab_span(e, target), "%u targets for %s", items.n, elab_value_text(e, v));
		for (uint32_t i = 0; i < items.n; i++)
			assign_target(e, items.at[i], fits ? v.u.seq->at[i] : VALUE_POISON, at);
		break;
	}
	case NODE_ERROR: break;
	default: {
		struct diag *g = elab_error(e, DIAG_ASSIGN, elab_span(e, target), "only locals can be assigned to");
		diag_note(
			e->out, g,
			"tensors and lists are values: build a new one with `concat`, `where` or `stack`, a list as `[f(x) for x in xs]`");
	}
	}
}

static enum token_kind assign_op(enum token_kind k)
{
	switch (k) {
	case TOK_PLUS_EQ: return TOK_PLUS;
	case TOK_MINUS_EQ: return TOK_MINUS;
	case TOK_STAR_EQ: return TOK_STAR;
	case TOK_SLASH_EQ: return TOK_SLASH;
	case TOK_AT_EQ: return TOK_AT;
	default: return TOK_ASSIGN;
	}
}

static void exec_assign(struct elab *e, node_id n)
{
	node_id target = ast_a(tree(e), n), value = ast_b(tree(e), n);
	enum token_kind op = assign_op(ast_token_kind(tree(e), n));
	struct value v;
	if (op == TOK_ASSIGN) {
		v = eval(e, value);
		if (v.kind == V_VOID)
			v = no_value(e, value);
	} else {
		struct value old = eval(e, target);
		v = eval(e, value);
		v = value_binary(e, op, old, v, elab_span(e, n), elab_span(e, target), elab_span(e, value));
	}
	assign_target(e, target, v, elab_span(e, value));
}

/* ---- statements ---- */

static void exec_let(struct elab *e, node_id n)
{
	struct ast_let l = ast_let(tree(e), n);
	struct value v = eval(e, l.value);
	if (l.type)
		v = sig_coerce(e, l.type, v, elab_span(e, l.value), "the value", e->frame->self);
	if (v.kind == V_VOID)
		v = no_value(e, l.value);
	bind_pattern(e, l.pattern, v, elab_span(e, l.value), false);
}

static void exec_const(struct elab *e, node_id n)
{
	struct ast_const c = ast_const(tree(e), n);
	struct value v = eval(e, c.value);
	if (c.type)
		v = sig_coerce(e, c.type, v, elab_span(e, c.value), "the constant", e->frame->self);
	bind_name(e, c.name, v, true);
}

static enum flow exec_return(struct elab *e, node_id n)
{
	node_id value = ast_a(tree(e), n);
	struct value v = value ? eval(e, value) : (struct value){.kind = V_VOID};
	e->frame->result = v;
	e->frame->result_at = elab_span(e, value ? value : n);
	e->frame->returned = true;
	return FLOW_RETURN;
}

enum flow exec(struct elab *e, node_id n, struct value *value)
{
	struct value v = {.kind = V_VOID};
	enum flow flow = FLOW_NEXT;
	switch (ast_kind(tree(e), n)) {
	case NODE_LET: exec_let(e, n); break;
	case NODE_CONST: exec_const(e, n); break;
	case NODE_ASSIGN: exec_assign(e, n); break;
	case NODE_FOR: flow = exec_for(e, n); break;
	case NODE_WHILE: flow = exec_while(e, n); break;
	case NODE_BREAK: return FLOW_BREAK;
	case NODE_CONTINUE: return FLOW_CONTINUE;
	case NODE_RETURN: return exec_return(e, n);
	case NODE_ASSERT: flow = exec_assert(e, n); break;
	case NODE_IF: v = eval_if(e, n, &flow); break;
	case NODE_BLOCK: v = eval_block(e, n, &flow); break;
	default: v = eval(e, n); break;
	}
	if (value)
		*value = v;
	return e->frame->returned ? FLOW_RETURN : flow;
}

/* What follows where only the run knows whether it does. */
static struct value guarded_items(struct elab *e, const struct items *items, enum flow *flow)
{
	struct branch br;
	hir_ref live;
	*flow = FLOW_NEXT;
	if (!flow_depends(e, true, &live))
		return run_items(e, items, flow);
	branch_open(e, &br, live, elab_span(e, items->at[0]));
	br.wanted = items->tail;
	branch_enter(&br, 0);
	flow_clear(e, true);
	struct value v = run_items(e, items, flow);
	branch_leave(&br, 0, v, *flow);
	branch_enter(&br, 1);
	br.sides[1].gone = true;
	*flow = flow_taken(e, true);
	branch_leave(&br, 1, (struct value){.kind = V_VOID}, *flow);
	return branch_merge(&br, flow);
}

static struct value run_items(struct elab *e, const struct items *items, enum flow *flow)
{
	struct value v = {.kind = V_VOID};
	for (uint32_t i = 0; i < items->n && !e->gave_up; i++) {
		struct items rest = {items->at + i + 1, items->n - i - 1, items->tail}, left = {items->at + i, items->n - i, items->tail};
		bool rest_done = false;
		if (*flow == FLOW_MAYBE)
			return guarded_items(e, &left, flow);
		if (*flow != FLOW_NEXT || !elab_step(e, elab_span(e, items->at[i])))
			break;
		e->tail = items->tail && !rest.n;
		if (ast_kind(tree(e), items->at[i]) == NODE_IF)
			v = eval_if_before(e, items->at[i], &rest, &rest_done, flow);
		else
			*flow = exec(e, items->at[i], &v);
		if (e->frame->returned)
			*flow = FLOW_RETURN;
		if (rest_done)
			break;
	}
	return v;
}

struct value eval_block(struct elab *e, node_id block, enum flow *flow)
{
	*flow = FLOW_NEXT;
	if (ast_kind(tree(e), block) != NODE_BLOCK)
		return VALUE_POISON;
	struct ast_nodes nodes = ast_nodes(tree(e), ast_a(tree(e), block));
	struct items items = {nodes.at, nodes.n, e->tail};
	uint32_t mark = e->locals.len;
	e->depth++;
	struct value v = run_items(e, &items, flow);
	e->depth--;
	e->locals.len = mark;
	return e->gave_up ? VALUE_POISON : v;
}
