/* Nests: expressions and their types, accesses inside their buffers. */
#include "backend/loops/ir/items.h"
#include "backend/ir/tensor.h"
#include "backend/loops/ir/in_place.h"
#include "backend/loops/verify/verify_state.h"

static uint32_t loops_at(const struct verifier *v, bool in_reduction) { return v->n->n_parallel + (in_reduction ? v->n->n_reduce : 0u); }

/* ---- accesses ---- */

/* An index is a place, or a sum of places times strides: then no access is outside of its buffer. */
static bool verify_nest_is_index(const struct verifier *v, uint32_t at)
{
	const struct loop_expr *e = &v->n->exprs[at];
	if (e->kind != LOOP_OP)
		return e->kind == LOOP_CHECK || e->kind == LOOP_CONST || e->kind == LOOP_EXTENT;
	return (e->op == OP_ADD || e->op == OP_MUL) && e->args[0] < at && e->args[1] < at && verify_nest_is_index(v, e->args[0]) &&
	       verify_nest_is_index(v, e->args[1]);
}

/* The greatest value of an index, a place or a sum of places times strides: the least is 0. False: it is not constant. */
static bool index_reach(const struct verifier *v, uint32_t at, int64_t *most)
{
	const struct loop_expr *e = &v->n->exprs[at];
	int64_t a, b;
	switch (e->kind) {
	case LOOP_CONST: *most = e->i; return true;
	case LOOP_CHECK: *most = 0; return verify_const(v, e->extent, most) && --*most >= 0;
	case LOOP_OP: break;
	default: return false;
	}
	if ((e->op != OP_ADD && e->op != OP_MUL) || !index_reach(v, e->args[0], &a) || !index_reach(v, e->args[1], &b))
		return false;
	return e->op == OP_ADD ? !__builtin_add_overflow(a, b, most) : !__builtin_mul_overflow(a, b, most);
}

/* The least and the greatest offset, if all is constant and the loops have iterations. */
static bool verify_nest_reach(const struct verifier *v, const struct loop_access *a, uint32_t loops, int64_t *low, int64_t *high)
{
	int64_t stride, extent, way, bound;
	if (!verify_const(v, a->base, low))
		return false;
	*high = *low;
	for (uint32_t k = 0; k < loops + (a->index != LOOP_NONE); k++) {
		if (!verify_const(v, k < loops ? a->stride[k] : a->scale, &stride))
			return false;
		if (k < loops ? !verify_const(v, v->n->extent[k], &extent) || --extent < 0 : !index_reach(v, a->index, &extent))
			return false;
		if (__builtin_mul_overflow(stride, extent, &way) || __builtin_add_overflow(way < 0 ? *low : *high, way, &bound))
			return false;
		*(way < 0 ? low : high) = bound;
	}
	return true;
}

static bool verify_nest_check_access(const struct verifier *v, const struct loop_access *a, uint32_t loops, uint32_t at)
{
	int64_t n, low, high;
	if (a->buffer >= v->f->n_buffers)
		return verify_fail(v, "the access has no buffer", at);
	const struct loop_buffer *b = &v->f->buffers[a->buffer];
	if (ir_layout_is_packed(b->layout))
		return verify_fail(v, "element access to a packed buffer", at);
	if (b->scope != SCOPE_GLOBAL && !v->block)
		return verify_fail(v, "a buffer of a block outside of it", at);
	for (uint32_t k = 0; b->scope != SCOPE_GLOBAL && k < v->block->loops.n_parallel; k++)
		if (!verify_const(v, a->stride[k], &n) || n)
			return verify_fail(v, "a stride between iterations that have their own buffers", at);
	for (uint32_t k = loops; k < LOOP_MAX; k++)
		if (!verify_const(v, a->stride[k], &n) || n)
			return verify_fail(v, "a stride along a loop that does not exist", at);
	if (b->scope == SCOPE_ITEMS && (v->n->n_outer > v->block->loops.n_parallel || !verify_count(v, &b->type, &n) ||
					loops_items_of(v->f->dims, v->n, v->n->n_outer, a) != n))
		return verify_fail(v, "an access to the element of another work item", at);
	if (verify_count(v, &b->type, &n) && verify_nest_reach(v, a, loops, &low, &high) && (low < 0 || high >= n))
		return verify_fail(v, "an access outside of its buffer", at);
	return true;
}

/* Only what the printers have instructions for is marked. */
static bool check_marks(const struct verifier *v, const struct loop_access *a, bool stores, uint32_t at)
{
	const struct loop_axis *vector = loops_vector_axis(v->n);
	const struct loop_buffer *b = &v->f->buffers[a->buffer];
	int64_t stride;
	if (a->prefetch > (stores || !v->n->n_outer ? 0 : LOOP_MOST_PREFETCH))
		return verify_fail(v, "a prefetch that is not of a load in a block", at);
	return !a->streamed ||
	       (stores && v->n->n_outer && vector && vector->of < v->n->n_parallel && vector->width >= LOOP_STREAMED_LANES &&
		verify_const(v, a->stride[vector->of], &stride) && stride == 1 && b->type.elem == DT_FLOAT32 && b->scope == SCOPE_GLOBAL) ||
	       verify_fail(v, "a streamed access that is not a store of neighbours in a block", at);
}

static bool check_index(const struct verifier *v, const struct loop_expr *e, uint32_t at)
{
	uint32_t index = e->access.index;
	if (index == LOOP_NONE)
		return true;
	if (index >= at || v->n->exprs[index].elem != DT_INT64 || v->n->exprs[index].in_reduction != e->in_reduction)
		return verify_fail(v, "bad index expression", at);
	return verify_nest_is_index(v, index) || verify_fail(v, "an index that is not checked", at);
}

static bool check_load(const struct verifier *v, const struct loop_expr *e, uint32_t at)
{
	return check_index(v, e, at) && verify_nest_check_access(v, &e->access, loops_at(v, e->in_reduction), at) &&
	       check_marks(v, &e->access, false, at) &&
	       (v->f->buffers[e->access.buffer].type.elem == e->elem || verify_fail(v, "load of another element type", at));
}

/* ---- expressions ---- */

static bool check_const(const struct verifier *v, const struct loop_expr *e, uint32_t at)
{
	uint64_t bytes = 0;
	if (dtype_class(e->elem) == DTC_FLOAT)
		return true;
	elem_put_int(e->elem, &bytes, 0, e->i);
	return elem_int(e->elem, &bytes, 0) == e->i || verify_fail(v, "a constant that its type cannot hold", at);
}

static bool verify_nest_has_method(const struct verifier *v, const struct loop_expr *e)
{
	double error;
	if (e->method >= METHOD_COUNT || !method_error(e->method, e->op, &error) || dtype_class(e->elem) != DTC_FLOAT)
		return false;
	if (e->method != METHOD_PRODUCTS)
		return e->elem != DT_FLOAT64;
	const struct loop_expr *y = &v->n->exprs[e->args[1]];
	return y->kind == LOOP_CONST && (y->f == 1.0 || y->f == 2.0 || y->f == 3.0);
}

static bool check_op(const struct verifier *v, const struct loop_expr *e, uint32_t at)
{
	dtype elems[3];
	if (!(ir_op_traits(e->op) & EWISE))
		return verify_fail(v, "operation is not element-wise", at);
	for (int k = 0; k < ir_op_operands(e->op); k++) {
		if (e->args[k] >= at)
			return verify_fail(v, "argument does not precede its user", at);
		if (v->n->exprs[e->args[k]].in_reduction != e->in_reduction)
			return verify_fail(v, "an argument inside and its user outside of the reduction loops, or the reverse", at);
		elems[k] = v->n->exprs[e->args[k]].elem;
	}
	if (!ir_elements_fit(e->op, elems, (uint32_t)ir_op_operands(e->op), e->elem))
		return verify_fail(v, "operands of other element types", at);
	return e->method == METHOD_PLAIN || verify_nest_has_method(v, e) ||
	       verify_fail(v, "an operation that the method does not compute", at);
}

static bool verify_nest_is_whole(double x) { return x == (double)(int64_t)x; }

static bool check_bounded(const struct verifier *v, const struct loop_expr *e, uint32_t at)
{
	if (e->args[0] >= at || v->n->exprs[e->args[0]].elem != DT_FLOAT32 || v->n->exprs[e->args[0]].in_reduction != e->in_reduction)
		return verify_fail(v, "a bounded cast of something else than a float32 before it", at);
	if (e->elem == DT_BOOL || dtype_class(e->elem) == DTC_FLOAT || dtype_size(e->elem) > 2)
		return verify_fail(v, "a bounded cast to something else than a small integer", at);
	return (e->low >= (double)dtype_least_int(e->elem) && e->low <= e->high && e->high <= (double)dtype_largest_int(e->elem) &&
		(!e->nearest || (verify_nest_is_whole(e->low) && verify_nest_is_whole(e->high)))) ||
	       verify_fail(v, "bounds of a cast that its type cannot hold", at);
}

static bool check_expr(const struct verifier *v, uint32_t at)
{
	const struct loop_expr *e = &v->n->exprs[at];
	switch (e->kind) {
	case LOOP_LOAD: return check_load(v, e, at);
	case LOOP_CONST: return check_const(v, e, at);
	case LOOP_INDEX:
		return (e->var < loops_at(v, e->in_reduction) && e->elem == DT_INT64) ||
		       verify_fail(v, "the loop of an index does not exist", at);
	case LOOP_EXTENT: return e->elem == DT_INT64 || verify_fail(v, "an extent is an int64", at);
	case LOOP_CHECK:
		return (e->elem == DT_INT64 && e->args[0] < at && v->n->exprs[e->args[0]].elem == DT_INT64 &&
			v->n->exprs[e->args[0]].in_reduction == e->in_reduction) ||
		       verify_fail(v, "a place is an int64", at);
	case LOOP_BOUNDED: return check_bounded(v, e, at);
	case LOOP_ACC:
		return (!e->in_reduction && e->var < v->n->n_reductions && e->elem == v->n->reductions[e->var].elem) ||
		       verify_fail(v, "accumulator not available", at);
	case LOOP_TILE:
		return (v->tile != DT_COUNT && e->elem == v->tile && !e->in_reduction) ||
		       verify_fail(v, "a tile outside of an epilogue", at);
	case LOOP_OP: return check_op(v, e, at);
	}
	return verify_fail(v, "no such kind of expression", at);
}

static bool check_reduction(const struct verifier *v, uint32_t at)
{
	const struct loop_reduction *r = &v->n->reductions[at];
	bool arg = r->op == OP_ARGMAX || r->op == OP_ARGMIN;
	if (r->value >= v->n->n_exprs || !v->n->exprs[r->value].in_reduction)
		return verify_fail(v, "reduction of a value outside its loops", at);
	if (!(ir_op_traits(r->op) & REDUCES))
		return verify_fail(v, "no reduction", at);
	if (r->fused && !loop_may_fuse_product(v->n, r))
		return verify_fail(v, "a fused product that is none, or has other uses", at);
	return r->elem == (arg ? DT_INT64 : v->n->exprs[r->value].elem) || verify_fail(v, "reduction of another element type", at);
}

static bool check_store(const struct verifier *v, uint32_t at)
{
	const struct loop_store *s = &v->n->stores[at];
	if (s->value >= v->n->n_exprs || v->n->exprs[s->value].in_reduction)
		return verify_fail(v, "store of a value inside the reduction loops", at);
	if (s->access.index != LOOP_NONE)
		return verify_fail(v, "a store has no index", at);
	if (!verify_nest_check_access(v, &s->access, v->n->n_parallel, at) || !check_marks(v, &s->access, true, at))
		return false;
	const struct loop_buffer *b = &v->f->buffers[s->access.buffer];
	if (b->kind != BUFFER_TEMP && b->kind != BUFFER_OUTPUT)
		return verify_fail(v, "store to memory that is only read", at);
	return b->type.elem == v->n->exprs[s->value].elem || verify_fail(v, "store of another element type", at);
}

/* The first loops are those of the blocks around. */
static bool check_outer_loops(const struct verifier *v, const struct loop_nest *n)
{
	uint32_t outer = v->outer ? v->outer->n_parallel : 0;
	if (n->n_outer != outer || n->n_parallel < outer)
		return verify_fail(v, "other outer loops than the block has", n->n_outer);
	for (uint32_t k = 0; k < outer; k++)
		if (!dim_eq(n->extent[k], v->outer->extent[k]))
			return verify_fail(v, "an outer loop of another extent than the block has", k);
	return true;
}

bool verify_nest(const struct verifier *v, const struct loop_nest *n)
{
	int64_t extent;
	struct verifier c = *v;
	c.n = n;
	if (n->n_parallel + n->n_reduce > LOOP_MAX)
		return verify_fail(&c, "too many loops", n->n_parallel);
	if (!check_outer_loops(&c, n))
		return false;
	for (uint32_t k = 0; k < (uint32_t)n->n_parallel + n->n_reduce; k++)
		if (verify_const(&c, n->extent[k], &extent) && extent < 0)
			return verify_fail(&c, "a loop with a negative extent", k);
	if (n->n_reduce && !n->n_reductions)
		return verify_fail(&c, "reduction loops without a reduction", n->n_reduce);
	for (uint32_t k = 0; k < n->n_exprs; k++)
		if (!check_expr(&c, k))
			return false;
	for (uint32_t k = 0; k < n->n_reductions; k++)
		if (!check_reduction(&c, k))
			return false;
	for (uint32_t k = 0; k < n->n_stores; k++)
		if (!check_store(&c, k))
			return false;
	return verify_schedule(&c);
}
