/* Buffers: numbers, types, constants, places. */
#include "backend/loops/ir/grow.h"
#include "backend/loops/ir/items.h"
#include "backend/loops/verify/verify_state.h"
#include "backend/loops/ir/visit.h"
#include "base/buf.h"

bool verify_count(const struct verifier *v, const struct hir_type *t, int64_t *count)
{
	int64_t n;
	*count = 1;
	for (uint32_t k = 0; k < t->rank; k++)
		if (!verify_const(v, t->dims[k], &n) || __builtin_mul_overflow(*count, n, count))
			return false;
	return true;
}

static bool check_type(const struct verifier *v, const struct hir_type *t, uint32_t at)
{
	int64_t n;
	for (uint32_t k = 0; k < t->rank; k++)
		if (verify_const(v, t->dims[k], &n) && n < 0)
			return verify_fail(v, "a buffer with a negative dimension", at);
	return (t->elem < DT_COUNT && t->rank <= HIR_MAX_RANK) || verify_fail(v, "a buffer without a type", at);
}

static bool check_buffer(const struct verifier *v, const struct loop_buffer *b, uint32_t at)
{
	const struct loop_fn *f = v->f;
	int64_t count = 0;
	uint32_t limit[] = {[BUFFER_INPUT] = f->n_inputs, [BUFFER_OUTPUT] = f->n_outputs, [BUFFER_WEIGHT] = f->n_slots};
	if (!check_type(v, &b->type, at))
		return false;
	if (b->kind <= BUFFER_WEIGHT && b->index >= limit[b->kind])
		return verify_fail(v, "a buffer of an input, output or slot that does not exist", at);
	if (!ir_layout_fits(b->layout, &b->type) || (ir_layout_is_packed(b->layout) && b->kind != BUFFER_WEIGHT))
		return verify_fail(v, "a layout that the buffer cannot have", at);
	if (b->scope != SCOPE_GLOBAL && (b->kind != BUFFER_TEMP || !verify_count(v, &b->type, &count)))
		return verify_fail(v, "a buffer of a block without a constant size", at);
	if (b->scope == SCOPE_PRIVATE && count > LOOP_MOST_PRIVATE)
		return verify_fail(v, "a private buffer with many elements", at);
	if (b->scope == SCOPE_ITEMS && (count > LOOP_MOST_ITEMS || !loops_items_keep(b->type.elem)))
		return verify_fail(v, "a buffer that work items cannot keep", at);
	if (b->kind == BUFFER_CONST && (!b->data || !verify_count(v, &b->type, &count)))
		return verify_fail(v, "a constant without elements", at);
	if (b->kind == BUFFER_CONST && (size_t)count != b->data_bytes / dtype_size(b->type.elem))
		return verify_fail(v, "a constant that has not the elements of its type", at);
	return true;
}

/* Each input and output has one buffer, so that no memory has two names; inputs that nothing reads may have none. */
static bool check_unique(const struct verifier *v, enum buffer_kind kind, uint32_t n)
{
	uint32_t seen = 0;
	for (uint32_t k = 0; k < v->f->n_buffers; k++) {
		const struct loop_buffer *b = &v->f->buffers[k];
		for (uint32_t i = k + 1; b->kind == kind && i < v->f->n_buffers; i++)
			if (v->f->buffers[i].kind == kind && v->f->buffers[i].index == b->index)
				return verify_fail(v, "two buffers of one input or output", i);
		seen += b->kind == kind;
	}
	return kind != BUFFER_OUTPUT || seen == n || verify_fail(v, "an output without a buffer", seen);
}

/* What is packed into a slot is what each of its buffers says. */
static bool check_slots(const struct verifier *v)
{
	for (uint32_t k = 0; k < v->f->n_buffers; k++) {
		const struct loop_buffer *b = &v->f->buffers[k];
		for (uint32_t i = k + 1; b->kind == BUFFER_WEIGHT && i < v->f->n_buffers; i++) {
			const struct loop_buffer *other = &v->f->buffers[i];
			if (other->kind == BUFFER_WEIGHT && other->index == b->index &&
			    (other->layout != b->layout || other->type.elem != b->type.elem || !hir_same_shape(&other->type, &b->type)))
				return verify_fail(v, "two buffers of one slot that differ", i);
		}
	}
	return true;
}

/* The last of a chain: an output if the first is an input, else a temporary. */
static bool check_chain(const struct verifier *v, uint32_t k, bool last)
{
	const struct loop_fn *f = v->f;
	enum buffer_kind kind = f->buffers[k].kind, root = f->buffers[loops_root(f, k)].kind;
	bool fits = root == BUFFER_INPUT ? kind == (last ? BUFFER_OUTPUT : BUFFER_TEMP) : root == BUFFER_TEMP && kind == BUFFER_TEMP;
	return fits || verify_fail(v, "a buffer grows memory without room", k);
}

static bool check_growth(const struct verifier *v)
{
	const struct loop_fn *f = v->f;
	for (uint32_t k = 0; k < f->n_buffers; k++) {
		const struct loop_buffer *b = &f->buffers[k];
		bool last = true;
		uint32_t steps = 0;
		if (b->grows == LOOP_NONE)
			continue;
		for (uint32_t at = k; at != LOOP_NONE; at = f->buffers[at].grows)
			if (at >= f->n_buffers || steps++ > f->n_buffers)
				return verify_fail(v, "a buffer grows none that exists, or itself", k);
		for (uint32_t i = 0; i < f->n_buffers; i++) {
			last = last && f->buffers[i].grows != k;
			if (i != k && f->buffers[i].grows == b->grows)
				return verify_fail(v, "two buffers grow the same one", k);
		}
		if (b->scope != SCOPE_GLOBAL || f->buffers[b->grows].scope != SCOPE_GLOBAL || b->alias != LOOP_NONE ||
		    !loops_can_grow(f, &f->buffers[b->grows], b))
			return verify_fail(v, "a buffer grows one of another type", k);
		if (!check_chain(v, k, last))
			return false;
	}
	return true;
}

struct dims_check {
	uint32_t count;
	bool ok;
};

static void check_dim(void *ctx, const struct loop_field *field)
{
	struct dims_check *c = ctx;
	if (field->kind == FIELD_DIM && ((const dim *)field->at)->idx >= c->count)
		c->ok = false;
}

bool verify_buffers(const struct verifier *v)
{
	struct dims_check c = {dims_count(v->f->dims), true};
	int64_t room;
	loops_visit((struct loop_fn *)(uintptr_t)v->f, check_dim, &c); /* v->f is only read */
	if (!c.ok) {                                                   /* it cannot be printed */
		buf_printf(v->why, "%s: a dimension that is not in its table\n", v->f->symbol);
		return false;
	}
	if (verify_const(v, v->f->scratch, &room) && room < LOOP_NOT_PLACED)
		return verify_fail(v, "the scratch memory has a negative size", 0);
	for (uint32_t k = 0; k < v->f->n_buffers; k++)
		if (!check_buffer(v, &v->f->buffers[k], k))
			return false;
	return check_unique(v, BUFFER_INPUT, v->f->n_inputs) && check_unique(v, BUFFER_OUTPUT, v->f->n_outputs) && check_slots(v) &&
	       check_growth(v);
}
