/* Nodes as expressions of Python. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "backend/pytorch/print.h"
#include "backend/pytorch/text.h"
#include "base/half.h"

static const struct row {
	const char *template;
	enum precedence prec;
} rows[BI_COUNT] = {
#define PYTORCH(id, precedence, text) [BI_##id] = {text, PREC_##precedence},
#include "backend/pytorch/functions.def"
};

const char *dtype_python(struct arena *a, dtype t) { return arena_printf(a, "torch.%s", t == DT_TRIT ? "int8" : dtype_text(t)); }

static struct expr call_expr(const char *text) { return (struct expr){text, PREC_CALL, false}; }

static const char *in_parentheses(struct body *b, struct expr e, enum precedence prec)
{
	return e.prec < prec ? arena_printf(b->p->a, "(%s)", e.text) : e.text;
}

const char *operand_text(struct body *b, hir_ref r, enum precedence prec) { return in_parentheses(b, operand_expr(b, r), prec); }

struct expr operand_expr(struct body *b, hir_ref r)
{
	if (b->vars[r])
		return call_expr(b->vars[r]);
	return node_expr(b, r);
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

static const char *size_name(struct body *b, uint32_t sym)
{
	const char *base = python_name(b->p->a, dims_sym_name(b->u->dims, sym)), *name = base;
	for (uint32_t k = 2; !b->sizes[sym] && is_size_name_taken(b, name); k++)
		name = arena_printf(b->p->a, "%s%u", base, k);
	if (!b->sizes[sym])
		b->sizes[sym] = name;
	return b->sizes[sym];
}

const char *dim_expr(struct body *b, dim d, enum precedence prec)
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
			stack[top++] = call_expr(size_name(b, (uint32_t)steps[i].value));
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

/* True if PyTorch gives the operands of a call as written the type that the node has: it promotes integers beside floats as we do, but neither
 * float16 beside integers nor literals beside 16-bit floats. */
static bool types_agree(const struct body *b, const struct hir_node *n)
{
	const struct hir_arg *x = &b->u->args[n->written_args];
	if (rows[n->written].prec == PREC_CALL || n->written != n->builtin)
		return true;
	for (uint32_t i = 0; i < n->n_args; i++) {
		const struct hir_arg *own = &b->u->args[n->args + i];
		if (own->kind != ARG_TENSOR)
			continue;
		dtype to = b->u->nodes[own->u.tensor].type.elem;
		if (dtype_class(to) == DTC_FLOAT && dtype_size(to) == 2)
			return false;
		dtype from = i < n->n_written && x[i].kind == ARG_TENSOR ? b->u->nodes[x[i].u.tensor].type.elem : to;
		if (from != to && !(to == DT_FLOAT32 && dtype_class(from) != DTC_FLOAT))
			return false;
	}
	return true;
}

/* True if the call of a builtin is shown as it was written. max(x, y) is another function than max(x, dim). */
static bool is_written(const struct body *b, const struct hir_node *n)
{
	if (!n->n_written || !rows[n->written].template || !types_agree(b, n))
		return false;
	bool has_dim = n->written == BI_MAX || n->written == BI_MIN;
	return !has_dim || b->u->args[n->written_args + 1].kind == ARG_NONE || b->u->args[n->written_args + 1].kind == ARG_INT;
}

const struct hir_arg *shown_args(const struct body *b, hir_ref r, uint32_t *n)
{
	const struct hir_node *node = &b->u->nodes[r];
	bool written = is_written(b, node);
	*n = written ? node->n_written : node->n_args;
	return b->u->args + (written ? node->written_args : node->args);
}

static const char *scalar_text(struct body *b, const struct hir_arg *x)
{
	struct arena *a = b->p->a;
	switch (x->kind) {
	case ARG_INT: return hole_text(a, NULL, arena_printf(a, "%lld", (long long)x->u.i), NULL);
	case ARG_BOOL: return x->u.i ? "True" : "False";
	case ARG_FLOAT: return hole_text(a, NULL, python_float(a, x->u.f, (double)(float)x->u.f == x->u.f), NULL);
	case ARG_STR: return python_string(a, x->u.s);
	case ARG_DIM: return dim_expr(b, x->u.d, PREC_TERNARY);
	default: return "None";
	}
}

static const char *list_text(struct body *b, const struct hir_arg *x, bool spliced);

static const char *arg_text(struct body *b, const struct hir_arg *x, enum precedence prec)
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

static const char *list_text(struct body *b, const struct hir_arg *x, bool spliced)
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

/* ---- templates ---- */

/* An argument of which a template speaks. */
static const struct hir_arg *arg_at(const struct body *b, hir_ref r, uint32_t i)
{
	static const struct hir_arg none = {.kind = ARG_NONE};
	uint32_t count;
	const struct hir_arg *args = shown_args(b, r, &count);
	return i < count ? &args[i] : &none;
}

/* The same, or what the front end chose if the call does not give it. */
static const struct hir_arg *chosen_arg(const struct body *b, hir_ref r, uint32_t i)
{
	const struct hir_node *n = &b->u->nodes[r];
	const struct hir_arg *x = arg_at(b, r, i);
	return x->kind == ARG_NONE && n->kind == HIR_BUILTIN && i < n->n_args ? &b->u->args[n->args + i] : x;
}

/* A tensor that must be one of floats. */
static const char *float_text(struct body *b, const struct hir_arg *x)
{
	if (x->kind != ARG_TENSOR)
		return arena_printf(b->p->a, "torch.tensor(%s)", arg_text(b, x, PREC_TERNARY));
	const struct hir_node *n = &b->u->nodes[x->u.tensor];
	if (operand_expr(b, x->u.tensor).is_number || dtype_class(n->type.elem) == DTC_FLOAT)
		return tensor_text(b, x->u.tensor);
	return arena_printf(b->p->a, "%s.float()", operand_text(b, x->u.tensor, PREC_CALL));
}

/* An operand of a product: of the result's type, or of float64 for a result of integers, which PyTorch multiplies faster and exactly. */
static const char *factor_text(struct body *b, hir_ref r, const struct hir_arg *x, enum precedence prec)
{
	dtype t = b->u->nodes[r].type.elem, own = b->u->nodes[x->u.tensor].type.elem;
	bool is_float = dtype_class(t) == DTC_FLOAT;
	if (is_float && own == t)
		return operand_text(b, x->u.tensor, prec);
	return arena_printf(b->p->a, "%s.to(%s)", operand_text(b, x->u.tensor, PREC_CALL),
			    dtype_python(b->p->a, is_float ? t : DT_FLOAT64));
}

/* True if all uses of a product of integers make floats of it. Then it stays a tensor of floats, which has a gradient. */
static bool becomes_float(const struct body *b, hir_ref r)
{
	uint32_t casts = 0;
	for (hir_ref k = r + 1; k < b->u->n_nodes; k++) {
		const struct hir_node *n = &b->u->nodes[k];
		bool is_cast = n->kind == HIR_BUILTIN && n->builtin == BI_CAST && dtype_class(n->type.elem) == DTC_FLOAT;
		casts += b->uses[k] && is_cast && b->u->args[n->args].u.tensor == r;
	}
	return casts == b->uses[r];
}

/* The product of factors, as integers if it is one of integers. */
static struct expr product_expr(struct body *b, hir_ref r, const char *text, enum precedence prec)
{
	dtype t = b->u->nodes[r].type.elem;
	if (dtype_class(t) == DTC_FLOAT || becomes_float(b, r))
		return (struct expr){text, prec, false};
	return call_expr(arena_printf(b->p->a, prec < PREC_CALL ? "(%s).to(%s)" : "%s.to(%s)", text, dtype_python(b->p->a, t)));
}

const char *tensor_text(struct body *b, hir_ref r)
{
	struct expr e = operand_expr(b, r);
	if (!e.is_number)
		return e.text;
	return arena_printf(b->p->a, "torch.tensor(%s, dtype=%s%s%s)", e.text, dtype_python(b->p->a, b->u->nodes[r].type.elem),
			    *b->device ? ", device=" : "", b->device);
}

/* A tensor of indices. */
static const char *index_text(struct body *b, const struct hir_arg *x)
{
	if (x->kind != ARG_TENSOR)
		return arg_text(b, x, PREC_TERNARY);
	if (b->u->nodes[x->u.tensor].type.elem == DT_INT64)
		return tensor_text(b, x->u.tensor);
	if (dtype_class(b->u->nodes[x->u.tensor].type.elem) != DTC_INT)
		return tensor_text(b, x->u.tensor);
	return arena_printf(b->p->a, "%s.long()", operand_text(b, x->u.tensor, PREC_CALL));
}

static void put_type(struct body *b, hir_ref r, struct buf *out)
{
	dtype t = b->u->nodes[r].type.elem;
	if (t != DT_FLOAT32)
		buf_printf(out, ", dtype=%s", dtype_python(b->p->a, t));
}

/* {dim=%1|-1}, of which s is the text after the brace. Returns the text after it. */
static const char *put_optional(struct body *b, hir_ref r, const char *s, struct buf *out)
{
	struct arena *a = b->p->a;
	const char *percent = strchr(s, '%'), *end = strchr(s, '}'), *bar = memchr(s, '|', (size_t)(end - s));
	const struct hir_arg *x = arg_at(b, r, (uint32_t)(percent[1] - '0'));
	const char *name = *s == '=' ? "" : arena_strndup(a, s, (size_t)(percent - s));
	const char *standard = bar ? arena_strndup(a, bar + 1, (size_t)(end - bar - 1)) : NULL;
	const char *before = arena_printf(a, ", %s", name);
	if (x->kind == ARG_INT || x->kind == ARG_FLOAT) {
		const char *value = x->kind == ARG_INT ? arena_printf(a, "%lld", (long long)x->u.i)
						       : python_float(a, x->u.f, (double)(float)x->u.f == x->u.f);
		bool same = standard && x->kind == ARG_INT && strchr(standard, '.') && strtod(standard, NULL) == (double)x->u.i;
		buf_puts(out, hole_text(a, before, same ? standard : value, standard));
	} else if (x->kind != ARG_NONE) {
		const char *text = arg_text(b, x, PREC_TERNARY);
		if (!standard || strcmp(text, standard) != 0)
			buf_printf(out, "%s%s", before, text);
	}
	return end + 1;
}

/* True if several heads of q share one of k. */
static bool has_grouped_heads(const struct body *b, const struct hir_arg *q, const struct hir_arg *k)
{
	const struct hir_type *x = &b->u->nodes[q->u.tensor].type, *y = &b->u->nodes[k->u.tensor].type;
	return x->rank > 2 && y->rank > 2 && !dim_eq(x->dims[x->rank - 3], y->dims[y->rank - 3]);
}

/* True if both values that `where` chooses from are numbers. */
static bool are_numbers(struct body *b, hir_ref r)
{
	for (uint32_t i = 1; i < 3; i++) {
		const struct hir_arg *x = arg_at(b, r, i);
		if (x->kind == ARG_TENSOR && !operand_expr(b, x->u.tensor).is_number)
			return false;
	}
	return true;
}

/* A part of a template after its percent sign. Returns the text after it. */
static const char *put_argument(struct body *b, hir_ref r, const char *s, enum precedence prec, struct buf *out)
{
	if (*s == 'T')
		return put_type(b, r, out), s + 1;
	if (*s == 'D')
		return buf_printf(out, *b->device ? ", device=%s" : "%s", b->device), s + 1;
	if (*s == 'G')
		return buf_puts(out, has_grouped_heads(b, arg_at(b, r, 0), arg_at(b, r, 1)) ? ", enable_gqa=True" : ""), s + 1;
	char form = isdigit((unsigned char)*s) ? 0 : *s++;
	uint32_t i = (uint32_t)(*s - '0');
	const struct hir_arg *x = form == 'n' ? chosen_arg(b, r, i) : arg_at(b, r, i);
	switch (form) {
	case '*': buf_puts(out, x->kind == ARG_LIST ? list_text(b, x, true) : arg_text(b, x, PREC_TERNARY)); break;
	case '.': buf_puts(out, arg_text(b, x, PREC_CALL)); break;
	case 'l': buf_puts(out, arg_text(b, x, prec)); break;
	case 'r': buf_puts(out, arg_text(b, x, prec + 1)); break;
	case 'f': buf_puts(out, float_text(b, x)); break;
	case 'i': buf_puts(out, index_text(b, x)); break;
	case 't': buf_puts(out, x->kind == ARG_TENSOR ? tensor_text(b, x->u.tensor) : arg_text(b, x, PREC_TERNARY)); break;
	case 'p': buf_puts(out, factor_text(b, r, x, PREC_TERNARY)); break;
	case 'w':
		buf_puts(out, x->kind == ARG_TENSOR && are_numbers(b, r) ? tensor_text(b, x->u.tensor) : arg_text(b, x, PREC_TERNARY));
		break;
	default: buf_puts(out, i == 0 && x->kind == ARG_TENSOR ? tensor_text(b, x->u.tensor) : arg_text(b, x, PREC_TERNARY)); break;
	}
	return s + 1;
}

/* True for an operator of Python's numbers. */
static bool is_of_numbers(struct body *b, hir_ref r, const struct row *row)
{
	uint32_t n;
	const struct hir_arg *x = shown_args(b, r, &n);
	for (uint32_t i = 0; i < n; i++)
		if (x[i].kind == ARG_TENSOR && !operand_expr(b, x[i].u.tensor).is_number)
			return false;
	return row->prec < PREC_CALL;
}

static struct expr template_expr(struct body *b, hir_ref r, const struct row *row)
{
	struct buf out = {0};
	for (const char *s = row->template; *s;) {
		if (*s == '{')
			s = put_optional(b, r, s + 1, &out);
		else if (*s == '%' && s[1] != ' ')
			s = put_argument(b, r, s + 1, row->prec, &out);
		else
			buf_putc(&out, *s++);
	}
	const char *text = arena_strndup(b->p->a, out.at, out.len);
	buf_free(&out);
	return strstr(row->template, "%p") ? product_expr(b, r, text, row->prec) : (struct expr){text, row->prec, is_of_numbers(b, r, row)};
}

/* ---- nodes with forms of their own ---- */

/* "[:, :, TEXT]" with TEXT in dimension `at`. */
static const char *bracket(struct arena *a, uint32_t at, const char *text)
{
	const char *colons = "";
	for (uint32_t i = 0; i < at; i++)
		colons = arena_printf(a, "%s:, ", colons);
	return arena_printf(a, "[%s%s]", colons, text);
}

/* x[start:end:step] with a negative step: the same elements in their order, reversed. */
static struct expr reversed_expr(struct body *b, hir_ref r, const struct hir_arg *x, const char *tensor)
{
	struct arena *a = b->p->a;
	uint32_t at = (uint32_t)x[1].u.i;
	int64_t start, end, by = -x[4].u.i;
	bool known = dim_is_const(b->u->dims, x[2].u.d, &start), ends = dim_is_const(b->u->dims, x[3].u.d, &end);
	const char *range = ":";
	if (known && ends)
		range = arena_printf(a, "%lld:%lld", (long long)(end + 1 + (start - end - 1) % by), (long long)start + 1);
	else if (by == 1 && ends)
		range = arena_printf(a, "%s:%s + 1", end == -1 ? "" : arena_printf(a, "%lld", (long long)end + 1),
				     dim_expr(b, x[2].u.d, PREC_SUM));
	else
		report_unprintable(b->p, b->u->nodes[r].at, "a slice with this step of a size known only at run time");
	if (by > 1)
		range = arena_printf(a, "%s:%lld", range, (long long)by);
	return call_expr(arena_printf(a, "torch.flip(%s%s, (%u,))", tensor, bracket(a, at, range), at));
}

static struct expr slice_expr(struct body *b, hir_ref r, const struct hir_arg *x)
{
	struct arena *a = b->p->a;
	const struct hir_type *t = &b->u->nodes[x[0].u.tensor].type;
	uint32_t at = (uint32_t)x[1].u.i;
	const char *tensor = operand_text(b, x[0].u.tensor, PREC_CALL);
	int64_t from, step = x[4].kind == ARG_INT ? x[4].u.i : 1;
	if (step < 0)
		return reversed_expr(b, r, x, tensor);
	bool from_start = dim_is_const(b->u->dims, x[2].u.d, &from) && from == 0, to_end = dim_eq(x[3].u.d, t->dims[at]);
	const char *range =
		arena_printf(a, "%s:%s", from_start ? "" : dim_expr(b, x[2].u.d, PREC_SUM), to_end ? "" : dim_expr(b, x[3].u.d, PREC_SUM));
	if (step != 1)
		range = arena_printf(a, "%s:%lld", range, (long long)step);
	return call_expr(arena_printf(a, "%s%s", tensor, bracket(a, at, range)));
}

static struct expr select_expr(struct body *b, const struct hir_arg *x)
{
	const char *tensor = operand_text(b, x[0].u.tensor, PREC_CALL);
	return call_expr(arena_printf(b->p->a, "%s%s", tensor, bracket(b->p->a, (uint32_t)x[1].u.i, arg_text(b, &x[2], PREC_TERNARY))));
}

/* Moves the dimensions of index tensors from where PyTorch has them to where the node has them. */
static const char *placed_text(struct body *b, hir_ref r, const struct hir_arg *x, const char *text)
{
	const struct hir_arg *items = &b->u->args[x[1].u.list.start];
	uint32_t first = UINT32_MAX, last = 0, count = 0, n = x[1].u.list.n;
	for (uint32_t i = 0; i < n; i++) {
		if (items[i].kind == ARG_NONE)
			continue;
		first = count++ ? first : i;
		last = i;
	}
	uint32_t there = last - first + 1 == count ? first : 0, rank = b->u->nodes[r].type.rank - (n - count);
	if (x[2].kind != ARG_INT || x[2].u.i == there || !rank)
		return text;
	const char *from = "", *to = "";
	for (uint32_t i = 0; i < rank; i++) {
		from = arena_printf(b->p->a, "%s%u, ", from, there + i);
		to = arena_printf(b->p->a, "%s%lld, ", to, (long long)x[2].u.i + i);
	}
	return arena_printf(b->p->a, "torch.movedim(%s, (%.*s), (%.*s))", text, (int)strlen(from) - (rank > 1 ? 2 : 1), from,
			    (int)strlen(to) - (rank > 1 ? 2 : 1), to);
}

static struct expr index_expr(struct body *b, hir_ref r, const struct hir_arg *x)
{
	struct arena *a = b->p->a;
	const char *text = "";
	uint32_t n = x[1].u.list.n;
	const struct hir_arg *items = &b->u->args[x[1].u.list.start];
	while (n && items[n - 1].kind == ARG_NONE)
		n--;
	for (uint32_t i = 0; i < n; i++)
		text = arena_printf(a, "%s%s%s", text, i ? ", " : "", items[i].kind == ARG_NONE ? ":" : index_text(b, &items[i]));
	return call_expr(placed_text(b, r, x, arena_printf(a, "%s[%s]", operand_text(b, x[0].u.tensor, PREC_CALL), text)));
}

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

static struct expr matmul_expr(struct body *b, hir_ref r, const struct hir_arg *x)
{
	const char *left = factor_text(b, r, &x[0], PREC_PRODUCT), *right = factor_text(b, r, &x[1], PREC_PRODUCT + 1);
	return product_expr(b, r, arena_printf(b->p->a, "%s @ %s", left, right), PREC_PRODUCT);
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
static const char *shape_text(struct body *b, const struct hir_type *t)
{
	const char *text = "";
	for (uint32_t i = 0; i < t->rank; i++)
		text = arena_printf(b->p->a, "%s%s%s", text, i ? ", " : "", dim_expr(b, t->dims[i], PREC_TERNARY));
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
						      shape_text(b, &n->type)));
		case BI_EXPAND:
			return call_expr(
				arena_printf(b->p->a, "%s.expand(%s)", operand_text(b, x[0].u.tensor, PREC_CALL), shape_text(b, &n->type)));
		default: break;
		}
	if (bi == BI_ATTENTION && arg_at(b, r, 3)->kind != ARG_NONE && arg_at(b, r, 4)->u.i && arg_at(b, r, 5)->kind == ARG_NONE) {
		static const struct row both = {"tnn.attention(%0, %1, %2, mask=%3, causal=True)", PREC_CALL};
		return template_expr(b, r, &both); /* PyTorch's takes one of the two */
	}
	if (rows[bi].template)
		return template_expr(b, r, &rows[bi]);
	report_unprintable(b->p, n->at, arena_printf(b->p->a, "`%s`", builtin_name(bi)));
	return call_expr("None");
}

/* ---- constants ---- */

static const char *element_text(struct arena *a, dtype t, const void *data, int64_t i)
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

static const char *nested_text(struct body *b, const struct hir_node *n, uint32_t axis, int64_t *at)
{
	struct arena *a = b->p->a;
	if (axis == n->type.rank)
		return element_text(a, n->type.elem, n->data, (*at)++);
	int64_t size = 0;
	const char *text = "[";
	dim_is_const(b->u->dims, n->type.dims[axis], &size);
	for (int64_t i = 0; i < size; i++)
		text = arena_printf(a, "%s%s%s", text, i ? ", " : "", nested_text(b, n, axis + 1, at));
	return arena_printf(a, "%s]", text);
}

static struct expr const_expr(struct body *b, const struct hir_node *n)
{
	int64_t at = 0;
	if (n->type.rank == 0) {
		const char *text = element_text(b->p->a, n->type.elem, n->data, 0);
		return (struct expr){n->type.elem == DT_BOOL ? text : hole_text(b->p->a, NULL, text, NULL),
				     *text == '-' ? PREC_UNARY : PREC_CALL, true};
	}
	return call_expr(arena_printf(b->p->a, "torch.tensor(%s, dtype=%s%s%s)", nested_text(b, n, 0, &at),
				      dtype_python(b->p->a, n->type.elem), *b->device ? ", device=" : "", b->device));
}

/* ---- calls ---- */

uint32_t returned_outputs(const struct hir_unit *callee)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < callee->n_outputs; i++)
		n += !callee->outputs[i].state_only;
	return n;
}

static const struct owner *callee_owner(const struct body *b, const struct hir_node *call, const struct hir_unit *callee)
{
	const char *path = call->kind == HIR_CALL && callee->layer ? call->layer : "";
	return !callee->layer ? b->p->file : *path ? owner_of_layer(b->p, callee->layer) : b->spec->owner;
}

static const struct method *callee_method(const struct body *b, const struct hir_node *call, const struct hir_unit *callee)
{
	const struct owner *o = callee_owner(b, call, callee);
	for (uint32_t i = 0; o && i < o->methods.len; i++)
		if (o->methods.at[i].unit == callee)
			return &o->methods.at[i];
	return NULL;
}

/* The layer that a call is of, as an attribute of self, and its method. */
static const char *callee_text(struct body *b, const struct hir_node *call, const struct hir_unit *callee)
{
	struct arena *a = b->p->a;
	if (!callee->layer)
		return function_name(b->p, NULL, callee);
	const char *path = call->kind == HIR_CALL ? call->layer : "";
	const struct owner *o = callee_owner(b, call, callee);
	if (!o)
		return report_unprintable(b->p, call->at, "a call of a layer that is no member of this one"), "None";
	const char *self = member_path(a, !b->spec->owner, path);
	const char *method = o->native || owner_is_sequence(o) ? "forward" : function_name(b->p, o, callee);
	return strcmp(method, "forward") == 0 && *path ? self : arena_printf(a, "%s.%s", self, method);
}

const char *call_text(struct body *b, const struct hir_node *call, const struct hir_unit *callee, const struct hir_arg *args, uint32_t n)
{
	struct arena *a = b->p->a;
	const char *text = "";
	uint32_t passed = 0;
	for (uint32_t i = 0; i < n && i < callee->n_inputs; i++) {
		if (is_layer_argument(callee, i)) {
			const char *path = layer_argument_path(a, b->u, call, callee, i);
			if (!path)
				return report_unprintable(b->p, call->at, "a layer as an argument"), "None";
			text = arena_printf(a, "%s%s%s", text, passed++ ? ", " : "", member_path(a, !b->spec->owner, path));
		}
		if (!is_passed(callee, i))
			continue;
		const char *value = tensor_text(b, args[i].u.tensor);
		/* a recurrent layer takes its states as a pair */
		bool pair = native_takes_pair(callee->layer), opens = pair && passed == 1, closes = pair && passed == 2;
		text = arena_printf(a, "%s%s%s%s%s", text, passed ? ", " : "", opens ? "(" : "", value, closes ? ")" : "");
		passed++;
	}
	const struct method *m = native_layer(callee->layer) ? NULL : callee_method(b, call, callee);
	for (uint32_t i = 0; m && i < m->n_sizes; i++)
		text = arena_printf(a, "%s%s%s", text, passed++ ? ", " : "", dim_expr(b, call->callee_syms[m->sizes[i]], PREC_TERNARY));
	return arena_printf(a, "%s(%s)", callee_text(b, call, callee), text);
}

static struct expr if_expr(struct body *b, const struct hir_node *n)
{
	const struct hir_arg *x = &b->u->args[n->args];
	const char *yes = call_text(b, n, n->callee, x + 1, n->callee->n_inputs);
	const char *no = call_text(b, n, n->other, x + 1 + n->callee->n_inputs, n->other->n_inputs);
	return (struct expr){arena_printf(b->p->a, "%s if %s else %s", yes, arg_text(b, x, PREC_COMPARE), no), PREC_TERNARY, false};
}

/* A result of a call, branch or builtin that returns one value, or a state after it. */
static struct expr result_expr(struct body *b, const struct hir_node *n)
{
	const struct hir_node *source = &b->u->nodes[n->source];
	if (hir_calls(source->kind) && source->callee->outputs[n->index].state_only) {
		const char *state = source->callee->inputs[source->callee->outputs[n->index].state - 1].name;
		const char *path = source->layer && *source->layer ? arena_printf(b->p->a, "%s.%s", source->layer, state) : state;
		return call_expr(member_path(b->p->a, !b->spec->owner, path));
	}
	return operand_expr(b, n->source);
}

struct expr node_expr(struct body *b, hir_ref r)
{
	const struct hir_node *n = &b->u->nodes[r];
	switch (n->kind) {
	case HIR_INPUT: return call_expr(b->inputs[n->index]);
	case HIR_CONST: return const_expr(b, n);
	case HIR_DIM: return (struct expr){dim_expr(b, n->extent, PREC_SUM), PREC_SUM, true};
	case HIR_BUILTIN: return builtin_expr(b, r);
	case HIR_CALL: return call_expr(call_text(b, n, n->callee, &b->u->args[n->args], n->n_args));
	case HIR_IF: return if_expr(b, n);
	case HIR_RESULT: return result_expr(b, n);
	default: return call_expr("None");
	}
}
