/* Reads the arguments of the builtin that is lowered. */
#include <string.h>
#include "backend/ir/tensor.h"
#include "backend/lower/state.h"
#include "base/bug.h"

static const struct hir_arg *argument_at(const struct lower *l, uint32_t k)
{
	static const struct hir_arg none = {.kind = ARG_NONE};
	return k < l->n->n_args ? &l->u->args[l->n->args + k] : &none;
}

bool lower_has(const struct lower *l, uint32_t k) { return argument_at(l, k)->kind != ARG_NONE; }

ir_ref lower_tensor(struct lower *l, uint32_t k)
{
	const struct hir_arg *a = argument_at(l, k);
	return a->kind == ARG_TENSOR ? l->values[a->u.tensor][0] : IR_NONE;
}

static bool constant_argument(struct lower *l, uint32_t k, double *v)
{
	const struct hir_arg *a = argument_at(l, k);
	if (a->kind != ARG_TENSOR)
		return false;
	const struct hir_node *n = &l->u->nodes[a->u.tensor];
	if (n->kind != HIR_CONST || n->type.rank)
		return false;
	*v = dtype_class(n->type.elem) == DTC_FLOAT ? elem_float(n->type.elem, n->data, 0) : (double)elem_int(n->type.elem, n->data, 0);
	return true;
}

int64_t lower_int(struct lower *l, uint32_t k)
{
	const struct hir_arg *a = argument_at(l, k);
	int64_t v;
	double f;
	if (a->kind == ARG_INT || a->kind == ARG_BOOL)
		return a->u.i;
	if (a->kind == ARG_DIM && dim_is_const(l->u->dims, a->u.d, &v))
		return v;
	if (constant_argument(l, k, &f))
		return (int64_t)f;
	if (a->kind != ARG_NONE)
		lower_fail(l, "this argument must be an integer that is known at compile time");
	return 0;
}

double lower_float(struct lower *l, uint32_t k)
{
	const struct hir_arg *a = argument_at(l, k);
	double v = 0;
	if (a->kind == ARG_FLOAT)
		return a->u.f;
	if (constant_argument(l, k, &v))
		return v;
	return (double)lower_int(l, k);
}

dim lower_translate(struct lower *l, dim x) { return l->syms ? dim_translate(l->f->dims, l->u->dims, x, l->syms) : x; }

dim lower_dim(struct lower *l, uint32_t k)
{
	const struct hir_arg *a = argument_at(l, k);
	return a->kind == ARG_DIM ? lower_translate(l, a->u.d) : dim_const(l->f->dims, lower_int(l, k));
}

bool lower_str_is(const struct lower *l, uint32_t k, const char *text)
{
	const struct hir_arg *a = argument_at(l, k);
	return a->kind == ARG_STR && !strcmp(a->u.s, text);
}

uint32_t lower_list(const struct lower *l, uint32_t k, const struct hir_arg **items)
{
	const struct hir_arg *a = argument_at(l, k);
	if (a->kind == ARG_NONE)
		return 0;
	*items = a->kind == ARG_LIST ? &l->u->args[a->u.list.start] : a;
	return a->kind == ARG_LIST ? a->u.list.n : 1;
}

uint32_t lower_mask(struct lower *l, uint32_t k, uint32_t rank)
{
	const struct hir_arg *items = NULL;
	uint32_t n = lower_list(l, k, &items), mask = 0;
	if (!lower_has(l, k))
		return (1u << rank) - 1;
	for (uint32_t i = 0; i < n; i++)
		mask |= 1u << items[i].u.i;
	return mask;
}

struct hir_type lower_type(struct lower *l, const struct hir_type *t)
{
	return l->syms ? ir_type_translate(l->f->dims, l->u->dims, l->syms, t) : *t;
}

struct hir_type lower_node_type(struct lower *l) { return lower_type(l, &l->n->type); }
