/* Prints loads, stores and scalar values of a nest. */
#include "base/arena.h"
#include "base/bug.h"
#include "gpu/emit.h"

void emit_tabs(struct buf *out, uint32_t n)
{
	while (n--)
		buf_putc(out, '\t');
}

static const char *buffer_name(const struct emit_nest *e, uint32_t buffer)
{
	if (opencl_is_baked(e->f, buffer))
		return arena_printf(e->scratch, "%s_c%u", e->f->symbol, buffer);
	return arena_printf(e->scratch, "b%u", buffer);
}

static const char *load(const struct emit_nest *e, uint32_t buffer, const char *at)
{
	struct arena *s = e->scratch;
	const char *name = buffer_name(e, buffer);
	switch (e->f->buffers[buffer].type.elem) {
	case DT_BOOL: return arena_printf(s, "(uchar)(%s[%s] != 0)", name, at);
	case DT_FLOAT16: return arena_printf(s, "vload_half(%s, %s%s)", at, opencl_is_baked(e->f, buffer) ? "(constant half *)" : "", name);
	case DT_BFLOAT16: return arena_printf(s, "tri_bf16_value(%s[%s])", name, at);
	default: return arena_printf(s, "%s[%s]", name, at);
	}
}

/* Declares x<tag>, the checked index, and ok<tag>, which is false after a run-time error. */
static void checked_index(const struct emit_nest *e, const struct loop_access *a, const char *tag, uint32_t depth)
{
	emit_tabs(e->out, depth);
	buf_printf(e->out, "const long x%s = v%u;\n", tag, a->index);
	emit_tabs(e->out, depth);
	buf_printf(e->out, "const int ok%s = x%s >= 0 && x%s < %s;\n", tag, tag, tag, opencl_dim(e->scratch, e->f->dims, a->bound));
	emit_tabs(e->out, depth);
	buf_printf(e->out, "if (!ok%s)\n", tag);
	emit_tabs(e->out, depth + 1);
	buf_printf(e->out, "tri_fail(fail, x%s, %s);\n", tag, opencl_dim(e->scratch, e->f->dims, a->bound));
}

/* Returns the element offset with `index`. */
static const char *full_offset(const struct emit_nest *e, const struct loop_access *a, const char *tag)
{
	const char *at = emit_offset(e, a);
	if (a->index == LOOP_NONE)
		return at;
	return arena_printf(e->scratch, "%s + x%s * %s", at, tag, opencl_dim(e->scratch, e->f->dims, a->scale));
}

static const char *load_text(const struct emit_nest *e, uint32_t i, uint32_t depth)
{
	const struct loop_access *a = &e->n->exprs[i].access;
	const char *tag = arena_printf(e->scratch, "%u", i);
	if (a->index == LOOP_NONE)
		return load(e, a->buffer, full_offset(e, a, tag));
	checked_index(e, a, tag, depth);
	return arena_printf(e->scratch, "ok%s ? %s : 0", tag, load(e, a->buffer, full_offset(e, a, tag)));
}

static const char *op_text(const struct emit_nest *e, const struct loop_expr *x)
{
	const char *args[3] = {0};
	uint32_t n = (uint32_t)ir_op_operands(x->op);
	BUG_ON(n < 1 || n > 3);
	for (uint32_t k = 0; k < n; k++)
		args[k] = arena_printf(e->scratch, "v%u", x->args[k]);
	return emit_op(e->scratch, x->op, x->elem, e->n->exprs[x->args[n - 1]].elem, args);
}

static const char *value_text(const struct emit_nest *e, uint32_t i, uint32_t depth)
{
	const struct loop_expr *x = &e->n->exprs[i];
	switch (x->kind) {
	case LOOP_LOAD: return load_text(e, i, depth);
	case LOOP_CONST: return opencl_const(e->scratch, x->elem, x->i, x->f);
	case LOOP_INDEX: return emit_loop_var(e->scratch, e->n, x->var);
	case LOOP_EXTENT: return opencl_dim(e->scratch, e->f->dims, x->extent);
	case LOOP_OP: return op_text(e, x);
	case LOOP_TILE: return "t";
	case LOOP_ACC: return arena_printf(e->scratch, "a%u", x->var);
	}
	BUG("loop expression");
}

void emit_expr(const struct emit_nest *e, uint32_t i, uint32_t depth)
{
	const char *text = value_text(e, i, depth);
	emit_tabs(e->out, depth);
	buf_printf(e->out, "const %s v%u = %s;\n", emit_value_type(e->n->exprs[i].elem), i, text);
}

void emit_store(const struct emit_nest *e, const struct loop_store *s, uint32_t depth)
{
	const char *tag = arena_printf(e->scratch, "s%u", (unsigned)(s - e->n->stores));
	if (s->access.index != LOOP_NONE) {
		checked_index(e, &s->access, tag, depth);
		emit_tabs(e->out, depth);
		buf_printf(e->out, "if (ok%s)\n", tag);
		depth++;
	}
	const char *at = full_offset(e, &s->access, tag);
	uint32_t b = s->access.buffer;
	emit_tabs(e->out, depth);
	switch (e->f->buffers[b].type.elem) {
	case DT_FLOAT16: buf_printf(e->out, "vstore_half_rte(v%u, %s, b%u);\n", s->value, at, b); break;
	case DT_BFLOAT16: buf_printf(e->out, "b%u[%s] = tri_bf16_bits(v%u);\n", b, at, s->value); break;
	default: buf_printf(e->out, "b%u[%s] = v%u;\n", b, at, s->value); break;
	}
}
