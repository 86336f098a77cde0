/* Slices and indices. */
#include "backend/pytorch/expr.h"
#include <string.h>
#include "base/arena.h"

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
	if (known && ends && start <= end)
		range = "0:0";
	else if (known && ends)
		range = arena_printf(a, "%lld:%lld", (long long)(end + 1 + (start - end - 1) % by), (long long)start + 1);
	else if (by == 1 && ends)
		range = arena_printf(a, "%s:%s + 1", end == -1 ? "" : arena_printf(a, "%lld", (long long)end + 1),
				     dim_text_python(b, x[2].u.d, PREC_SUM));
	else
		report_unprintable(b->p, b->u->nodes[r].at, "a slice with this step of a size known only at run time");
	if (by > 1)
		range = arena_printf(a, "%s:%lld", range, (long long)by);
	return call_expr(arena_printf(a, "torch.flip(%s%s, (%u,))", tensor, bracket(a, at, range), at));
}

struct expr slice_expr(struct body *b, hir_ref r, const struct hir_arg *x)
{
	struct arena *a = b->p->a;
	const struct hir_type *t = &b->u->nodes[x[0].u.tensor].type;
	uint32_t at = (uint32_t)x[1].u.i;
	const char *tensor = operand_text(b, x[0].u.tensor, PREC_CALL);
	int64_t from, step = x[4].kind == ARG_INT ? x[4].u.i : 1;
	if (step < 0)
		return reversed_expr(b, r, x, tensor);
	bool from_start = dim_is_const(b->u->dims, x[2].u.d, &from) && from == 0, to_end = dim_eq(x[3].u.d, t->dims[at]);
	const char *range = arena_printf(a, "%s:%s", from_start ? "" : dim_text_python(b, x[2].u.d, PREC_SUM),
					 to_end ? "" : dim_text_python(b, x[3].u.d, PREC_SUM));
	if (step != 1)
		range = arena_printf(a, "%s:%lld", range, (long long)step);
	return call_expr(arena_printf(a, "%s%s", tensor, bracket(a, at, range)));
}

struct expr select_expr(struct body *b, const struct hir_arg *x)
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

struct expr index_expr(struct body *b, hir_ref r, const struct hir_arg *x)
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
