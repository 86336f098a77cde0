/* Lists that grow in a run-time loop: the loop carries a tensor with room for all elements, and each iteration stores its part. */
#include "frontend/elab/branch.h"
#include "frontend/elab/runtime_loop.h"
#include "frontend/rules/builtin.h"

/* The trip count, if it is computed from sizes. */
static bool trip_count(struct loop_state *state, dim *out)
{
	struct dims *d = state->e->em.b->dims;
	const struct range *r = state->loop->range;
	dim from, to;
	if (!r || !size_value(&state->e->em, r->from, &from) || !size_value(&state->e->em, r->to, &to))
		return false;
	int64_t step = r->step > 0 ? r->step : -r->step;
	dim distance = r->step > 0 ? dim_sub(d, to, from) : dim_sub(d, from, to);
	*out = step == 1 ? distance : dim_floordiv(d, dim_add(d, distance, dim_const(d, step - 1)), dim_const(d, step));
	return true;
}

bool growing_list_start(struct loop_state *state, uint32_t i)
{
	struct elab *e = state->e;
	struct list_growth *g = &state->growth[i];
	struct carried_tensor l = {
		.local = i, .literal = {.kind = V_VOID}, .type = {.elem = g->row.elem, .rank = (uint8_t)(g->row.rank + 1)}};
	dim n;
	state->trees[i] = (struct value){.kind = V_STACKED, .u.t = HIR_NONE};
	if (!g->each)
		return true;
	if (!trip_count(state, &n)) {
		struct diag *d = report_error(&e->em, DIAG_RUNTIME_LOOP, state->loop->at,
					      "the length of list `%s` after this loop cannot be computed from sizes",
					      name_text(e->em.f, state->before[i].name));
		diag_help(e->em.report.out, d, "only a `for` over sizes can collect results in a list, such as `for t in 0..x.shape[1]`");
		return false;
	}
	if (g->row.rank == HIR_MAX_RANK)
		return report_false(&e->em, DIAG_RANK, state->loop->at, "a run-time loop collects tensors of at most %d dimensions",
				    HIR_MAX_RANK - 1);
	l.type.dims[0] = dim_mul(e->em.b->dims, n, dim_const(e->em.b->dims, g->each));
	for (uint32_t k = 0; k < g->row.rank; k++)
		l.type.dims[k + 1] = g->row.dims[k];
	l.init = emit_placeholder(e, &l.type, state->loop->at);
	state->trees[i].u.t = state->leaves.len;
	vec_push(&state->leaves, l);
	return true;
}

struct value earlier_items(struct elab *e)
{
	struct value v = value_seq(e->em.f->arena, V_LIST, 1);
	v.u.seq->at[0] = (struct value){.kind = V_COLLECTED};
	return v;
}

/* The index of the iteration, from 0. */
static hir_ref iteration(struct loop_state *state)
{
	struct elab *e = state->e;
	const struct range *r = state->loop->range;
	struct hir_type t = {.elem = DT_INT64};
	hir_ref i = state->counter_in;
	if (r->from.kind != V_INT || r->from.u.i) {
		struct hir_arg args[2] = {arg_tensor(i), arg_tensor(body_import_value(e, value_tensor(state->counter)).u.t)};
		i = emit_builtin(&e->em, BI_SUB, &t, args, 2, state->loop->at);
	}
	if (r->step == 1)
		return i;
	struct hir_arg args[2] = {arg_tensor(i), arg_tensor(emit_scalar(&e->em, value_int(r->step), DT_INT64, state->loop->at))};
	return emit_builtin(&e->em, BI_FLOORDIV, &t, args, 2, state->loop->at);
}

static struct value calculated(struct loop_state *state, enum builtin bi, struct value a, struct value b)
{
	struct arg two[] = {{.v = a, .at = state->loop->at}, {.v = b, .at = state->loop->at}};
	struct args args = {2, two};
	return call_builtin(&state->e->em, bi, &args, state->loop->at);
}

/* Stores element k of this iteration in the tensor, and returns the new tensor. */
static hir_ref put_element(struct loop_state *state, uint32_t local, hir_ref all, struct value v, uint32_t k)
{
	struct elab *e = state->e;
	const struct list_growth *g = &state->growth[local];
	struct value at = value_tensor(iteration(state));
	if (g->each > 1)
		at = calculated(state, BI_ADD, calculated(state, BI_MUL, at, value_int(g->each)), value_int(k));
	hir_ref x = v.kind == V_TENSOR ? v.u.t : value_is_scalar(v) ? scalar_tensor(&e->em, v, g->row.elem, state->loop->at) : HIR_NONE;
	struct hir_type t = x == HIR_NONE ? (struct hir_type){0} : *type_of(&e->em, x);
	if (x == HIR_NONE || !hir_same_shape(&t, &g->row) || !dtype_widens(t.elem, g->row.elem)) {
		struct diag *d = report_error(&e->em, DIAG_LOOP_TYPES, local_at(state, local)->at,
					      "list `%s` collects tensors %s%s, but here %s", name_text(e->em.f, state->before[local].name),
					      dtype_text(g->row.elem), shape_text(&e->em, &g->row), value_text(&e->em, v));
		diag_help(e->em.report.out, d, "use a separate list for each type of result");
		return HIR_NONE;
	}
	struct hir_type whole = state->leaves.at[state->trees[local].u.t].type;
	struct hir_arg args[4] = {arg_tensor(all), arg_tensor(emit_cast(&e->em, x, g->row.elem, state->loop->at)), arg_int(0),
				  arg_tensor(at.u.t)};
	return emit_builtin(&e->em, BI_SELECT_SCATTER, &whole, args, 4, state->loop->at);
}

bool growing_list_note(struct loop_state *state, uint32_t local, struct value v, uint32_t old)
{
	struct value first = v.u.seq->at[old];
	struct list_growth *g = &state->growth[local];
	if (first.kind != V_TENSOR && (!value_is_scalar(first) || first.kind == V_DIM))
		return false;
	g->each = v.u.seq->n - old;
	g->row = first.kind == V_TENSOR ? *type_of(&state->e->em, first.u.t) : (struct hir_type){.elem = scalar_type(first)};
	state->again = true;
	return true;
}

bool growing_list_end(struct loop_state *state, uint32_t local, struct value v)
{
	struct elab *e = state->e;
	struct list_growth *g = &state->growth[local];
	bool adds = v.kind == V_LIST && v.u.seq->n && v.u.seq->at[0].kind == V_COLLECTED;
	if (is_poison(v))
		return false;
	if (adds && !g->each)
		return v.u.seq->n == 1 ? (state->assigned[local] = false, state->again = true) : growing_list_note(state, local, v, 1);
	if (!adds || v.u.seq->n != g->each + 1)
		return report_false(&e->em, DIAG_LOOP_TYPES, local_at(state, local)->at,
				    "list `%s` must grow by the same number of elements in every iteration",
				    name_text(e->em.f, state->before[local].name));
	if (state->may_exit) {
		struct diag *d =
			report_error(&e->em, DIAG_RUNTIME_LOOP, state->loop->at, "a loop that may end early cannot collect into list `%s`",
				     name_text(e->em.f, state->before[local].name));
		diag_help(e->em.report.out, d,
			  "its length would depend on run-time values: run all iterations, and mask the later results by `where`");
		return false;
	}
	struct carried_tensor *l = &state->leaves.at[state->trees[local].u.t];
	l->out = l->in;
	for (uint32_t k = 0; k < g->each && l->out != HIR_NONE; k++)
		l->out = put_element(state, local, l->out, v.u.seq->at[k + 1], k);
	return l->out != HIR_NONE;
}

struct value growing_list_result(struct loop_state *state, uint32_t local)
{
	struct value all = {.kind = V_STACKED, .u.t = state->leaves.at[state->trees[local].u.t].out};
	return concat_stacked(&state->e->em, state->before[local].value, all, state->loop->at);
}
