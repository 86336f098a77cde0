/* Builtins by the templates of functions.def. */
#include "backend/pytorch/expr.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "backend/pytorch/text.h"
#include "base/arena.h"
#include "base/buf.h"

static const struct row rows[BI_COUNT] = {
#define PYTORCH(id, precedence, text) [BI_##id] = {text, PREC_##precedence},
#include "backend/pytorch/functions.def"
};

const struct row *function_row(enum builtin bi) { return &rows[bi]; }

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

/* max(x, y) is another function than max(x, dim). */
bool is_written(const struct body *b, const struct hir_node *n)
{
	if (!n->n_written || !rows[n->written].template || !types_agree(b, n))
		return false;
	bool has_dim = n->written == BI_MAX || n->written == BI_MIN;
	return !has_dim || b->u->args[n->written_args + 1].kind == ARG_NONE || b->u->args[n->written_args + 1].kind == ARG_INT;
}

const struct hir_arg *arg_at(const struct body *b, hir_ref r, uint32_t i)
{
	static const struct hir_arg none = {.kind = ARG_NONE};
	uint32_t count;
	const struct hir_arg *args = shown_args(b, r, &count);
	return i < count ? &args[i] : &none;
}

/* The argument, or what the front end chose if the call does not give it. */
static const struct hir_arg *chosen_arg(const struct body *b, hir_ref r, uint32_t i)
{
	const struct hir_node *n = &b->u->nodes[r];
	const struct hir_arg *x = arg_at(b, r, i);
	return x->kind == ARG_NONE && n->kind == HIR_BUILTIN && i < n->n_args ? &b->u->args[n->args + i] : x;
}

/* A tensor that must be one of floats. */
static const char *template_float_text(struct body *b, const struct hir_arg *x)
{
	if (x->kind != ARG_TENSOR)
		return arena_printf(b->p->a, "torch.tensor(%s)", arg_text(b, x, PREC_TERNARY));
	const struct hir_node *n = &b->u->nodes[x->u.tensor];
	if (operand_expr(b, x->u.tensor).is_number || dtype_class(n->type.elem) == DTC_FLOAT)
		return tensor_text(b, x->u.tensor);
	return arena_printf(b->p->a, "%s.float()", operand_text(b, x->u.tensor, PREC_CALL));
}

static void template_put_type(struct body *b, hir_ref r, struct buf *out)
{
	dtype t = b->u->nodes[r].type.elem;
	if (t != DT_FLOAT32)
		buf_printf(out, ", dtype=%s", dtype_python(b->p->a, t));
}

/* {dim=%1|-1}, of which s is the text after the brace. Returns the text after it. */
static const char *template_put_optional(struct body *b, hir_ref r, const char *s, struct buf *out)
{
	struct arena *a = b->p->a;
	const char *percent = strchr(s, '%'), *end = strchr(s, '}'), *bar = memchr(s, '|', (size_t)(end - s));
	const struct hir_arg *x = arg_at(b, r, (uint32_t)(percent[1] - '0'));
	const char *name = *s == '=' ? "" : arena_strndup(a, s, (size_t)(percent - s));
	const char *standard = bar ? arena_strndup(a, bar + 1, (size_t)(end - bar - 1)) : NULL;
	const char *before = arena_printf(a, ", %s", name);
	if (x->kind == ARG_INT || x->kind == ARG_FLOAT) {
		const char *value = x->kind == ARG_INT ? arena_printf(a, "%lld", (long long)x->u.i) : float_arg(a, x);
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
static const char *template_put_argument(struct body *b, hir_ref r, const char *s, enum precedence prec, struct buf *out)
{
	if (*s == 'T')
		return template_put_type(b, r, out), s + 1;
	if (*s == 'D')
		return buf_puts(out, device_text(b)), s + 1;
	if (*s == 'B')
		return buf_puts(out, arg_at(b, r, 1)->kind == ARG_NONE ? ", training=True" : ""), s + 1;
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
	case 'f': buf_puts(out, template_float_text(b, x)); break;
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

struct expr template_expr(struct body *b, hir_ref r, const struct row *row)
{
	struct buf out = {0};
	for (const char *s = row->template; *s;) {
		if (*s == '{')
			s = template_put_optional(b, r, s + 1, &out);
		else if (*s == '%' && s[1] != ' ')
			s = template_put_argument(b, r, s + 1, row->prec, &out);
		else
			buf_putc(&out, *s++);
	}
	const char *text = arena_strndup(b->p->a, out.at, out.len);
	buf_free(&out);
	return strstr(row->template, "%p") ? product_expr(b, r, text, row->prec) : (struct expr){text, row->prec, is_of_numbers(b, r, row)};
}
