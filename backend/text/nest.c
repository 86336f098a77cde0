/* Prints a nest as a kernel, as its schedule says. Where work items are launched, each iteration of the parallel loops is one, or a work group that
 * shares a long reduction, numbered by one flat id. Otherwise the kernel has the loops. */
#include <string.h>
#include "backend/ir/tensor.h"
#include "backend/loops/ir/beside.h"
#include "base/arena.h"
#include "base/bug.h"
#include "backend/text/printer.h"

void text_mark_late(struct text_printer *e)
{
	e->late = ARENA_ARRAY(e->scratch, bool, e->n->n_exprs + 1);
	for (uint32_t i = 0; i < e->n->n_exprs; i++) {
		const struct loop_expr *x = &e->n->exprs[i];
		if (x->kind == LOOP_ACC)
			e->late[i] = true;
		if (x->kind == LOOP_LOAD && x->access.index != LOOP_NONE)
			e->late[i] = e->late[x->access.index];
		for (uint32_t k = 0; k < loop_expr_operands(x); k++)
			e->late[i] |= e->late[x->args[k]];
	}
}

void text_pointers(const struct text_printer *e)
{
	for (uint32_t i = 0; i < e->sig.n_buffers; i++) {
		uint32_t b = e->sig.buffers[i];
		if (e->local && e->local[b])
			continue;
		const char *t = e->d->memory[e->f->buffers[b].type.elem], *access = e->sig.written[i] ? "" : e->d->read_only;
		buf_printf(e->out, "\t%s%s%s *b%u = (%s%s%s *)(", access, e->d->global, t, b, access, e->d->global, t);
		buf_printf(e->out, e->d->address, b, b);
		buf_puts(e->out, ");\n");
	}
}

void text_unused(const struct text_printer *e, char letter, uint32_t number)
{
	if (!e->d->unused)
		return;
	text_tabs(e->out, e->depth);
	buf_printf(e->out, e->d->unused, letter, number);
}

void text_buffers(const struct text_printer *e, const char *first, const char *next)
{
	for (uint32_t i = 0; i < e->sig.n_buffers; i++) {
		uint32_t b = e->sig.buffers[i];
		buf_printf(e->out, "%s%s", i ? next : first, e->sig.written[i] ? "" : e->d->read_only);
		if (e->local && e->local[b])
			buf_printf(e->out, "%s%s *b%u", e->d->local, e->d->memory[e->f->buffers[b].type.elem], b);
		else
			buf_printf(e->out, e->d->buffer, b, b);
	}
}

void text_head(const struct text_printer *e)
{
	const char *comma = e->sig.n_buffers ? ", " : "";
	if (e->sig.group)
		buf_printf(e->out, e->d->group_kernel, e->sig.group);
	else
		buf_puts(e->out, e->d->kernel);
	buf_printf(e->out, "void %s_k%u(", e->f->symbol, e->stmt);
	text_buffers(e, "", ", ");
	for (uint32_t i = 0; i < e->sig.n_syms; i++, comma = ", ")
		buf_printf(e->out, "%s%s n%u", comma, e->d->values[DT_INT64], e->sig.syms[i]);
	if (e->sig.fails)
		buf_printf(e->out, "%s%s", comma, e->d->fail);
	if (e->sig.frame)
		buf_printf(e->out, "%s%s", e->sig.fails ? ", " : comma, e->d->frame);
	buf_puts(e->out, ")\n{\n");
	text_pointers(e);
	for (uint32_t i = 0; i < e->sig.n_syms; i++)
		text_unused(e, 'n', e->sig.syms[i]);
}

/* Returns the iterations of loop k that a work item executes: the lanes of a vector, or one in a language without vectors. */
static uint32_t nest_lanes(const struct text_printer *e, uint32_t k)
{
	const struct loop_schedule *s = &e->n->schedule;
	const struct loop_axis *last = e->d->vectors && s->n_axes ? &s->axes[s->n_axes - 1] : NULL;
	return last && last->kind == AXIS_VECTOR && last->of == k ? last->width : 1;
}

/* Returns the number of vectors of loop k as text; a vector divides its extent. */
static const char *nest_vectors(const struct text_printer *e, uint32_t k)
{
	int64_t v;
	if (nest_lanes(e, k) == 1 || !dim_is_const(e->f->dims, e->n->extent[k], &v))
		return text_dim(e, e->n->extent[k]);
	return text_const(e, DT_INT32, v / nest_lanes(e, k), 0);
}

static bool nest_is_one(const struct text_printer *e, uint32_t k)
{
	int64_t v;
	return dim_is_const(e->f->dims, e->n->extent[k], &v) && v == nest_lanes(e, k);
}

static const char *nest_total(const struct text_printer *e)
{
	const char *text = NULL;
	for (uint32_t k = 0; k < e->n->n_parallel; k++) {
		if (nest_is_one(e, k))
			continue;
		const char *x = nest_vectors(e, k);
		text = text ? arena_printf(e->scratch, "%s * %s", text, x) : x;
	}
	return text ? text : "1";
}

/* Computes the variable of loop k from the flat id. */
static void split_loop(const struct text_printer *e, uint32_t k, bool outer)
{
	const char *x = nest_vectors(e, k);
	uint32_t lanes = nest_lanes(e, k);
	if (nest_is_one(e, k)) {
		buf_printf(e->out, "\tconst %s i%u = 0;\n", e->index_type, k);
		return;
	}
	buf_printf(e->out, outer ? "\tconst %s i%u = g" : "\tconst %s i%u = g %% %s", e->index_type, k, x);
	if (lanes > 1)
		buf_printf(e->out, " * %u", lanes);
	buf_puts(e->out, ";\n");
	if (!outer)
		buf_printf(e->out, "\tg /= %s;\n", x);
}

/* The flat id of a work item. One of a launch that has several nests is counted down by those before. */
static void declare_id(const struct text_printer *e)
{
	const char *t = e->index_type, *total = nest_total(e);
	if (e->beside)
		buf_printf(e->out, "\tif (item < %s) {\n\t%s g = (%s)item;\n", total, t, t);
	else
		buf_printf(e->out, "\t%s g = (%s)%s;\n\tif (g >= %s)\n\t\treturn;\n", t, t, e->d->item, total);
}

/* Computes the variables of the parallel loops from the flat id, innermost first. */
static void split_id(const struct text_printer *e)
{
	uint32_t outer = UINT32_MAX; /* the outermost loop with more than one iteration is the rest of the id */
	for (uint32_t k = e->n->n_parallel; k-- > 0;)
		if (!nest_is_one(e, k))
			outer = k;
	if (e->sig.group)
		buf_printf(e->out, "\tconst int lane = (int)%s;\n", e->d->lane);
	if (e->sig.group && outer != UINT32_MAX) /* there are exactly as many groups as results */
		buf_printf(e->out, "\t%s g = (%s)%s;\n", e->index_type, e->index_type, e->d->group);
	if (!e->sig.group)
		declare_id(e);
	for (uint32_t k = e->n->n_parallel; k-- > 0;)
		split_loop(e, k, k == outer);
}

static void open_loop(struct text_printer *e, const char *var, const char *from, const char *to)
{
	text_tabs(e->out, e->depth++);
	buf_printf(e->out, "for (%s %s = %s; %s < %s; %s++) {\n", e->index_type, var, from, var, to, var);
}

static void close_loop(struct text_printer *e)
{
	text_tabs(e->out, --e->depth);
	buf_puts(e->out, "}\n");
}

void text_open_loops(struct text_printer *e, uint32_t first)
{
	for (uint32_t k = first; k < e->n->n_parallel; k++) {
		bool chunked = k == e->chunked;
		open_loop(e, text_loop_var(e->scratch, e->n, k), chunked ? "from" : "0", chunked ? "to" : text_dim(e, e->n->extent[k]));
	}
}

void text_close_loops(struct text_printer *e, uint32_t first)
{
	for (uint32_t k = first; k < e->n->n_parallel; k++)
		close_loop(e);
}

void text_open_iterations(struct text_printer *e)
{
	if (e->d->launch == LAUNCH_ITEMS)
		split_id(e);
	else
		text_open_loops(e, 0);
}

void text_close_iterations(struct text_printer *e)
{
	if (e->d->launch != LAUNCH_ITEMS)
		text_close_loops(e, 0);
}

void text_chunk(struct text_printer *e)
{
	const struct loop_schedule *s = &e->n->schedule;
	if (e->d->launch != LAUNCH_CHUNKS || !s->n_axes || s->axes[0].kind != AXIS_PARALLEL)
		return;
	const char *t = e->index_type, *extent = text_dim(e, e->n->extent[s->axes[0].of]);
	long long step = s->axes[0].step;
	buf_printf(e->out, "\tconst %s from = %s * %lld, to = from + %lld < %s ? from + %lld : %s;\n", t, e->d->item, step, step, extent,
		   step, extent);
	e->chunked = s->axes[0].of;
}

static void nest_values(const struct text_printer *e, bool in_reduction, bool late, uint32_t depth)
{
	for (uint32_t i = 0; i < e->n->n_exprs; i++)
		if (e->n->exprs[i].in_reduction == in_reduction && e->late[i] == late && !(e->uniform && e->uniform[i]))
			text_expr(e, i, depth);
}

static bool writes_buffer(const struct loop_nest *n, uint32_t buffer)
{
	for (uint32_t k = 0; k < n->n_stores; k++)
		if (n->stores[k].access.buffer == buffer)
			return true;
	return false;
}

static bool is_uniform(const struct text_printer *e, const bool *uniform, const struct loop_expr *x)
{
	int64_t stride;
	bool same = x->kind == LOOP_LOAD    ? x->access.index == LOOP_NONE && !writes_buffer(e->n, x->access.buffer)
		    : x->kind == LOOP_INDEX ? x->var < e->n->n_outer
					    : x->kind == LOOP_CONST || x->kind == LOOP_EXTENT || x->kind == LOOP_OP;
	for (uint32_t k = e->n->n_outer; x->kind == LOOP_LOAD && k < e->n->n_parallel; k++)
		same = same && dim_is_const(e->f->dims, x->access.stride[k], &stride) && stride == 0;
	for (uint32_t k = 0; k < loop_expr_operands(x); k++)
		same = same && uniform[x->args[k]];
	return same;
}

void text_uniform_values(struct text_printer *e)
{
	bool *uniform = ARENA_ARRAY(e->scratch, bool, e->n->n_exprs + 1);
	for (uint32_t i = 0; i < e->n->n_exprs; i++) {
		uniform[i] = !e->n->exprs[i].in_reduction && is_uniform(e, uniform, &e->n->exprs[i]);
		if (uniform[i])
			text_expr(e, i, e->depth);
	}
	e->uniform = uniform;
}

/* Registers have no addresses, so the loop has to be unrolled. */
static void open_items(const struct text_printer *e, uint32_t first, uint32_t end, uint32_t group, const char *count)
{
	int64_t n = 1, extent = 0;
	for (uint32_t k = first; k < end; k++) {
		BUG_ON(!dim_is_const(e->f->dims, e->n->extent[k], &extent));
		n *= extent;
	}
	buf_printf(e->out, "#pragma unroll\n\tfor (int j = 0, q = lane; j < %u; j++, q += %u)%s", e->items, group,
		   n % group ? "\n\t" : " {\n");
	if (n % group)
		buf_printf(e->out, "if (q < %s) {\n", count);
}

void text_shared_loop(const struct text_printer *e, uint32_t first, uint32_t end, uint32_t group)
{
	const char *t = e->index_type, *count = text_dim(e, e->n->extent[first]);
	for (uint32_t k = first + 1; k < end; k++)
		count = arena_printf(e->scratch, "%s * %s", count, text_dim(e, e->n->extent[k]));
	if (e->items)
		open_items(e, first, end, group, count);
	else
		buf_printf(e->out, "\tfor (%s q = lane; q < %s; q += %u) {\n", t, count, group);
	buf_printf(e->out, "\t\t%s h = q;\n", t);
	for (uint32_t k = end; k-- > first;) {
		const char *x = text_dim(e, e->n->extent[k]), *var = text_loop_var(e->scratch, e->n, k);
		if (k > first)
			buf_printf(e->out, "\t\tconst %s %s = h %% %s;\n\t\th /= %s;\n", t, var, x, x);
		else
			buf_printf(e->out, "\t\tconst %s %s = h;\n", t, var);
	}
}

static void reduce_in_group(struct text_printer *e)
{
	for (uint32_t k = 0; k < e->n->n_reductions; k++)
		text_reduction_start(e, k);
	text_shared_loop(e, e->n->n_parallel, (uint32_t)e->n->n_parallel + e->n->n_reduce, e->sig.group);
	nest_values(e, true, false, 2);
	for (uint32_t k = 0; k < e->n->n_reductions; k++)
		text_reduction_step(e, k, 2);
	buf_puts(e->out, "\t}\n");
	text_reduction_group(e);
	buf_puts(e->out, e->in_block ? "\tif (lane == 0) {\n" : "\tif (lane != 0)\n\t\treturn;\n");
	for (uint32_t k = 0; k < e->n->n_reductions; k++)
		text_reduction_end(e, k);
}

/* Returns the number of iterations of reduction loop k, which is 0 if an inner loop has none. */
static const char *trip_count_text(const struct text_printer *e, uint32_t k)
{
	const dim *extents = e->n->extent + e->n->n_parallel;
	const char *text = text_dim(e, extents[k]);
	int64_t n;
	if (dim_is_const(e->f->dims, extents[k], &n))
		return text;
	while (++k < e->n->n_reduce)
		if (!dim_is_const(e->f->dims, extents[k], &n) || n <= 0)
			text = arena_printf(e->scratch, "(%s > 0 ? %s : 0)", text_dim(e, extents[k]), text);
	return text;
}

static void nest_reduce(struct text_printer *e)
{
	for (uint32_t k = 0; k < e->n->n_reductions; k++)
		text_reduction_start(e, k);
	for (uint32_t k = 0; k < e->n->n_reduce; k++)
		open_loop(e, text_loop_var(e->scratch, e->n, e->n->n_parallel + k), "0", trip_count_text(e, k));
	if (e->n->n_reduce == 0) { /* a scope, as with reduction loops */
		text_tabs(e->out, e->depth++);
		buf_puts(e->out, "{\n");
	}
	nest_values(e, true, false, e->depth);
	for (uint32_t k = 0; k < e->n->n_reductions; k++)
		text_reduction_step(e, k, e->depth);
	for (uint32_t k = 0; k < e->n->n_reduce || k < 1; k++)
		close_loop(e);
	for (uint32_t k = 0; k < e->n->n_reductions; k++)
		text_reduction_end(e, k);
}

static void nest_reductions(struct text_printer *e)
{
	if (e->sig.group)
		reduce_in_group(e);
	else if (e->n->n_reductions)
		nest_reduce(e);
}

/* Prints what one iteration of the parallel loops does. */
void text_body(struct text_printer *e)
{
	nest_values(e, false, false, e->depth);
	nest_reductions(e);
	nest_values(e, false, true, e->depth);
	for (uint32_t i = 0; i < e->n->n_stores; i++)
		text_store(e, &e->n->stores[i], e->depth);
}

/* What one work item, or iteration, does: a vector of the innermost loop, or one element. */
static void text_item(struct text_printer *e)
{
	uint32_t inner = e->n->n_parallel - 1u;
	if (e->n->n_parallel && nest_lanes(e, inner) > 1)
		text_lanes_body(e, inner, nest_lanes(e, inner));
	else
		text_body(e);
}

static void put_nest(struct text_printer *e)
{
	text_mark_late(e);
	text_chunk(e);
	if (e->d->launch == LAUNCH_CHUNKS) {
		text_lanes(e);
	} else {
		text_open_iterations(e);
		text_item(e);
		text_close_iterations(e);
	}
}

/* Each nest has the work items behind those of the nests before. */
static void put_nests(struct text_printer *e, uint32_t end)
{
	buf_printf(e->out, "\t%s item = (%s)%s;\n", e->d->values[DT_INT64], e->d->values[DT_INT64], e->d->item);
	e->beside = true;
	for (uint32_t k = e->stmt; k < end; k++) {
		e->n = &e->f->stmts[k].u.nest;
		e->index_type = text_index_type(e->d, e->n);
		put_nest(e);
		buf_puts(e->out, k + 1 < end ? "\treturn;\n\t}\n" : "\t}\n");
		if (k + 1 < end)
			buf_printf(e->out, "\titem -= %s;\n", nest_total(e));
	}
}

void text_kernel(struct text_printer *e)
{
	uint32_t end = loops_launch_end(e->f, e->stmt);
	e->n = &e->f->stmts[e->stmt].u.nest;
	text_signature_of_launch(e->scratch, e->d, e->f, e->stmt, &e->sig);
	e->index_type = text_index_type(e->d, e->n);
	text_head(e);
	for (uint32_t k = 0; e->sig.group && k < e->n->n_reductions; k++)
		buf_printf(e->out, "\t%s%s l%u[%u];\n", e->d->shared, e->d->values[e->n->reductions[k].elem], k, e->sig.group);
	if (end > e->stmt + 1)
		put_nests(e, end);
	else
		put_nest(e);
	buf_puts(e->out, "}\n\n");
}

void text_element(const struct text_printer *e, dtype t, const void *data, int64_t i)
{
	switch (t) {
	case DT_FLOAT16:
	case DT_BFLOAT16: buf_printf(e->out, "0x%04x", ((const uint16_t *)data)[i]); return;
	case DT_FLOAT32:
	case DT_FLOAT64: buf_puts(e->out, text_const(e, t, 0, elem_float(t, data, i))); return;
	default: buf_puts(e->out, text_const(e, t, dtype_int(t, data, i), 0)); return;
	}
}

static void mark_used(void *used, uint32_t buffer) { ((bool *)used)[buffer] = true; }

/* A compiler that warns of unused parameters also warns of unused constants. */
static bool *list_used(const struct text_printer *e)
{
	bool *used = ARENA_ARRAY(e->scratch, bool, e->f->n_buffers + 1);
	for (uint32_t i = 0; i < e->f->n_buffers; i++)
		used[i] = !e->d->unused;
	for (uint32_t i = 0; i < e->f->n_stmts; i++)
		loop_stmt_buffers(&e->f->stmts[i], mark_used, used);
	return used;
}

void text_baked(struct text_printer *e)
{
	const bool *used = list_used(e);
	for (uint32_t i = 0; i < e->f->n_buffers; i++) {
		const struct loop_buffer *b = &e->f->buffers[i];
		if (!used[i] || !text_is_baked(e->d, e->f, i))
			continue;
		int64_t n = ir_type_count(e->f->dims, &b->type);
		const char *t = e->d->memory[b->type.elem == DT_FLOAT16 ? DT_BFLOAT16 : b->type.elem];
		buf_printf(e->out, "%s%s %s_c%u[%lld]%s = {", e->d->baked, t, e->f->symbol, i, (long long)n, e->d->aligned);
		for (int64_t k = 0; k < n; k++) {
			buf_puts(e->out, k % 16 ? ", " : k ? ",\n\t" : "");
			text_element(e, b->type.elem, b->data, k);
		}
		buf_puts(e->out, "};\n\n");
	}
}
