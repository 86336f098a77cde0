/* Prints loads, stores and scalar values of a nest. */
#include "base/arena.h"
#include "base/bug.h"
#include "backend/text/printer.h"

void text_tabs(struct buf *out, uint32_t n)
{
	while (n--)
		buf_putc(out, '\t');
}

static const char *buffer_name(const struct text_printer *e, uint32_t buffer)
{
	if (text_is_baked(e->d, e->f, buffer))
		return arena_printf(e->scratch, "%s_c%u", e->f->symbol, buffer);
	return arena_printf(e->scratch, "b%u", buffer);
}

static bool is_apart(const struct text_printer *e, const struct loop_access *a)
{
	return a->index != LOOP_NONE && e->width > 1 && e->varying[a->index];
}

/* Returns the element offset with `index`, unless each lane has its own. */
static const char *full_offset(const struct text_printer *e, const struct loop_access *a)
{
	if (e->f->buffers[a->buffer].scope == SCOPE_ITEMS)
		return "j";
	const char *at = text_offset(e, a);
	if (a->index == LOOP_NONE || is_apart(e, a))
		return at;
	return arena_printf(e->scratch, "%s + v%u * %s", at, a->index, text_dim(e, a->scale));
}

/* Returns the address of the first lane. */
static const char *lanes_pointer(const struct text_printer *e, const struct loop_access *a)
{
	return arena_printf(e->scratch, "%s + %s", buffer_name(e, a->buffer), full_offset(e, a));
}

static bool is_dense(const struct text_printer *e, const struct loop_access *a)
{
	int64_t stride;
	return dim_is_const(e->f->dims, a->stride[e->vector_loop], &stride) && stride == 1;
}

static const char *expr_space(const struct text_printer *e, uint32_t buffer)
{
	if (text_is_baked(e->d, e->f, buffer))
		return e->d->constant;
	return e->f->buffers[buffer].scope == SCOPE_GLOBAL ? e->d->global : e->d->local;
}

static const char *load_lanes(const struct text_printer *e, const struct loop_access *a)
{
	struct arena *s = e->scratch;
	const struct dialect_vectors *v = e->d->vectors;
	dtype t = e->f->buffers[a->buffer].type.elem;
	const char *type = arena_printf(s, v->type, e->d->memory[t], e->width), *at = lanes_pointer(e, a), *raw;
	if (is_apart(e, a))
		raw = arena_printf(s, v->indexed, type, e->width, at, text_dim(e, a->stride[e->vector_loop]), text_operand(e, a->index),
				   text_dim(e, a->scale));
	else if (is_dense(e, a))
		raw = arena_printf(s, v->load, expr_space(e, a->buffer), type, at);
	else
		raw = arena_printf(s, v->strided, type, e->width, at, text_dim(e, a->stride[e->vector_loop]));
	switch (t) {
	case DT_BOOL: return arena_printf(s, "tri_%s_to_%s(%s)", type, text_helper(e, "bool"), raw);
	case DT_FLOAT16: return arena_printf(s, "%s(%s)", text_helper(e, "tri_f16_value"), raw);
	case DT_BFLOAT16: return arena_printf(s, "%s(%s)", text_helper(e, "tri_bf16_value"), raw);
	default: return raw;
	}
}

static const char *expr_load(const struct text_printer *e, uint32_t buffer, const char *at)
{
	struct arena *s = e->scratch;
	const char *name = buffer_name(e, buffer);
	switch (e->f->buffers[buffer].type.elem) {
	case DT_BOOL: return arena_printf(s, "(%s)(%s[%s] != 0)", e->d->values[DT_BOOL], name, at);
	case DT_FLOAT16: return arena_printf(s, text_is_baked(e->d, e->f, buffer) ? e->d->load_baked_half : e->d->load_half, at, name);
	case DT_BFLOAT16: return arena_printf(s, "tri_bf16_value(%s[%s])", name, at);
	default: return arena_printf(s, "%s[%s]", name, at);
	}
}

const char *text_operand(const struct text_printer *e, uint32_t i)
{
	const char *name = arena_printf(e->scratch, "v%u", i);
	if (e->width == 1 || e->varying[i])
		return name;
	return arena_printf(e->scratch, e->d->vectors->splat, text_type(e, e->n->exprs[i].elem), name);
}

static const char *expr_index(const struct text_printer *e, const struct loop_expr *x)
{
	const char *var = text_loop_var(e->scratch, e->n, x->var);
	if (e->width == 1)
		return var;
	const char *type = text_type(e, x->elem), *first = arena_printf(e->scratch, "(%s)%s", e->d->values[x->elem], var);
	return arena_printf(e->scratch, "%s + %s", arena_printf(e->scratch, e->d->vectors->splat, type, first),
			    arena_printf(e->scratch, e->d->vectors->steps, type, e->width));
}

static const char *op_text(const struct text_printer *e, const struct loop_expr *x)
{
	const char *args[3] = {0};
	uint32_t n = (uint32_t)ir_op_operands(x->op);
	BUG_ON(n < 1 || n > 3);
	for (uint32_t k = 0; k < n; k++)
		args[k] = text_operand(e, x->args[k]);
	return text_op(e, x->op, x->elem, e->n->exprs[x->args[n - 1]].elem, args);
}

static const char *bound_text(const struct text_printer *e, double bound)
{
	const char *text = text_const(e, DT_FLOAT32, 0, bound);
	return e->width > 1 ? arena_printf(e->scratch, e->d->vectors->splat, text_type(e, DT_FLOAT32), text) : text;
}

static const char *bounded_text(const struct text_printer *e, const struct loop_expr *x)
{
	const char *v[] = {text_operand(e, x->args[0]), bound_text(e, x->low)};
	v[0] = text_op(e, OP_MAX, DT_FLOAT32, DT_FLOAT32, v);
	v[1] = bound_text(e, x->high);
	v[0] = text_op(e, OP_MIN, DT_FLOAT32, DT_FLOAT32, v);
	v[0] = x->nearest ? text_op(e, OP_ROUND, DT_FLOAT32, DT_FLOAT32, v) : v[0];
	return text_op(e, OP_CAST, x->elem, DT_FLOAT32, v);
}

static const char *check_text(const struct text_printer *e, const struct loop_expr *x)
{
	return arena_printf(e->scratch, "%s(fail, %s, %s, 0x%08x%08x%s)", text_helper(e, "tri_check"), text_operand(e, x->args[0]),
			    text_dim(e, x->extent), loops_unit_tag(e->f->symbol), e->f->first_statement + e->stmt, e->d->place_suffix);
}

static const char *value_text(const struct text_printer *e, uint32_t i)
{
	const struct loop_expr *x = &e->n->exprs[i];
	switch (x->kind) {
	case LOOP_LOAD: return e->width > 1 ? load_lanes(e, &x->access) : expr_load(e, x->access.buffer, full_offset(e, &x->access));
	case LOOP_CONST: return text_const(e, x->elem, x->i, x->f);
	case LOOP_INDEX: return expr_index(e, x);
	case LOOP_EXTENT: return text_dim(e, x->extent);
	case LOOP_CHECK: return check_text(e, x);
	case LOOP_BOUNDED: return bounded_text(e, x);
	case LOOP_OP: return op_text(e, x);
	case LOOP_TILE: return "t";
	case LOOP_ACC: return arena_printf(e->scratch, "a%u", x->var);
	}
	BUG("loop expression");
}

/* False for a value that was computed for its check alone. */
static bool is_read(const struct loop_nest *n, uint32_t i)
{
	bool found = false;
	for (uint32_t k = i + 1; k < n->n_exprs; k++) {
		const struct loop_expr *x = &n->exprs[k];
		found |= x->kind == LOOP_LOAD && x->access.index == i;
		for (uint32_t j = 0; j < loop_expr_operands(x); j++)
			found |= x->args[j] == i;
	}
	for (uint32_t k = 0; k < n->n_stores; k++)
		found |= n->stores[k].value == i || n->stores[k].access.index == i;
	for (uint32_t k = 0; k < n->n_reductions; k++)
		found |= n->reductions[k].value == i;
	return found;
}

void text_expr(const struct text_printer *e, uint32_t i, uint32_t depth)
{
	struct text_printer own = *e;
	own.width = e->width > 1 && e->varying[i] ? e->width : 1;
	const char *text = value_text(&own, i);
	text_tabs(e->out, depth);
	buf_printf(e->out, "const %s v%u = %s;\n", text_type(&own, e->n->exprs[i].elem), i, text);
	if (!is_read(e->n, i))
		text_unused(e, 'v', i);
}

static void store_lanes(const struct text_printer *e, const struct loop_store *s)
{
	const struct dialect_vectors *v = e->d->vectors;
	const char *value = text_operand(e, s->value), *at = lanes_pointer(e, &s->access);
	dtype t = e->f->buffers[s->access.buffer].type.elem;
	if (t == DT_FLOAT16 || t == DT_BFLOAT16)
		value = arena_printf(e->scratch, "%s(%s)", text_helper(e, t == DT_FLOAT16 ? "tri_f16_bits" : "tri_bf16_bits"), value);
	if (is_dense(e, &s->access))
		buf_printf(e->out, v->store, expr_space(e, s->access.buffer), arena_printf(e->scratch, v->type, e->d->memory[t], e->width),
			   at, value);
	else
		buf_printf(e->out, v->store_strided, e->width, at, text_dim(e, s->access.stride[e->vector_loop]), value);
}

void text_store(const struct text_printer *e, const struct loop_store *s, uint32_t depth)
{
	if (e->width > 1) {
		text_tabs(e->out, depth);
		store_lanes(e, s);
		return;
	}
	const char *at = full_offset(e, &s->access);
	uint32_t b = s->access.buffer;
	text_tabs(e->out, depth);
	switch (e->f->buffers[b].type.elem) {
	case DT_FLOAT16: buf_printf(e->out, e->d->store_half, s->value, at, b); break;
	case DT_BFLOAT16: buf_printf(e->out, "b%u[%s] = tri_bf16_bits(v%u);\n", b, at, s->value); break;
	default: buf_printf(e->out, "b%u[%s] = v%u;\n", b, at, s->value); break;
	}
}
