/* Expressions. */
#include <string.h>
#include "frontend/elab/branch.h"
#include "frontend/elab/expr.h"
#include "frontend/elab/index_value.h"
#include "frontend/elab/states.h"
#include "frontend/elab/stmt.h"
#include "frontend/elab/unknown_list.h"
#include "frontend/habits/habits.h"
#include "frontend/rules/builtin.h"
#include "frontend/syntax/literal.h"

/* The literal, negated if `minus`: -9223372036854775808 fits though 9223372036854775808 does not. */
static struct value eval_int(struct elab *e, node_id n, bool minus)
{
	uint64_t v;
	if (literal_int(&elab_tree(e)->tokens, ast_token(elab_tree(e), n), &v) && v <= (uint64_t)INT64_MAX + minus)
		return value_int((int64_t)(minus ? 0 - v : v));
	return report_poison(&e->em, DIAG_LITERAL_RANGE, elab_span(e, n), "the integer does not fit in 64 bits");
}

static struct value eval_name(struct elab *e, node_id n)
{
	struct value v;
	span at = elab_span(e, n);
	if (!name_lookup(e, elab_name(e, ast_token(elab_tree(e), n)), at, &v))
		return VALUE_POISON; /* reported by the resolver */
	index_note_value(e, ast_token(elab_tree(e), n), v);
	return v;
}

static struct value eval_seq(struct elab *e, node_id n, enum value_kind kind)
{
	struct ast_nodes items = ast_nodes(elab_tree(e), ast_a(elab_tree(e), n));
	struct value v = value_seq(e->em.f->arena, kind, items.n);
	for (uint32_t i = 0; i < items.n; i++)
		v.u.seq->at[i] = eval(e, items.at[i]);
	return checked_list(&e->em, v, elab_span(e, n));
}

/* `a && b`, `a || b` where a is known only at run time. b is evaluated in a branch if it is expensive or may fail. */
static struct value eval_runtime_logic(struct elab *e, node_id n, struct value a, node_id nb)
{
	struct branch br;
	enum flow flow;
	uint32_t cost = 0;
	enum token_kind op = ast_token_kind(elab_tree(e), n);
	span at = elab_span(e, n);
	branch_open(e, &br, a.u.t, at);
	br.value_wanted = true;
	branch_enter(&br, op == TOK_OR);
	struct value b = eval(e, nb);
	bool scalar = b.kind == V_TENSOR && type_of(&e->em, b.u.t)->elem == DT_BOOL && !type_of(&e->em, b.u.t)->rank;
	bool lazy = scalar && !body_is_cheap(e, e->em.b, &cost);
	branch_leave(&br, op == TOK_OR, b, FLOW_NEXT);
	if (lazy) {
		branch_enter(&br, op == TOK_AND);
		branch_leave(&br, op == TOK_AND, value_bool(op == TOK_OR), FLOW_NEXT);
		return branch_merge(&br, &flow);
	}
	b = branch_inline(&br);
	if (b.kind == V_BOOL)
		return b.u.b == (op == TOK_OR) ? b : a;
	return apply_binary(&e->em, op, a, b, at, elab_span(e, ast_a(elab_tree(e), n)), elab_span(e, nb));
}

/* `&&` and `||` evaluate the second operand only if needed. */
static struct value eval_logic(struct elab *e, node_id n)
{
	enum token_kind op = ast_token_kind(elab_tree(e), n);
	node_id na = ast_a(elab_tree(e), n), nb = ast_b(elab_tree(e), n);
	struct value a = eval(e, na);
	if (a.kind == V_BOOL && a.u.b == (op == TOK_OR))
		return a;
	if (!e->em.checking && a.kind == V_TENSOR && type_of(&e->em, a.u.t)->elem == DT_BOOL && !type_of(&e->em, a.u.t)->rank)
		return eval_runtime_logic(e, n, a, nb);
	struct value b = eval(e, nb);
	if (a.kind == V_BOOL && (b.kind == V_BOOL || is_poison(b)))
		return b;
	if (b.kind == V_BOOL && is_poison(a))
		return b.u.b == (op == TOK_OR) ? b : a;
	return apply_binary(&e->em, op, a, b, elab_span(e, n), elab_span(e, na), elab_span(e, nb));
}

static bool is_number_or_tensor(struct value v) { return v.kind == V_TENSOR || value_is_scalar(v); }

/* a == b; values of different kinds differ. */
static struct value equals_item(struct elab *e, struct value a, struct value b, span at)
{
	bool comparable = a.kind == b.kind || a.kind == V_NONE || b.kind == V_NONE || (is_number_or_tensor(a) && is_number_or_tensor(b));
	return comparable ? apply_binary(&e->em, TOK_EQ, a, b, at, at, at) : value_bool(false);
}

/* `x in xs`: true if an element equals x. */
static struct value is_in_list(struct elab *e, struct value x, struct value list, span at)
{
	struct value any = value_bool(false);
	for (uint32_t i = 0; i < list.u.seq->n; i++) {
		struct value one = equals_item(e, x, list.u.seq->at[i], at);
		if (is_poison(one) || (one.kind == V_BOOL && one.u.b))
			return one;
		if (one.kind != V_BOOL)
			any = any.kind == V_BOOL ? one : apply_binary(&e->em, TOK_OR, any, one, at, at, at);
	}
	return any;
}

/* `i in a..b:step` */
static struct value is_in_range(struct elab *e, struct value x, const struct range *range, span at)
{
	enum token_kind first = range->step > 0 ? TOK_LE : TOK_GE, last = range->step > 0 ? TOK_LT : TOK_GT;
	struct value from = apply_binary(&e->em, first, range->from, x, at, at, at),
		     to = apply_binary(&e->em, last, x, range->to, at, at, at);
	struct value both = from.kind == V_BOOL && from.u.b ? to : to.kind == V_BOOL && to.u.b ? from : VALUE_POISON;
	if (from.kind == V_BOOL && to.kind == V_BOOL)
		both = value_bool(from.u.b && to.u.b);
	else if (is_poison(both))
		both = apply_binary(&e->em, TOK_AND, from, to, at, at, at);
	if (range->step == 1 || range->step == -1 || (both.kind == V_BOOL && !both.u.b))
		return both;
	struct value past = apply_binary(&e->em, TOK_MINUS, x, range->from, at, at, at);
	struct value rest = apply_binary(&e->em, TOK_PERCENT, past, value_int(range->step), at, at, at);
	struct value hit = apply_binary(&e->em, TOK_EQ, rest, value_int(0), at, at, at);
	return both.kind == V_BOOL  ? hit
	       : hit.kind == V_BOOL ? (hit.u.b ? both : hit)
				    : apply_binary(&e->em, TOK_AND, both, hit, at, at, at);
}

static struct value eval_membership(struct elab *e, node_id n)
{
	struct value x = eval(e, ast_a(elab_tree(e), n)), in = eval(e, ast_b(elab_tree(e), n));
	span at = elab_span(e, n);
	if (is_poison(x) || is_poison(in))
		return VALUE_POISON;
	if (value_is_seq(in) && !value_is_partial(in))
		return is_in_list(e, x, in, at);
	if (in.kind == V_RANGE && is_number_or_tensor(x))
		return is_in_range(e, x, in.u.range, at);
	if (in.kind == V_STR && x.kind == V_STR)
		return value_bool(strstr(in.u.s, x.u.s) != NULL);
	struct diag *g =
		report_error(&e->em, DIAG_OPERANDS, at, "`in` does not accept %s and %s", value_text(&e->em, x), value_text(&e->em, in));
	diag_help(e->em.report.out, g,
		  in.kind == V_TENSOR ? "test the elements of a tensor with `any(x == y)`" : "search a list, a tuple, a range or a string");
	return VALUE_POISON;
}

static struct value eval_binary(struct elab *e, node_id n)
{
	enum token_kind op = ast_token_kind(elab_tree(e), n);
	if (op == TOK_AND || op == TOK_OR)
		return eval_logic(e, n);
	if (op == TOK_IN)
		return eval_membership(e, n);
	node_id na = ast_a(elab_tree(e), n), nb = ast_b(elab_tree(e), n);
	struct value a = eval(e, na), b = eval(e, nb), list;
	if (e->em.checking && unknown_list_operator(e, op, a, b, &list))
		return list;
	return apply_binary(&e->em, op, a, b, elab_span(e, n), elab_span(e, na), elab_span(e, nb));
}

static struct value eval_chain(struct elab *e, node_id n)
{
	struct ast_chain c = ast_chain(elab_tree(e), n);
	struct value all = value_bool(true), left = eval(e, c.operands[0]);
	for (uint32_t i = 0; i + 1 < c.n; i++) {
		struct value right = eval(e, c.operands[i + 1]);
		span sa = elab_span(e, c.operands[i]), sb = elab_span(e, c.operands[i + 1]);
		struct value one = apply_binary(&e->em, token_kind(&elab_tree(e)->tokens, c.ops[i]), left, right,
						(span){sa.source, sa.start, sb.end}, sa, sb);
		if (one.kind == V_BOOL && !one.u.b)
			return one;
		bool first = all.kind == V_BOOL;
		all = first ? one : one.kind == V_BOOL ? all : apply_binary(&e->em, TOK_AND, all, one, elab_span(e, n), sa, sb);
		left = right;
	}
	return all;
}

static bool range_bound(struct elab *e, node_id n, struct value *out)
{
	*out = eval(e, n);
	if (is_integer_scalar(&e->em, *out))
		return true;
	if (!is_poison(*out))
		report_error(&e->em, DIAG_TYPE_MISMATCH, elab_span(e, n), "a range needs integers, not %s", value_text(&e->em, *out));
	return false;
}

static struct value eval_range(struct elab *e, node_id n)
{
	struct ast_range r = ast_range(elab_tree(e), n);
	struct value from, to, step = value_int(1);
	bool ok = range_bound(e, r.from, &from);
	ok = range_bound(e, r.to, &to) && ok;
	ok = (!r.step || range_bound(e, r.step, &step)) && ok;
	if (ok && step.kind == V_TENSOR)
		report_error(&e->em, DIAG_TYPE_MISMATCH, elab_span(e, r.step), "the step of a range must be known at compile time");
	if (!ok || step.kind != V_INT)
		return VALUE_POISON;
	if (!step.u.i)
		return report_poison(&e->em, DIAG_ARG_VALUE, elab_span(e, r.step), "the step of a range is zero");
	if (r.inclusive)
		to = apply_binary(&e->em, TOK_PLUS, to, value_int(step.u.i < 0 ? -1 : 1), elab_span(e, n), elab_span(e, n),
				  elab_span(e, n));
	if (is_poison(to))
		return to;
	struct range *out = ARENA_NEW(e->em.f->arena, struct range);
	*out = (struct range){from, to, step.u.i};
	return (struct value){.kind = V_RANGE, .u.range = out};
}

static struct value eval_string(struct elab *e, node_id n)
{
	size_t len;
	return value_str(literal_string(&elab_tree(e)->tokens, ast_token(elab_tree(e), n), e->em.f->arena, &len));
}

/* ---- members ---- */

static struct value eval_member(struct elab *e, node_id n)
{
	struct value v = eval(e, ast_a(elab_tree(e), n)), out;
	name_id name = elab_name(e, ast_token(elab_tree(e), n));
	if (is_poison(v))
		return VALUE_POISON;
	offer_value_members(e, n, v);
	if (!value_member(e, v, name, elab_span(e, n), &out))
		return report_no_member(e, v, n, name);
	index_note_member(e, ast_token(elab_tree(e), n), v, out);
	return out;
}

/* ---- calls ---- */

static void eval_args(struct elab *e, node_id call, struct args *args)
{
	struct ast_nodes nodes = ast_nodes(elab_tree(e), ast_b(elab_tree(e), call));
	for (uint32_t i = 0; i < nodes.n; i++) {
		node_id n = nodes.at[i];
		bool named = ast_kind(elab_tree(e), n) == NODE_NAMED_ARG;
		struct arg a = {.at = elab_span(e, named ? ast_a(elab_tree(e), n) : n)};
		if (named) {
			a.name = elab_name(e, ast_token(elab_tree(e), n));
			a.name_at = tok_span(e->frame->mod, ast_token(elab_tree(e), n));
		}
		a.v = eval(e, named ? ast_a(elab_tree(e), n) : n);
		args->at[args->n++] = a;
	}
}

/* True for what `x.f()` calls if x has no member f: no layer of that name. */
static bool callable(struct value v) { return value_is_callable(v) && v.kind != V_LAYER && v.kind != V_TUPLE; }

/* True if v is the function of the current frame. */
static bool expr_is_current(const struct elab *e, struct value v)
{
	const struct func *current = e->frame->func;
	return current && v.kind == V_FN && v.u.fn->node == current->node && v.u.fn->mod == current->mod && v.u.fn->self == current->self;
}

/* The callee of `x.f(a)`: a member of x, else the function f, with x as its first argument. */
static struct value method_target(struct elab *e, node_id n, struct args *args)
{
	node_id obj = ast_a(elab_tree(e), n);
	struct value v = eval(e, obj), out;
	name_id name = elab_name(e, ast_token(elab_tree(e), n));
	span at = tok_span(e->frame->mod, ast_token(elab_tree(e), n));
	if (is_poison(v))
		return VALUE_POISON;
	offer_value_members(e, n, v);
	if (value_member(e, v, name, at, &out)) {
		index_note_member(e, ast_token(elab_tree(e), n), v, out);
		return out;
	}
	bool free_fn = v.kind != V_MODULE && name_lookup(e, name, at, &out);
	if (free_fn && is_poison(out))
		return out;
	if (free_fn && (!callable(out) ||
			expr_is_current(e, out))) /* neither `let mean = x.mean()` nor `fn mean(x) { return x.mean() }` hides x.mean() */
		prelude_lookup(e, name, &out);
	if (!free_fn || !callable(out))
		return report_no_member(e, v, n, name);
	args->at[args->n++] = (struct arg){.v = v, .at = elab_span(e, obj)};
	index_note_member(e, ast_token(elab_tree(e), n), v, out);
	return out;
}

static const char *expr_callee_text(struct elab *e, struct value callee, node_id n)
{
	const char *src = source_excerpt(&e->em, elab_span(e, n));
	return text_join(&e->em,
			 callee.kind == V_LAYER     ? "layer instance "
			 : value_is_partial(callee) ? "layer "
						    : "function ",
			 src, "", "");
}

/* Reports `x.size(0)` and `x.shape(0)`, which are functions in PyTorch. */
static bool report_called_property(struct elab *e, node_id call, struct value callee, bool method)
{
	node_id target = ast_a(elab_tree(e), call);
	token_id tok = ast_token(elab_tree(e), target);
	bool size = token_is(&elab_tree(e)->tokens, tok, "size"), shape = token_is(&elab_tree(e)->tokens, tok, "shape");
	if (method || (!size && !shape) || (callee.kind != V_INT && callee.kind != V_DIM && !value_is_seq(callee)))
		return false;
	struct ast_nodes args = ast_nodes(elab_tree(e), ast_b(elab_tree(e), call));
	struct diag *g =
		report_error(&e->em, DIAG_NOT_CALLABLE, elab_span(e, call), "`%s` of a tensor is not a function", size ? "size" : "shape");
	span at = tok_span(e->frame->mod, tok);
	at.end = elab_span(e, call).end;
	diag_help(e->em.report.out, g, "`x.shape` is the tuple of dimensions, `x.shape[0]` one of them, `x.size` the number of elements");
	span one = args.n == 1 ? elab_span(e, args.at[0]) : at;
	char *index = arena_strndup(e->em.f->arena, elab_tree(e)->tokens.src->text + one.start, one.end - one.start);
	diag_edit(e->em.report.out, g, at, args.n == 1 ? text_join(&e->em, "shape[", index, "]", "") : "shape");
	return true;
}

static struct value eval_call(struct elab *e, node_id n)
{
	struct value out;
	if (exec_append(e, n, &out))
		return out;
	if (exec_state_append(e, n))
		return (struct value){.kind = V_VOID};
	node_id target = ast_a(elab_tree(e), n);
	struct args args = {0, ARENA_ARRAY(e->em.f->arena, struct arg, ast_nodes(elab_tree(e), ast_b(elab_tree(e), n)).n + 1)};
	struct value callee = ast_kind(elab_tree(e), target) == NODE_MEMBER ? method_target(e, target, &args) : eval(e, target);
	if (ast_kind(elab_tree(e), target) == NODE_MEMBER && report_called_property(e, n, callee, args.n > 0))
		return VALUE_POISON;
	index_note_call(e, ast_token(elab_tree(e), target), callee, args.n > 0);
	eval_args(e, n, &args);
	if (is_poison(callee))
		return VALUE_POISON;
	return call_value(e, callee, &args, elab_span(e, n), expr_callee_text(e, callee, target));
}

static struct value eval_unary(struct elab *e, node_id n)
{
	enum token_kind op = ast_token_kind(elab_tree(e), n);
	node_id operand = ast_a(elab_tree(e), n);
	if (op == TOK_MINUS && ast_kind(elab_tree(e), operand) == NODE_INT)
		return eval_int(e, operand, true);
	return apply_unary(&e->em, op, eval(e, operand), elab_span(e, n));
}

/* ---- dispatch ---- */

static struct value eval_node(struct elab *e, node_id n)
{
	enum flow flow;
	switch (ast_kind(elab_tree(e), n)) {
	case NODE_INT: return eval_int(e, n, false);
	case NODE_FLOAT: return value_float(literal_float(&elab_tree(e)->tokens, ast_token(elab_tree(e), n)));
	case NODE_STRING: return eval_string(e, n);
	case NODE_FSTRING: return eval_fstring(e, n);
	case NODE_TRUE: return value_bool(true);
	case NODE_FALSE: return value_bool(false);
	case NODE_NONE: return (struct value){.kind = V_NONE};
	case NODE_NAME: return eval_name(e, n);
	case NODE_PAREN: return eval(e, ast_a(elab_tree(e), n));
	case NODE_TUPLE: return eval_seq(e, n, V_TUPLE);
	case NODE_LIST: return eval_seq(e, n, V_LIST);
	case NODE_UNARY: return eval_unary(e, n);
	case NODE_BINARY: return eval_binary(e, n);
	case NODE_CHAIN: return eval_chain(e, n);
	case NODE_RANGE: return eval_range(e, n);
	case NODE_CALL: return eval_call(e, n);
	case NODE_MEMBER: return eval_member(e, n);
	case NODE_INDEX: return eval_index(e, n);
	case NODE_COMPREHENSION: return eval_comprehension(e, n);
	case NODE_IF:
	case NODE_TERNARY: e->value_wanted = true; return eval_if(e, n, &flow);
	case NODE_BLOCK: e->value_wanted = true; return eval_block(e, n, &flow);
	default: return VALUE_POISON;
	}
}

struct value eval(struct elab *e, node_id n)
{
	if (e->em.report.gave_up || ++e->em.report.steps > e->em.report.max_steps || e->em.report.depth > ELAB_MAX_DEPTH) {
		count_step(&e->em, elab_span(e, n));
		return VALUE_POISON;
	}
	e->em.report.depth++;
	struct value v = eval_node(e, n);
	e->em.report.depth--;
	return v;
}
