/* The scalar body of a nest in the current scope: expressions, loads and stores for every unrolled copy. */
#include "backend/cpu/emit_nest.h"
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"

void scope_begin(struct nest *s, struct scope *sc)
{
	*sc = (struct scope){.journal = s->journal.len, .opened = s->opened, .ptrs = malloc((s->n_ptrs + 1) * sizeof *sc->ptrs)};
	BUG_ON(!sc->ptrs);
	memcpy(sc->ptrs, s->ptrs, s->n_ptrs * sizeof *sc->ptrs);
}

void scope_end(struct nest *s, struct scope *sc)
{
	while (s->journal.len > sc->journal) {
		struct journal_entry j = s->journal.at[--s->journal.len];
		if (j.splat)
			s->cells[j.expr].splat = NULL;
		else
			memset(s->cells[j.expr].value, 0, sizeof s->cells[j.expr].value);
	}
	s->opened = sc->opened;
	memcpy(s->ptrs, sc->ptrs, s->n_ptrs * sizeof *sc->ptrs);
	free(sc->ptrs);
}

static const struct loop_access *access_of(const struct nest *s, uint32_t k)
{
	return k < s->n->n_exprs ? &s->n->exprs[k].access : &s->n->stores[k - s->n->n_exprs].access;
}

static uint32_t filled_at(const struct nest *s) { return s->n->n_exprs + s->n->n_stores; }

static bool is_tile(const struct nest *s, uint32_t k)
{
	return k == filled_at(s) || (k < s->n->n_exprs && s->n->exprs[k].kind == LOOP_TILE);
}

static dtype emit_body_elem_of(const struct nest *s, uint32_t k)
{
	if (k == filled_at(s))
		return s->n->exprs[s->n->n_exprs - 1].elem;
	return is_tile(s, k) ? s->n->exprs[k].elem : s->e->fn->buffers[access_of(s, k)->buffer].type.elem;
}

static void advance_tile(struct nest *s, uint32_t k, uint32_t loop, LLVMValueRef var)
{
	if (loop == 0)
		return;
	LLVMValueRef offset = loop == s->e->tile->dense ? var : LLVMBuildMul(s->e->builder, var, s->e->tile->stride, "");
	s->ptrs[k] = emit_offset(s->e, emit_body_elem_of(s, k), s->ptrs[k], offset);
}

void body_advance(struct nest *s, uint32_t k, uint32_t loop, LLVMValueRef var)
{
	dim stride = access_of(s, k)->stride[loop];
	int64_t v;
	if (dim_known(s->e, stride, &v) && v == 0)
		return;
	LLVMValueRef offset = dim_known(s->e, stride, &v) && v == 1 ? var : LLVMBuildMul(s->e->builder, var, emit_dim(s->e, stride), "");
	s->ptrs[k] = emit_offset(s->e, emit_body_elem_of(s, k), s->ptrs[k], offset);
}

void body_enter(struct nest *s, uint32_t loop, LLVMValueRef var)
{
	bool moved = s->e->range && s->e->range->loop == loop;
	s->var[loop] = moved ? LLVMBuildAdd(s->e->builder, var, s->e->range->from, "") : var;
	s->opened |= 1u << loop;
	for (uint32_t k = 0; k < s->n_ptrs; k++)
		if (is_tile(s, k))
			advance_tile(s, k, loop, var);
		else if (s->ptrs[k])
			body_advance(s, k, loop, var);
}

LLVMValueRef body_position(struct nest *s, uint32_t loop, uint32_t copy, uint32_t width)
{
	LLVMBuilderRef b = s->e->builder;
	LLVMValueRef lanes[256], var = s->var[loop];
	if (loop != s->axes.vector_loop || width == 1)
		return emit_splat(s->e, var, width);
	if (copy)
		var = LLVMBuildAdd(b, var, emit_i64(s->e, (int64_t)copy * width), "");
	for (uint32_t k = 0; k < width; k++)
		lanes[k] = emit_i64(s->e, k);
	return LLVMBuildAdd(b, emit_splat(s->e, var, width), LLVMConstVector(lanes, width), "");
}

LLVMValueRef body_value(struct nest *s, uint32_t expr, uint32_t copy, uint32_t width)
{
	struct cell *c = &s->cells[expr];
	LLVMValueRef v = c->value[s->varying[expr] ? copy : 0];
	BUG_ON(!v);
	if (value_lanes(v) == width)
		return v;
	if (LLVMIsConstant(v))
		return emit_splat(s->e, v, width);
	if (!c->splat) {
		c->splat = emit_splat(s->e, v, width);
		vec_push(&s->journal, ((struct journal_entry){expr, true}));
	}
	return c->splat;
}

/* Returns the stride along the vectorised loop for emit_load and emit_store, or NULL if it is dense. */
static LLVMValueRef lane_stride(struct nest *s, const struct loop_access *a)
{
	int64_t v;
	dim stride = a->stride[s->axes.vector_loop];
	return dim_known(s->e, stride, &v) && v == 1 ? NULL : emit_dim(s->e, stride);
}

static LLVMValueRef copy_ptr(struct nest *s, uint32_t k, uint32_t copy, LLVMValueRef stride)
{
	LLVMValueRef ahead = emit_i64(s->e, (int64_t)copy * s->width);
	if (copy == 0)
		return s->ptrs[k];
	return emit_offset(s->e, emit_body_elem_of(s, k), s->ptrs[k], stride ? LLVMBuildMul(s->e->builder, stride, ahead, "") : ahead);
}

static LLVMValueRef compute_load(struct nest *s, uint32_t k, uint32_t copy, uint32_t width)
{
	const struct loop_expr *x = &s->n->exprs[k];
	LLVMValueRef stride = width > 1 ? lane_stride(s, &x->access) : NULL;
	LLVMValueRef ptr = width > 1 ? copy_ptr(s, k, copy, stride) : s->ptrs[k];
	if (width > 1 && x->access.prefetch)
		emit_prefetch(s, &x->access, ptr);
	if (x->access.index == LOOP_NONE || !s->varying[x->access.index])
		return emit_load(s->e, x->elem, ptr, width, stride);
	return emit_load_indexed(s->e, x->elem, ptr, width, stride, body_value(s, x->access.index, copy, width),
				 emit_dim(s->e, x->access.scale));
}

/* Registers hold 16-bit floats as float32. Each operation rounds, so that fusion changes no result. */
static LLVMValueRef emit_body_rounded(struct emit *e, dtype elem, LLVMValueRef v)
{
	return elem == DT_FLOAT16 || elem == DT_BFLOAT16 ? emit_from_half(e, elem, emit_to_half(e, elem, v)) : v;
}

static LLVMValueRef emit_body_compute(struct nest *s, uint32_t k, uint32_t copy)
{
	const struct loop_expr *x = &s->n->exprs[k];
	uint32_t width = s->varying[k] ? s->width : 1;
	LLVMValueRef args[3];
	switch (x->kind) {
	case LOOP_LOAD: return compute_load(s, k, copy, width);
	case LOOP_TILE: return emit_load(s->e, x->elem, copy_ptr(s, k, copy, NULL), width, NULL);
	case LOOP_CONST: return emit_number(s->e, x->elem, 1, x->f, x->i);
	case LOOP_INDEX: return body_position(s, x->var, copy, width);
	case LOOP_EXTENT: return emit_dim(s->e, x->extent);
	case LOOP_CHECK: return emit_checked_index(s->e, body_value(s, x->args[0], copy, width), emit_dim(s->e, x->extent));
	case LOOP_BOUNDED: return emit_bounded_cast(s->e, x, body_value(s, x->args[0], copy, width));
	case LOOP_ACC: BUG("accumulators are set, not computed");
	case LOOP_OP:
		for (int j = 0; j < ir_op_operands(x->op); j++)
			args[j] = body_value(s, x->args[j], copy, width);
		return emit_body_rounded(s->e, x->elem,
					 x->method ? emit_approximation(s->e, s->n, x, args)
						   : emit_op(s->e, x->op, x->elem, s->n->exprs[x->args[0]].elem, args));
	}
	BUG("expression kind");
}

static bool is_in_part(const struct nest *s, uint32_t k, enum body_part part)
{
	const struct loop_expr *x = &s->n->exprs[k];
	if (s->cells[k].value[0] || s->fused[k] || (s->deps[k] & ~(s->opened | DEP_ACC)))
		return false;
	if (part == BODY_REDUCTION)
		return x->in_reduction;
	if (part == BODY_ANY)
		return !(s->deps[k] & DEP_ACC);
	return !x->in_reduction;
}

/* An index that is equal in all lanes is applied once, in the outermost loop possible. */
static void apply_index(struct nest *s, uint32_t index)
{
	for (uint32_t k = 0; k < s->n->n_exprs; k++) {
		const struct loop_expr *x = &s->n->exprs[k];
		if (x->kind != LOOP_LOAD || x->access.index != index)
			continue;
		LLVMValueRef offset = LLVMBuildMul(s->e->builder, s->cells[index].value[0], emit_dim(s->e, x->access.scale), "");
		s->ptrs[k] = emit_offset(s->e, x->elem, s->ptrs[k], offset);
	}
}

void body_compute(struct nest *s, enum body_part part)
{
	for (uint32_t k = 0; k < s->n->n_exprs; k++) {
		if (!is_in_part(s, k, part) || s->n->exprs[k].kind == LOOP_ACC)
			continue;
		uint32_t copies = s->varying[k] ? s->unroll : 1;
		for (uint32_t u = 0; u < copies; u++)
			s->cells[k].value[u] = emit_body_compute(s, k, u);
		vec_push(&s->journal, ((struct journal_entry){k, false}));
		if (!s->varying[k])
			apply_index(s, k);
	}
}

/* The last expression of a prologue is the element of the tile. */
static void emit_body_fill_tile(struct nest *s)
{
	uint32_t width = s->axes.vector_loop == LOOP_NONE ? 1 : s->width, at = filled_at(s);
	emit_store(s->e, emit_body_elem_of(s, at), body_value(s, s->n->n_exprs - 1, 0, width), s->ptrs[at], width, NULL);
}

void body_store(struct nest *s)
{
	if (s->filled) {
		emit_body_fill_tile(s);
		return;
	}
	bool lanes = s->axes.vector_loop != LOOP_NONE && !s->axes.vector_reduce;
	for (uint32_t k = 0; k < s->n->n_stores; k++) {
		const struct loop_store *st = &s->n->stores[k];
		uint32_t at = s->n->n_exprs + k, width = lanes ? s->width : 1;
		for (uint32_t u = 0; u < (lanes ? s->unroll : 1); u++) {
			LLVMValueRef stride = width > 1 ? lane_stride(s, &st->access) : NULL;
			LLVMValueRef ptr = width > 1 ? copy_ptr(s, at, u, stride) : s->ptrs[at];
			LLVMValueRef value = body_value(s, st->value, u, width);
			if (width > 1 && st->access.streamed)
				emit_store_streamed(s->e, value, ptr, width);
			else
				emit_store(s->e, emit_body_elem_of(s, at), value, ptr, width, stride);
		}
	}
}
