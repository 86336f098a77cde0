/* Prints a nest as a kernel, as its schedule says. Each iteration of the parallel loops is a work item, or a work group that shares a long reduction, numbered
 * by one flat id. */
#include <string.h>
#include "backend/ir/tensor.h"
#include "base/arena.h"
#include "base/bug.h"
#include "gpu/emit.h"

void emit_mark_late(struct emit_nest *e)
{
	e->late = ARENA_ARRAY(e->scratch, bool, e->n->n_exprs + 1);
	for (uint32_t i = 0; i < e->n->n_exprs; i++) {
		const struct loop_expr *x = &e->n->exprs[i];
		if (x->kind == LOOP_ACC)
			e->late[i] = true;
		if (x->kind == LOOP_LOAD && x->access.index != LOOP_NONE)
			e->late[i] = e->late[x->access.index];
		if (x->kind == LOOP_CHECK)
			e->late[i] = e->late[x->args[0]];
		for (int k = 0; x->kind == LOOP_OP && k < ir_op_operands(x->op); k++)
			e->late[i] |= e->late[x->args[k]];
	}
}

void emit_pointers(const struct emit_nest *e)
{
	for (uint32_t i = 0; i < e->sig.n_buffers; i++) {
		uint32_t b = e->sig.buffers[i];
		const char *t = emit_memory_type(e->f->buffers[b].type.elem);
		buf_printf(e->out, "\tglobal %s *b%u = (global %s *)(p%u + o%u);\n", t, b, t, b, b);
	}
}

static void open_argument(const struct emit_nest *e, bool *first)
{
	buf_puts(e->out, *first ? "" : ", ");
	*first = false;
}

void emit_head(const struct emit_nest *e, uint32_t stmt)
{
	bool first = true;
	if (e->sig.group)
		buf_printf(e->out, "kernel __attribute__((reqd_work_group_size(%u, 1, 1))) void %s_k%u(", e->sig.group, e->f->symbol, stmt);
	else
		buf_printf(e->out, "kernel void %s_k%u(", e->f->symbol, stmt);
	for (uint32_t i = 0; i < e->sig.n_buffers; i++) {
		open_argument(e, &first);
		buf_printf(e->out, "global uchar *p%u, ulong o%u", e->sig.buffers[i], e->sig.buffers[i]);
	}
	for (uint32_t i = 0; i < e->sig.n_syms; i++) {
		open_argument(e, &first);
		buf_printf(e->out, "long n%u", e->sig.syms[i]);
	}
	if (e->sig.fails) {
		open_argument(e, &first);
		buf_puts(e->out, "global long *fail");
	}
	buf_puts(e->out, ")\n{\n");
	emit_pointers(e);
}

static bool is_one(const struct emit_nest *e, uint32_t k)
{
	int64_t v;
	return dim_is_const(e->f->dims, e->n->extent[k], &v) && v == 1;
}

static const char *total(const struct emit_nest *e)
{
	const char *text = NULL;
	for (uint32_t k = 0; k < e->n->n_parallel; k++) {
		if (is_one(e, k))
			continue;
		const char *x = opencl_dim(e->scratch, e->f->dims, e->n->extent[k]);
		text = text ? arena_printf(e->scratch, "%s * %s", text, x) : x;
	}
	return text ? text : "1";
}

/* Computes the variables of the parallel loops from the flat id, innermost first. */
void emit_split_id(const struct emit_nest *e)
{
	uint32_t outer = UINT32_MAX; /* the outermost loop with more than one iteration is the rest of the id */
	for (uint32_t k = e->n->n_parallel; k-- > 0;)
		if (!is_one(e, k))
			outer = k;
	if (e->sig.group) /* there are exactly as many groups as results */
		buf_printf(e->out, "\tconst int lane = (int)get_local_id(0);\n\t%s g = (%s)get_group_id(0);\n", e->index_type,
			   e->index_type);
	else
		buf_printf(e->out, "\t%s g = (%s)get_global_id(0);\n\tif (g >= %s)\n\t\treturn;\n", e->index_type, e->index_type, total(e));
	for (uint32_t k = e->n->n_parallel; k-- > 0;) {
		const char *x = opencl_dim(e->scratch, e->f->dims, e->n->extent[k]);
		if (is_one(e, k))
			buf_printf(e->out, "\tconst %s i%u = 0;\n", e->index_type, k);
		else if (k == outer)
			buf_printf(e->out, "\tconst %s i%u = g;\n", e->index_type, k);
		else
			buf_printf(e->out, "\tconst %s i%u = g %% %s;\n\tg /= %s;\n", e->index_type, k, x, x);
	}
}

void emit_values(const struct emit_nest *e, bool in_reduction, bool late, uint32_t depth)
{
	for (uint32_t i = 0; i < e->n->n_exprs; i++)
		if (e->n->exprs[i].in_reduction == in_reduction && e->late[i] == late)
			emit_expr(e, i, depth);
}

void emit_shared_loop(const struct emit_nest *e, uint32_t first, uint32_t end, uint32_t group)
{
	const char *t = e->index_type, *count = opencl_dim(e->scratch, e->f->dims, e->n->extent[first]);
	for (uint32_t k = first + 1; k < end; k++)
		count = arena_printf(e->scratch, "%s * %s", count, opencl_dim(e->scratch, e->f->dims, e->n->extent[k]));
	buf_printf(e->out, "\tfor (%s q = lane; q < %s; q += %u) {\n\t\t%s h = q;\n", t, count, group, t);
	for (uint32_t k = end; k-- > first;) {
		const char *x = opencl_dim(e->scratch, e->f->dims, e->n->extent[k]), *var = emit_loop_var(e->scratch, e->n, k);
		if (k > first)
			buf_printf(e->out, "\t\tconst %s %s = h %% %s;\n\t\th /= %s;\n", t, var, x, x);
		else
			buf_printf(e->out, "\t\tconst %s %s = h;\n", t, var);
	}
}

static void reduce_in_group(const struct emit_nest *e)
{
	for (uint32_t k = 0; k < e->n->n_reductions; k++)
		emit_reduction_start(e, k);
	emit_shared_loop(e, e->n->n_parallel, (uint32_t)e->n->n_parallel + e->n->n_reduce, e->sig.group);
	emit_values(e, true, false, 2);
	for (uint32_t k = 0; k < e->n->n_reductions; k++)
		emit_reduction_step(e, k, 2);
	buf_puts(e->out, "\t}\n");
	emit_reduction_group(e);
	buf_puts(e->out, e->in_block ? "\tif (lane == 0) {\n" : "\tif (lane != 0)\n\t\treturn;\n");
	for (uint32_t k = 0; k < e->n->n_reductions; k++)
		emit_reduction_end(e, k);
}

/* Returns the number of iterations of reduction loop k, which is 0 if an inner loop has none. */
static const char *trip_count_text(const struct emit_nest *e, uint32_t k)
{
	const dim *extents = e->n->extent + e->n->n_parallel;
	const char *text = opencl_dim(e->scratch, e->f->dims, extents[k]);
	int64_t n;
	if (dim_is_const(e->f->dims, extents[k], &n))
		return text;
	while (++k < e->n->n_reduce)
		if (!dim_is_const(e->f->dims, extents[k], &n) || n <= 0)
			text = arena_printf(e->scratch, "(%s > 0 ? %s : 0)", opencl_dim(e->scratch, e->f->dims, extents[k]), text);
	return text;
}

static void reduce(const struct emit_nest *e)
{
	uint32_t depth = 1;
	for (uint32_t k = 0; k < e->n->n_reductions; k++)
		emit_reduction_start(e, k);
	for (uint32_t k = 0; k < e->n->n_reduce; k++, depth++) {
		emit_tabs(e->out, depth);
		buf_printf(e->out, "for (%s r%u = 0; r%u < %s; r%u++) {\n", e->index_type, k, k, trip_count_text(e, k), k);
	}
	if (e->n->n_reduce == 0) { /* a scope, as with reduction loops */
		buf_puts(e->out, "\t{\n");
		depth++;
	}
	emit_values(e, true, false, depth);
	for (uint32_t k = 0; k < e->n->n_reductions; k++)
		emit_reduction_step(e, k, depth);
	while (depth-- > 1) {
		emit_tabs(e->out, depth);
		buf_puts(e->out, "}\n");
	}
	for (uint32_t k = 0; k < e->n->n_reductions; k++)
		emit_reduction_end(e, k);
}

void emit_reductions(const struct emit_nest *e)
{
	if (e->sig.group)
		reduce_in_group(e);
	else if (e->n->n_reductions)
		reduce(e);
}

void emit_kernel(const struct loop_fn *f, uint32_t stmt, struct buf *out)
{
	const struct loop_nest *n = &f->stmts[stmt].u.nest;
	struct arena *scratch = arena_new(0);
	struct emit_nest e = {.scratch = scratch, .f = f, .n = n, .stmt = stmt, .out = out};
	opencl_signature_of(scratch, f, n, &e.sig);
	e.index_type = n->schedule.index_bytes == 4 ? "int" : "long";
	emit_mark_late(&e);
	emit_head(&e, stmt);
	for (uint32_t k = 0; e.sig.group && k < n->n_reductions; k++)
		buf_printf(out, "\tlocal %s l%u[%u];\n", emit_value_type(n->reductions[k].elem), k, e.sig.group);
	emit_split_id(&e);
	emit_values(&e, false, false, 1);
	emit_reductions(&e);
	emit_values(&e, false, true, 1);
	for (uint32_t i = 0; i < n->n_stores; i++)
		emit_store(&e, &n->stores[i], 1);
	buf_puts(out, "}\n\n");
	arena_free(scratch);
}

static void baked_value(struct arena *a, const struct loop_buffer *b, int64_t i, struct buf *out)
{
	dtype t = b->type.elem;
	switch (t) {
	case DT_FLOAT16:
	case DT_BFLOAT16: buf_printf(out, "0x%04x", ((const uint16_t *)b->data)[i]); return;
	case DT_FLOAT32:
	case DT_FLOAT64: buf_puts(out, opencl_const(a, t, 0, elem_float(t, b->data, i))); return;
	default: buf_puts(out, opencl_const(a, t, dtype_int(t, b->data, i), 0)); return;
	}
}

void emit_baked(const struct loop_fn *f, struct buf *out)
{
	struct arena *scratch = arena_new(0);
	for (uint32_t i = 0; i < f->n_buffers; i++) {
		const struct loop_buffer *b = &f->buffers[i];
		if (!opencl_is_baked(f, i))
			continue;
		int64_t n = ir_type_count(f->dims, &b->type);
		const char *t = b->type.elem == DT_FLOAT16 ? "ushort" : emit_memory_type(b->type.elem);
		buf_printf(out, "constant %s %s_c%u[%lld] = {", t, f->symbol, i, (long long)n);
		for (int64_t k = 0; k < n; k++) {
			buf_puts(out, k % 16 ? ", " : k ? ",\n\t" : "");
			baked_value(scratch, b, k, out);
		}
		buf_puts(out, "};\n\n");
	}
	arena_free(scratch);
}
