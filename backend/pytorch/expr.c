/* Nodes as expressions of Python. */
#include "backend/pytorch/expr.h"
#include <string.h>
#include "backend/pytorch/text.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/half.h"

const char *dtype_python(struct arena *a, dtype t) { return arena_printf(a, "torch.%s", t == DT_TRIT ? "int8" : dtype_text(t)); }

const char *in_parentheses(struct body *b, struct expr e, enum precedence prec)
{
	return e.prec < prec ? arena_printf(b->p->a, "(%s)", e.text) : e.text;
}

const char *operand_text(struct body *b, hir_ref r, enum precedence prec) { return in_parentheses(b, operand_expr(b, r), prec); }

struct expr operand_expr(struct body *b, hir_ref r)
{
	if (b->vars[r])
		return (struct expr){b->vars[r], PREC_CALL, b->exprs[r].is_number};
	if (!b->exprs[r].text) /* its operands have their variables by now */
		b->exprs[r] = node_expr(b, r);
	return b->exprs[r];
}

/* ---- sizes ---- */

static bool is_size_name_taken(const struct body *b, const char *name)
{
	for (uint32_t i = 0; i < b->u->n_inputs; i++)
		if (strcmp(b->inputs[i], name) == 0)
			return true;
	for (uint32_t i = 0; i < dims_syms(b->u->dims); i++)
		if (b->sizes[i] && strcmp(b->sizes[i], name) == 0)
			return true;
	return false;
}

static const char *expr_size_name(struct body *b, uint32_t sym)
{
	const char *base = python_name(b->p->a, dims_sym_name(b->u->dims, sym)), *name = base;
	for (uint32_t k = 2; !b->sizes[sym] && is_size_name_taken(b, name); k++)
		name = arena_printf(b->p->a, "%s%u", base, k);
	if (!b->sizes[sym])
		b->sizes[sym] = name;
	return b->sizes[sym];
}

const char *dim_text_python(struct body *b, dim d, enum precedence prec)
{
	struct arena *a = b->p->a;
	struct dim_step steps[128];
	struct expr stack[64];
	uint32_t n = dim_program(b->u->dims, d, steps, 128), top = 0;
	if (n > 128)
		return report_unprintable(b->p, b->u->at, "a size with so many terms"), "0";
	for (uint32_t i = 0; i < n; i++) {
		if (steps[i].op == DIM_PUSH_CONST) {
			stack[top++] = call_expr(hole_text(a, NULL, arena_printf(a, "%lld", (long long)steps[i].value), NULL));
			continue;
		}
		if (steps[i].op == DIM_PUSH_SYM) {
			stack[top++] = call_expr(expr_size_name(b, (uint32_t)steps[i].value));
			continue;
		}
		static const struct {
			const char *text;
			enum precedence prec;
		} ops[] = {[DIM_OP_ADD] = {"+", PREC_SUM},
			   [DIM_OP_MUL] = {"*", PREC_PRODUCT},
			   [DIM_OP_FLOORDIV] = {"//", PREC_PRODUCT},
			   [DIM_OP_MOD] = {"%", PREC_PRODUCT}};
		struct expr y = stack[--top], x = stack[--top];
		enum precedence p = ops[steps[i].op].prec;
		bool minus = steps[i].op == DIM_OP_ADD && steps[i - 1].op == DIM_PUSH_CONST && steps[i - 1].value < 0;
		if (minus) {
			const char *value = hole_text(a, NULL, arena_printf(a, "%lld", -(long long)steps[i - 1].value), NULL);
			stack[top++] = (struct expr){arena_printf(a, "%s - %s", in_parentheses(b, x, p), value), p, true};
			continue;
		}
		stack[top++] = (struct expr){
			arena_printf(a, "%s %s %s", in_parentheses(b, x, p), ops[steps[i].op].text, in_parentheses(b, y, p + 1)), p, true};
	}
	return in_parentheses(b, stack[0], prec);
}

/* ---- arguments ---- */

/* A number that float32 has, in its shortest text there. */
const char *float_arg(struct arena *a, const struct hir_arg *x) { return python_float(a, x->u.f, (double)(float)x->u.f == x->u.f); }

static const char *scalar_text(struct body *b, const struct hir_arg *x)
{
	struct arena *a = b->p->a;
	switch (x->kind) {
	case ARG_INT: return hole_text(a, NULL, arena_printf(a, "%lld", (long long)x->u.i), NULL);
	case ARG_BOOL: return x->u.i ? "True" : "False";
	case ARG_FLOAT: return hole_text(a, NULL, float_arg(a, x), NULL);
	case ARG_STR: return python_string(a, x->u.s);
	case ARG_DIM: return dim_text_python(b, x->u.d, PREC_TERNARY);
	default: return "None";
	}
}

const char *arg_text(struct body *b, const struct hir_arg *x, enum precedence prec)
{
	if (x->kind == ARG_TENSOR)
		return operand_text(b, x->u.tensor, prec);
	if (x->kind == ARG_LIST)
		return list_text(b, x, false);
	const char *text = scalar_text(b, x);
	bool bare = prec < PREC_SUM || x->kind == ARG_BOOL || x->kind == ARG_STR || x->kind == ARG_NONE ||
		    (x->kind == ARG_INT && x->u.i >= 0) || (x->kind == ARG_FLOAT && x->u.f >= 0);
	return bare ? text : arena_printf(b->p->a, "(%s)", text);
}

const char *list_text(struct body *b, const struct hir_arg *x, bool spliced)
{
	struct arena *a = b->p->a;
	const char *text = "";
	bool tensors = false;
	for (uint32_t i = 0; i < x->u.list.n; i++) {
		const struct hir_arg *item = &b->u->args[x->u.list.start + i];
		tensors = tensors || item->kind == ARG_TENSOR;
		text = arena_printf(a, "%s%s%s", text, i ? ", " : "", arg_text(b, item, PREC_TERNARY));
	}
	if (spliced)
		return x->u.list.n ? text : "()";
	return tensors ? arena_printf(a, "[%s]", text) : arena_printf(a, "(%s%s)", text, x->u.list.n == 1 ? "," : "");
}

const char *device_text(struct body *b)
{
	b->device_used = b->device != NULL;
	return b->device ? arena_printf(b->p->a, ", device=%s.device", b->device) : "";
}

const char *tensor_text(struct body *b, hir_ref r)
{
	struct expr e = operand_expr(b, r);
	if (!e.is_number)
		return e.text;
	return arena_printf(b->p->a, "torch.tensor(%s, dtype=%s%s)", e.text, dtype_python(b->p->a, b->u->nodes[r].type.elem),
			    device_text(b));
}

const char *index_text(struct body *b, const struct hir_arg *x)
{
	if (x->kind != ARG_TENSOR)
		return arg_text(b, x, PREC_TERNARY);
	dtype t = b->u->nodes[x->u.tensor].type.elem;
	if (t == DT_INT64 || dtype_class(t) != DTC_INT)
		return tensor_text(b, x->u.tensor);
	return arena_printf(b->p->a, "%s.long()", operand_text(b, x->u.tensor, PREC_CALL));
}

/* ---- builtins with forms of their own ---- */

static struct expr cast_expr(struct body *b, hir_ref r, const struct hir_arg *x)
{
	struct arena *a = b->p->a;
	struct expr e = operand_expr(b, x->u.tensor);
	dtype t = b->u->nodes[r].type.elem;
	if (e.is_number)
		return (struct expr){dtype_class(t) == DTC_FLOAT ? arena_printf(a, "float(%s)", e.text) : e.text,
				     dtype_class(t) == DTC_FLOAT ? PREC_CALL : e.prec, true};
	const char *text = in_parentheses(b, e, PREC_CALL);
	bool from_float = dtype_class(b->u->nodes[x->u.tensor].type.elem) == DTC_FLOAT;
	if (t == DT_TRIT || (from_float && dtype_class(t) == DTC_INT && dtype_size(t) < 4)) /* saturates */
		text = arena_printf(a, "%s.clamp(%lld, %lld)", text, (long long)dtype_least_int(t), (long long)dtype_largest_int(t));
	return call_expr(arena_printf(a, "%s.to(%s)", text, dtype_python(a, t)));
}

/* minimum and maximum of a tensor and a number. */
static struct expr bound_expr(struct body *b, enum builtin bi, const struct hir_arg *x)
{
	struct arena *a = b->p->a;
	for (int i = 0; i < 2; i++) {
		bool number = x[i].kind != ARG_TENSOR || operand_expr(b, x[i].u.tensor).is_number;
		if (number)
			return call_expr(arena_printf(a, "torch.clamp(%s, %s=%s)", arg_text(b, &x[1 - i], PREC_TERNARY),
						      bi == BI_MINIMUM ? "max" : "min", arg_text(b, &x[i], PREC_TERNARY)));
	}
	return call_expr(arena_printf(a, "torch.%s(%s, %s)", bi == BI_MINIMUM ? "minimum" : "maximum", arg_text(b, &x[0], PREC_TERNARY),
				      arg_text(b, &x[1], PREC_TERNARY)));
}

/* The sizes of the node's type as arguments. */
static const char *expr_shape_text(struct body *b, const struct hir_type *t)
{
	const char *text = "";
	for (uint32_t i = 0; i < t->rank; i++)
		text = arena_printf(b->p->a, "%s%s%s", text, i ? ", " : "", dim_text_python(b, t->dims[i], PREC_TERNARY));
	return text;
}

static struct expr builtin_expr(struct body *b, hir_ref r)
{
	const struct hir_node *n = &b->u->nodes[r];
	const struct hir_arg *x = &b->u->args[n->args];
	bool written = is_written(b, n);
	enum builtin bi = written ? n->written : n->builtin;
	if (!written)
		switch (bi) {
		case BI_SLICE: return slice_expr(b, r, x);
		case BI_SELECT: return select_expr(b, x);
		case BI_INDEX: return index_expr(b, r, x);
		case BI_NARROW:
			return call_expr(arena_printf(b->p->a, "%s.narrow(%lld, %s, %s)", operand_text(b, x[0].u.tensor, PREC_CALL),
						      (long long)x[1].u.i, arg_text(b, &x[2], PREC_TERNARY),
						      arg_text(b, &x[3], PREC_TERNARY)));
		case BI_CAST: return cast_expr(b, r, x);
		case BI_MATMUL: return matmul_expr(b, r, x);
		case BI_MINIMUM:
		case BI_MAXIMUM: return bound_expr(b, bi, x);
		case BI_SQUEEZE:
		case BI_UNSQUEEZE:
		case BI_FLATTEN:
		case BI_RESHAPE:
			return call_expr(arena_printf(b->p->a, "%s.reshape(%s)", operand_text(b, x[0].u.tensor, PREC_CALL),
						      expr_shape_text(b, &n->type)));
		case BI_EXPAND:
			return call_expr(arena_printf(b->p->a, "%s.expand(%s)", operand_text(b, x[0].u.tensor, PREC_CALL),
						      expr_shape_text(b, &n->type)));
		default: break;
		}
	if (bi == BI_ATTENTION && arg_at(b, r, 3)->kind != ARG_NONE && arg_at(b, r, 4)->u.i && arg_at(b, r, 5)->kind == ARG_NONE) {
		static const struct row both = {"tnn.attention(%0, %1, %2, mask=%3, causal=True)", PREC_CALL};
		return template_expr(b, r, &both); /* PyTorch's takes one of the two */
	}
	if (function_row(bi)->template)
		return template_expr(b, r, function_row(bi));
	report_unprintable(b->p, n->at, arena_printf(b->p->a, "`%s`", builtin_name(bi)));
	return call_expr("None");
}

/* ---- constants ---- */

static const char *expr_element_text(struct arena *a, dtype t, const void *data, int64_t i)
{
	const char *p = (const char *)data + (size_t)i * dtype_size(t);
	float f;
	double d;
	if (t == DT_BOOL)
		return *p ? "True" : "False";
	if (t == DT_FLOAT32)
		return memcpy(&f, p, sizeof f), python_float(a, (double)f, true);
	if (t == DT_FLOAT64)
		return memcpy(&d, p, sizeof d), python_float(a, d, false);
	if (t == DT_FLOAT16 || t == DT_BFLOAT16) {
		uint16_t h;
		memcpy(&h, p, sizeof h);
		return python_float(a, t == DT_FLOAT16 ? float16_value(h) : bfloat16_value(h), false);
	}
	return arena_printf(a, "%lld", (long long)dtype_int(t, data, i));
}

/* The elements as nested lists. */
static void put_nested(struct body *b, const struct hir_node *n, uint32_t axis, int64_t *at, struct buf *out)
{
	if (axis == n->type.rank) {
		arena_mark_t m = arena_mark(b->p->a);
		buf_puts(out, expr_element_text(b->p->a, n->type.elem, n->data, (*at)++));
		arena_release(b->p->a, m);
		return;
	}
	int64_t size = 0;
	dim_is_const(b->u->dims, n->type.dims[axis], &size);
	buf_putc(out, '[');
	for (int64_t i = 0; i < size; i++) {
		buf_puts(out, i ? ", " : "");
		put_nested(b, n, axis + 1, at, out);
	}
	buf_putc(out, ']');
}

static struct expr const_expr(struct body *b, const struct hir_node *n)
{
	int64_t at = 0;
	if (n->type.rank == 0) {
		const char *text = expr_element_text(b->p->a, n->type.elem, n->data, 0);
		return (struct expr){n->type.elem == DT_BOOL ? text : hole_text(b->p->a, NULL, text, NULL),
				     *text == '-' ? PREC_UNARY : PREC_CALL, true};
	}
	struct buf list = {0};
	put_nested(b, n, 0, &at, &list);
	const char *text =
		arena_printf(b->p->a, "torch.tensor(%s, dtype=%s%s)", list.at, dtype_python(b->p->a, n->type.elem), device_text(b));
	buf_free(&list);
	return call_expr(text);
}

/* ---- nodes ---- */

struct expr node_expr(struct body *b, hir_ref r)
{
	const struct hir_node *n = &b->u->nodes[r];
	switch (n->kind) {
	case HIR_INPUT: return call_expr(b->inputs[n->index]);
	case HIR_CONST: return const_expr(b, n);
	case HIR_DIM: return (struct expr){dim_text_python(b, n->extent, PREC_SUM), PREC_SUM, true};
	case HIR_BUILTIN: return builtin_expr(b, r);
	case HIR_CALL: return call_expr(call_text(b, n, n->callee, &b->u->args[n->args], n->n_args));
	case HIR_IF: return if_expr(b, n);
	case HIR_RESULT: return result_expr(b, n);
	default: return call_expr("None");
	}
}
