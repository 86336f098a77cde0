/* Statements, blocks, and control flow that is known at compile time. */
#include <string.h>
#include "frontend/elab.h"
#include "frontend/index_note.h"
#include "frontend/sig.h"

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
	if (e->checking && type_of(e, v.u.t)->elem == DT_BOOL && !type_of(e, v.u.t)->rank)
		return -1;
	if (report) {
		bool scalar = !type_of(e, v.u.t)->rank;
		struct diag *g = elab_error(e, DIAG_RUNTIME_IF, at, "%s is not known at compile time and cannot be a condition",
					    elab_value_text(e, v));
		diag_help(e->out, g,
			  scalar ? "write `where(condition, a, b)`" : "a tensor is not a condition: use `where(c, a, b)`, or `any`, `all`");
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

void locals_poison_changed(struct elab *e, const struct local *before, uint32_t n)
{
	struct local *now = n ? e->locals.at + e->frame->base : NULL;
	for (uint32_t i = 0; i < n; i++)
		if (!value_same(now[i].value, before[i].value))
			now[i].value = VALUE_POISON;
}

static void locals_restore(struct elab *e, const struct local *from, uint32_t n)
{
	if (n)
		memcpy(e->locals.at + e->frame->base, from, n * sizeof *from);
}

/* ---- if ---- */

static struct value branch(struct elab *e, node_id n, enum flow *flow)
{
	*flow = FLOW_NEXT;
	if (n == AST_NONE)
		return (struct value){.kind = V_VOID};
	if (ast_kind(tree(e), n) == NODE_BLOCK)
		return eval_block(e, n, flow);
	return ast_kind(tree(e), n) == NODE_IF ? eval_if(e, n, flow) : eval(e, n);
}

/* Both ways of a condition that nobody knows; what they leave different is unknown. */
static struct value both_branches(struct elab *e, const struct ast_if *f, enum flow *flow)
{
	struct local *before, *after;
	uint32_t n;
	enum flow fa, fb;
	bool returned = e->frame->returned;
	locals_snapshot(e, &before, &n);
	e->unsure++;
	struct value a = branch(e, f->then, &fa);
	locals_snapshot(e, &after, &n);
	locals_restore(e, before, n);
	struct value b = branch(e, f->otherwise, &fb);
	e->unsure--;
	if (fa == FLOW_NEXT && fb == FLOW_NEXT)
		locals_poison_changed(e, after, n);
	else if (fa == FLOW_NEXT)
		locals_restore(e, after, n);
	*flow = fa == fb ? fa : FLOW_NEXT;
	if (*flow != FLOW_RETURN && !returned && e->frame->returned)
		e->frame->result = VALUE_POISON;
	if (*flow == FLOW_RETURN)
		e->frame->result = VALUE_POISON;
	else
		e->frame->returned = returned;
	return value_same(a, b) ? a : VALUE_POISON;
}

struct value eval_if(struct elab *e, node_id n, enum flow *flow)
{
	struct ast_if f = ast_if(tree(e), n);
	struct value c = eval(e, f.cond);
	int known = condition(e, c, elab_span(e, f.cond), true);
	*flow = FLOW_NEXT;
	if (known >= 0)
		return branch(e, known ? f.then : f.otherwise, flow);
	if (e->gave_up)
		return VALUE_POISON;
	return both_branches(e, &f, flow);
}

/* ---- patterns ---- */

static void set_local(struct elab *e, name_id name, struct value v, span at)
{
	struct local *l = local_find(e, name);
	if (l && !l->constant) {
		l->value = v;
		return;
	}
	struct value old;
	if (l) {
		elab_error(e, DIAG_ASSIGN, at, "`%s` is a constant and cannot be assigned to", name_text(e->f, name));
	} else if (name_lookup(e, name, at, &old)) {
		struct diag *g = elab_error(e, DIAG_ASSIGN, at, "`%s` is not a local and cannot be assigned to", name_text(e->f, name));
		diag_help(e->out, g, "make a new local with `let %s = …`", name_text(e->f, name));
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
	case NODE_PAT_NAME: bind_name(e, ast_token(tree(e), p), v, constant); break;
	case NODE_PAT_REST: bind_name(e, ast_a(tree(e), p), v, constant); break;
	case NODE_PAT_TUPLE:
	case NODE_PAT_LIST: bind_seq(e, p, v, at, constant); break;
	default: break;
	}
}

/* ---- assignment ---- */

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
		diag_note(e->out, g, "tensors are values: build a new one with `concat`, `where` or `stack`");
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
	} else {
		struct value old = eval(e, target);
		v = eval(e, value);
		v = value_binary(e, op, old, v, elab_span(e, n), elab_span(e, target), elab_span(e, value));
	}
	assign_target(e, target, v, elab_span(e, value));
}

/* ---- loops ---- */

/* A range's elements; false: they depend on a size (then *unknown) or are too many. */
static bool range_items(struct elab *e, const struct range *r, span at, struct value *list, bool *unknown)
{
	if (r->from.kind != V_INT || r->to.kind != V_INT) {
		*unknown = true;
		if (!e->checking) {
			struct diag *g = elab_error(e, DIAG_RUNTIME_LOOP, at, "the number of iterations is not known at compile time");
			diag_note(e->out, g, "it depends on a run-time size; loops over run-time sizes are not supported");
		}
		return false;
	}
	int64_t n = 0, from = r->from.u.i, to = r->to.u.i;
	bool up = r->step > 0;
	uint64_t step = up ? (uint64_t)r->step : 0 - (uint64_t)r->step;
	uint64_t distance = up ? (uint64_t)to - (uint64_t)from : (uint64_t)from - (uint64_t)to;
	if (up ? from < to : from > to)
		n = distance / step > 1000000 ? 1000001 : (int64_t)((distance - 1) / step + 1);
	if (n > 1000000) {
		elab_error(e, DIAG_ELAB_STEPS, at, "the loop has more than 1000000 iterations");
		return false;
	}
	*list = value_seq(e->f->arena, V_LIST, (uint32_t)n);
	for (int64_t i = 0; i < n; i++)
		list->u.seq->at[i] = value_int(from + i * r->step);
	return true;
}

bool iter_items(struct elab *e, struct value v, span at, struct value *list, bool *unknown)
{
	*unknown = false;
	if (value_is_seq(v)) {
		*list = v;
		return true;
	}
	if (v.kind == V_RANGE)
		return range_items(e, v.u.range, at, list, unknown);
	*unknown = is_poison(v);
	if (is_poison(v))
		return false;
	struct diag *g = elab_error(e, DIAG_NOT_ITERABLE, at, "%s cannot be iterated over", elab_value_text(e, v));
	if (v.kind == V_TENSOR)
		diag_help(e->out, g, "iterate over the indices: `for i in 0..x.shape[0]`");
	if (v.kind == V_INT || v.kind == V_DIM)
		diag_help(e->out, g, "write a range: `0..n`");
	return false;
}

/* What stands for an element when the elements are not known. */
static struct value unknown_item(struct elab *e, struct value v)
{
	if (v.kind != V_RANGE)
		return VALUE_POISON;
	dim d = dim_new_sym(e->b->dims, "i");
	return (struct value){.kind = V_DIM, .u.d = d};
}

static enum flow loop_body(struct elab *e, node_id body)
{
	enum flow flow;
	eval_block(e, body, &flow);
	return flow;
}

static enum flow exec_once(struct elab *e, node_id pattern, struct value item, node_id body)
{
	struct local *before;
	uint32_t n, mark = e->locals.len;
	locals_snapshot(e, &before, &n);
	if (pattern)
		bind_pattern(e, pattern, item, SPAN_NONE, false);
	bool returned = e->frame->returned;
	e->unsure++;
	loop_body(e, body);
	e->unsure--;
	e->frame->returned = returned;
	e->locals.len = mark;
	locals_poison_changed(e, before, n);
	return FLOW_NEXT;
}

static enum flow exec_for(struct elab *e, node_id n)
{
	struct ast_for f = ast_for(tree(e), n);
	struct value v = eval(e, f.iter), list;
	bool unknown;
	if (!iter_items(e, v, elab_span(e, f.iter), &list, &unknown))
		return exec_once(e, f.pattern, e->checking ? unknown_item(e, v) : VALUE_POISON, f.body);
	uint32_t mark = e->locals.len;
	for (uint32_t i = 0; i < list.u.seq->n && !e->gave_up; i++) {
		bind_pattern(e, f.pattern, list.u.seq->at[i], elab_span(e, f.iter), false);
		enum flow flow = loop_body(e, f.body);
		e->locals.len = mark;
		if (flow == FLOW_RETURN)
			return flow;
		if (flow == FLOW_BREAK)
			break;
	}
	return FLOW_NEXT;
}

static enum flow exec_while(struct elab *e, node_id n)
{
	node_id cond = ast_a(tree(e), n), body = ast_b(tree(e), n);
	for (;;) {
		if (!elab_step(e, elab_span(e, n)))
			return FLOW_NEXT;
		int c = condition(e, eval(e, cond), elab_span(e, cond), true);
		if (c < 0)
			return exec_once(e, AST_NONE, VALUE_POISON, body);
		if (!c)
			return FLOW_NEXT;
		enum flow flow = loop_body(e, body);
		if (flow == FLOW_RETURN)
			return flow;
		if (flow == FLOW_BREAK)
			return FLOW_NEXT;
	}
}

/* ---- comprehensions ---- */

struct comp {
	node_id elem;
	struct ast_nodes clauses;
	VEC(struct value) out;
	bool unknown;
};

static void comp_clause(struct elab *e, struct comp *c, uint32_t k)
{
	if (k == c->clauses.n) {
		struct value v = eval(e, c->elem);
		vec_push(&c->out, v);
		if (c->out.len > 1000000)
			elab_error(e, DIAG_ELAB_STEPS, elab_span(e, c->elem), "the list gets longer than 1000000 elements"),
				e->gave_up = true;
		return;
	}
	node_id n = c->clauses.at[k];
	if (ast_kind(tree(e), n) == NODE_COMP_IF) {
		int known = condition(e, eval(e, ast_a(tree(e), n)), elab_span(e, ast_a(tree(e), n)), true);
		c->unknown = c->unknown || known < 0;
		if (known)
			comp_clause(e, c, k + 1);
		return;
	}
	struct value v = eval(e, ast_b(tree(e), n)), list;
	bool unknown;
	uint32_t mark = e->locals.len;
	if (!iter_items(e, v, elab_span(e, ast_b(tree(e), n)), &list, &unknown)) {
		c->unknown = true;
		list = value_seq(e->f->arena, V_LIST, 1);
		list.u.seq->at[0] = e->checking ? unknown_item(e, v) : VALUE_POISON;
	}
	for (uint32_t i = 0; i < list.u.seq->n && !e->gave_up; i++) {
		bind_pattern(e, ast_a(tree(e), n), list.u.seq->at[i], elab_span(e, ast_b(tree(e), n)), false);
		comp_clause(e, c, k + 1);
		e->locals.len = mark;
	}
}

struct value eval_comprehension(struct elab *e, node_id n)
{
	struct comp c = {.elem = ast_a(tree(e), n), .clauses = ast_nodes(tree(e), ast_b(tree(e), n))};
	comp_clause(e, &c, 0);
	struct value v = value_seq(e->f->arena, V_LIST, c.out.len);
	for (uint32_t i = 0; i < c.out.len; i++)
		v.u.seq->at[i] = c.out.at[i];
	vec_free(&c.out);
	return c.unknown ? VALUE_POISON : elab_list(e, v, elab_span(e, n));
}

/* ---- statements ---- */

static void exec_let(struct elab *e, node_id n)
{
	struct ast_let l = ast_let(tree(e), n);
	struct value v = eval(e, l.value);
	if (l.type)
		v = sig_coerce(e, l.type, v, elab_span(e, l.value), "the value", e->frame->self);
	if (v.kind == V_VOID) {
		elab_error(e, DIAG_TYPE_MISMATCH, elab_span(e, l.value), "this gives no value");
		v = VALUE_POISON;
	}
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

struct value eval_block(struct elab *e, node_id block, enum flow *flow)
{
	struct value v = {.kind = V_VOID};
	*flow = FLOW_NEXT;
	if (ast_kind(tree(e), block) != NODE_BLOCK)
		return VALUE_POISON;
	struct ast_nodes items = ast_nodes(tree(e), ast_a(tree(e), block));
	uint32_t mark = e->locals.len;
	e->depth++;
	for (uint32_t i = 0; i < items.n && *flow == FLOW_NEXT && !e->gave_up; i++) {
		if (!elab_step(e, elab_span(e, items.at[i])))
			break;
		*flow = exec(e, items.at[i], &v);
	}
	e->depth--;
	e->locals.len = mark;
	return e->gave_up ? VALUE_POISON : v;
}
