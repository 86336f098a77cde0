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

/* Returns the element offset with `index`. */
static const char *full_offset(const struct text_printer *e, const struct loop_access *a)
{
	const char *at = text_offset(e, a);
	if (a->index == LOOP_NONE)
		return at;
	return arena_printf(e->scratch, "%s + v%u * %s", at, a->index, text_dim(e, a->scale));
}

static const char *op_text(const struct text_printer *e, const struct loop_expr *x)
{
	const char *args[3] = {0};
	uint32_t n = (uint32_t)ir_op_operands(x->op);
	BUG_ON(n < 1 || n > 3);
	for (uint32_t k = 0; k < n; k++)
		args[k] = arena_printf(e->scratch, "v%u", x->args[k]);
	return text_op(e, x->op, x->elem, e->n->exprs[x->args[n - 1]].elem, args);
}

static const char *bounded_text(const struct text_printer *e, const struct loop_expr *x)
{
	const char *v[] = {arena_printf(e->scratch, "v%u", x->args[0]), text_const(e, DT_FLOAT32, 0, x->low)};
	v[0] = text_op(e, OP_MAX, DT_FLOAT32, DT_FLOAT32, v);
	v[1] = text_const(e, DT_FLOAT32, 0, x->high);
	v[0] = text_op(e, OP_MIN, DT_FLOAT32, DT_FLOAT32, v);
	v[0] = x->nearest ? text_op(e, OP_ROUND, DT_FLOAT32, DT_FLOAT32, v) : v[0];
	return text_op(e, OP_CAST, x->elem, DT_FLOAT32, v);
}

static const char *check_text(const struct text_printer *e, const struct loop_expr *x)
{
	return arena_printf(e->scratch, "tri_check(fail, v%u, %s, 0x%08x%08x%s)", x->args[0], text_dim(e, x->extent),
			    loops_unit_tag(e->f->symbol), e->f->first_statement + e->stmt, e->d->place_suffix);
}

static const char *value_text(const struct text_printer *e, uint32_t i)
{
	const struct loop_expr *x = &e->n->exprs[i];
	switch (x->kind) {
	case LOOP_LOAD: return expr_load(e, x->access.buffer, full_offset(e, &x->access));
	case LOOP_CONST: return text_const(e, x->elem, x->i, x->f);
	case LOOP_INDEX: return text_loop_var(e->scratch, e->n, x->var);
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
	const char *text = value_text(e, i);
	text_tabs(e->out, depth);
	buf_printf(e->out, "const %s v%u = %s;\n", e->d->values[e->n->exprs[i].elem], i, text);
	if (!is_read(e->n, i))
		text_unused(e, 'v', i);
}

void text_store(const struct text_printer *e, const struct loop_store *s, uint32_t depth)
{
	const char *at = full_offset(e, &s->access);
	uint32_t b = s->access.buffer;
	text_tabs(e->out, depth);
	switch (e->f->buffers[b].type.elem) {
	case DT_FLOAT16: buf_printf(e->out, e->d->store_half, s->value, at, b); break;
	case DT_BFLOAT16: buf_printf(e->out, "b%u[%s] = tri_bf16_bits(v%u);\n", b, at, s->value); break;
	default: buf_printf(e->out, "b%u[%s] = v%u;\n", b, at, s->value); break;
	}
}
