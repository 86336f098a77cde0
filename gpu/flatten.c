#include "gpu/flatten.h"
#include <string.h>
#include "backend/loops/ir/beside.h"
#include "backend/loops/ir/grow.h"
#include "backend/loops/ir/repeat.h"
#include "base/arena.h"
#include "base/bug.h"
#include "backend/text/dialect.h"
#include "backend/text/signature.h"
#include "gpu/forms.h"
#include "gpu/opencl.h"

/* A call of a unit: maps its symbols, inputs and outputs to the entry. */
struct frame {
	struct flatten *f;
	struct flat_entry *out;
	const struct loop_fn *fn;
	uint32_t unit;                   /* its index in program->units */
	const struct model_table *table; /* NULL: the unit has no slots */
	const dim *syms;                 /* the values of its symbols, in dims of the entry */
	const struct flat_arg *io;       /* its inputs, then its outputs */
	dim scratch;                     /* offset of its scratch */
	bool may_run;                    /* it is in a branch or a loop: not every run executes it */
};

static dim to_entry_dim(const struct frame *s, dim x) { return dim_translate(s->out->dims, s->fn->dims, x, s->syms); }

static uint32_t const_blob(struct flatten *f, const struct loop_fn *fn, uint32_t buffer)
{
	struct flat_const c = {fn->buffers[buffer].data, (size_t)text_buffer_bytes(fn, buffer)};
	uint32_t i = 0;
	while (i < f->consts.len && (f->consts.at[i].len != c.len || memcmp(f->consts.at[i].bytes, c.bytes, c.len) != 0))
		i++;
	if (i == f->consts.len)
		vec_push(&f->consts, c);
	return f->weights->n_blobs + i;
}

static struct flat_arg flatten_place_of(const struct frame *s, uint32_t buffer)
{
	const struct loop_buffer *b = &s->fn->buffers[buffer];
	dim zero = dim_const(s->out->dims, 0);
	if (b->kind == BUFFER_TEMP) /* that grows an input has its memory */
		b = &s->fn->buffers[loops_root(s->fn, buffer)];
	switch (b->kind) {
	case BUFFER_INPUT: return s->io[b->index];
	case BUFFER_OUTPUT: return s->io[s->fn->n_inputs + b->index];
	case BUFFER_WEIGHT:
		BUG_ON(!s->table || s->table->slots[b->index].is_table);
		return (struct flat_arg){TRI_CL_BLOB, s->table->slots[b->index].index, zero};
	case BUFFER_TEMP: return (struct flat_arg){TRI_CL_SCRATCH, 0, dim_add(s->out->dims, s->scratch, to_entry_dim(s, b->offset))};
	case BUFFER_CONST: return (struct flat_arg){TRI_CL_BLOB, const_blob(s->f, s->fn, buffer), zero};
	}
	BUG("buffer kind");
}

static struct flat_arg *args_of(const struct frame *s, const uint32_t *buffers, uint32_t n)
{
	struct flat_arg *p = ARENA_ARRAY(s->f->arena, struct flat_arg, n + 1);
	for (uint32_t i = 0; i < n; i++)
		p[i] = flatten_place_of(s, buffers[i]);
	return p;
}

/* Adds a term of loops_cost to a step. */
struct cost_sum {
	const struct frame *s;
	struct flat_step *l;
};

static void flatten_add_term(void *ctx, enum loop_cost what, int64_t factor, int64_t divisor, const dim *dims, uint32_t n)
{
	const struct cost_sum *c = ctx;
	struct dims *d = c->s->out->dims;
	dim *sum = &c->l->cost[what], term = dim_const(d, factor);
	for (uint32_t k = 0; k < n; k++)
		term = dim_mul(d, term, to_entry_dim(c->s, dims[k]));
	*sum = dim_add(d, *sum, dim_floordiv(d, term, dim_const(d, divisor)));
}

/* Adds a step of a statement that has the costs of statements `first` … `end`-1. Returns its number. */
static uint32_t add_costed_step(const struct frame *s, uint32_t stmt, struct flat_step l, uint32_t first, uint32_t end)
{
	struct cost_sum sum = {s, &l};
	if (l.kind != TRI_CL_LAUNCH)
		l.items = dim_const(s->out->dims, 0);
	for (uint32_t i = 0; i < LOOP_COSTS; i++)
		l.cost[i] = dim_const(s->out->dims, 0);
	for (uint32_t k = first; s->f->live && k < end; k++)
		loops_cost(s->fn, &s->f->live[s->unit], k, flatten_add_term, &sum);
	l.unit = s->unit;
	l.statement = s->fn->first_statement + stmt;
	l.place = loops_place(s->fn->symbol, l.statement);
	vec_push(&s->out->steps, l);
	return s->out->steps.len - 1;
}

static uint32_t add_step(const struct frame *s, uint32_t stmt, struct flat_step l)
{
	return add_costed_step(s, stmt, l, stmt, stmt + (l.kind == TRI_CL_LAUNCH || l.kind == TRI_CL_END));
}

/* A launch, unless it never has work items. */
static void add_launch(const struct frame *s, uint32_t stmt, struct flat_step l, uint32_t first, uint32_t end)
{
	int64_t items;
	if (!dim_is_const(s->out->dims, l.items, &items) || items)
		add_costed_step(s, stmt, l, first, end);
}

enum { WORK_GROUP = 64 }; /* work items of a group that share nothing */

static dim nest_items(const struct frame *s, const struct loop_nest *n)
{
	dim items = dim_const(s->out->dims, 1);
	for (uint32_t k = 0; k < n->n_parallel; k++)
		items = dim_mul(s->out->dims, items, to_entry_dim(s, n->extent[k]));
	const struct loop_axis *last = n->schedule.n_axes ? &n->schedule.axes[n->schedule.n_axes - 1] : NULL;
	if (last && last->kind == AXIS_VECTOR) /* whose lanes divide the innermost extent */
		items = dim_floordiv(s->out->dims, items, dim_const(s->out->dims, last->width));
	return items;
}

/* The chunks of the outermost loop if the schedule has any. */
static dim nest_chunks(const struct frame *s, const struct loop_nest *n)
{
	struct dims *d = s->out->dims;
	const struct loop_axis *a = n->schedule.axes;
	if (!n->schedule.n_axes || a->kind != AXIS_PARALLEL)
		return dim_const(d, 1);
	return dim_floordiv(d, dim_add(d, to_entry_dim(s, n->extent[a->of]), dim_const(d, a->step - 1)), dim_const(d, a->step));
}

/* The work items of a nest or block, or of the nests of a launch one behind the other. */
static dim launch_items(const struct frame *s, uint32_t first, uint32_t end, uint32_t group)
{
	struct dims *d = s->out->dims;
	dim items = dim_const(d, 0);
	for (uint32_t k = first; k < end; k++) {
		const struct loop_nest *n = text_outer_loops(&s->fn->stmts[k]);
		items = dim_add(d, items, opencl_dialect(s->f->variant)->launch == LAUNCH_CHUNKS ? nest_chunks(s, n) : nest_items(s, n));
	}
	return group ? dim_mul(d, items, dim_const(d, group)) : items;
}

/* A launch of a form of a micro-kernel, without its size and epilogue. */
static struct flat_step form_step(const struct frame *s, uint32_t stmt, const struct form *form)
{
	const struct loop_kernel *st = &s->fn->stmts[stmt].u.kernel;
	const struct kernel_record *r = kernel_record(st->kernel);
	struct flat_step l = {.kernel = form->source,
			      .group = form->group,
			      .n_args = st->n_buffers,
			      .n_dims = r->n_fields,
			      .fails = kernel_fails(st->kernel)};
	l.args = args_of(s, st->buffers, st->n_buffers);
	dim *dims = ARENA_ARRAY(s->f->arena, dim, r->n_fields);
	for (uint32_t k = 0; k < r->n_fields; k++)
		dims[k] = r->fields[k].type == FIELD_place
				  ? dim_const(s->out->dims, (int64_t)loops_place(s->fn->symbol, s->fn->first_statement + stmt))
				  : to_entry_dim(s, st->dims[k]);
	l.dims = dims;
	return l;
}

/* 1 if a block has a launch of its own, 0 if the groups of the products behind it repeat it. */
static dim alone(const struct frame *s, uint32_t block)
{
	struct dims *d = s->out->dims;
	const uint32_t product = block + 1;
	const struct form *forms[MOST_FORMS];
	dim one = dim_const(d, 1);
	if (loops_launch_end(s->fn, block) == product)
		return one;
	const struct loop_kernel *x = &s->fn->stmts[product].u.kernel;
	uint32_t n = forms_of(s->f->arena, s->f->variant, x->kernel, s->fn->dims, x->dims, forms),
		 first = forms_shared(s->fn, product, forms, n);
	return first ? dim_sub(d, one, form_holds(forms[first - 1], d, form_step(s, product, forms[first - 1]).dims)) : one;
}

static void launch_nests(const struct frame *s, uint32_t stmt)
{
	struct arena *a = s->f->arena;
	const struct dialect *dialect = opencl_dialect(s->f->variant);
	const bool is_block = s->fn->stmts[stmt].kind == STMT_BLOCK;
	const uint32_t end = is_block ? stmt + 1 : loops_launch_end(s->fn, stmt);
	struct text_signature sig;
	if (is_block)
		text_signature_of_stmt(a, dialect, s->fn, &s->fn->stmts[stmt], &sig);
	else
		text_signature_of_launch(a, dialect, s->fn, stmt, &sig);
	struct flat_step l = {.kernel = arena_printf(a, "%s_k%u", s->fn->symbol, stmt),
			      .n_args = sig.n_buffers,
			      .n_dims = sig.n_syms,
			      .group = sig.group                          ? sig.group
				       : dialect->launch == LAUNCH_CHUNKS ? 1
									  : WORK_GROUP,
			      .fails = sig.fails};
	l.args = args_of(s, sig.buffers, sig.n_buffers);
	l.dims = ARENA_ARRAY(a, dim, sig.n_syms + 1);
	for (uint32_t i = 0; i < sig.n_syms; i++)
		l.dims[i] = s->syms[sig.syms[i]];
	l.items = launch_items(s, stmt, end, sig.group);
	if (is_block)
		l.items = dim_mul(s->out->dims, l.items, alone(s, stmt));
	add_launch(s, stmt, l, stmt, end);
}

static void add_args(const struct frame *s, struct flat_step *l, const struct flat_arg *more, uint32_t n)
{
	struct flat_arg *all = ARENA_ARRAY(s->f->arena, struct flat_arg, l->n_args + n + 1);
	memcpy(all, l->args, l->n_args * sizeof *all);
	memcpy(all + l->n_args, more, n * sizeof *all);
	l->args = all;
	l->n_args += n;
}

static void add_dims(const struct frame *s, struct flat_step *l, const dim *more, uint32_t n)
{
	dim *all = ARENA_ARRAY(s->f->arena, dim, l->n_dims + n + 1);
	memcpy(all, l->dims, l->n_dims * sizeof *all);
	memcpy(all + l->n_dims, more, n * sizeof *all);
	l->dims = all;
	l->n_dims += n;
}

/* Adds the arguments of an epilogue to those of form i of its kernel. */
static void add_epilogue(const struct frame *s, uint32_t stmt, uint32_t i, struct flat_step *l)
{
	struct arena *a = s->f->arena;
	struct text_signature sig;
	text_signature_of(a, opencl_dialect(s->f->variant), s->fn, s->fn->stmts[stmt].u.kernel.epilogue, &sig);
	l->kernel = i ? arena_printf(a, "%s_k%u_%u", s->fn->symbol, stmt, i) : arena_printf(a, "%s_k%u", s->fn->symbol, stmt);
	add_args(s, l, args_of(s, sig.buffers, sig.n_buffers), sig.n_buffers);
	for (uint32_t k = 0; k < sig.n_syms; k++)
		add_dims(s, l, &s->syms[sig.syms[k]], 1);
}

static void need_scratch(struct flat_entry *out, dim size)
{
	for (uint32_t i = 0; i < out->scratch.len; i++)
		if (dim_eq(out->scratch.at[i], size))
			return;
	vec_push(&out->scratch, size);
}

/* The launches of a form that is split. The parts are behind the scratch of the unit. False: sizes are too large expressions of those that are known at run
 * time, so that other forms have to compute them. */
static bool launch_split(const struct frame *s, uint32_t stmt, const struct form *form, uint32_t i, dim holds)
{
	const struct loop_kernel *st = &s->fn->stmts[stmt].u.kernel;
	struct dims *d = s->out->dims;
	struct flat_step part = form_step(s, stmt, form);
	const dim terms = form_part(form, d, part.dims), bytes = form_scratch(form, d, part.dims), line = dim_const(d, 64);
	const dim end = dim_add(d, dim_add(d, s->scratch, to_entry_dim(s, s->fn->scratch)), dim_const(d, 63));
	struct flat_arg parts = {TRI_CL_SCRATCH, 0, dim_mul(d, dim_floordiv(d, end, line), line)};
	const struct flat_arg *result = &part.args[part.n_args - 1];
	part.items = dim_mul(d, form_items(form, d, part.dims), holds);
	add_dims(s, &part, &terms, 1);
	struct flat_step sum = {
		.kernel = form->split.sum, .group = WORK_GROUP, .args = &parts, .n_args = 1, .dims = part.dims, .n_dims = part.n_dims};
	sum.items = dim_mul(d, form_sum_items(form, d, part.dims), holds);
	if (st->epilogue) {
		add_epilogue(s, stmt, i, &sum);
	} else {
		add_args(s, &sum, result, 1);
		part.n_args--;
	}
	add_args(s, &part, &parts, 1);
	const dim needed = dim_add(d, parts.offset, dim_mul(d, bytes, holds));
	if (dims_overflowed(d))
		return false;
	need_scratch(s->out, needed);
	add_step(s, stmt, part);
	add_costed_step(s, stmt, sum, stmt, stmt); /* the first launch has the costs */
	return true;
}

/* The launch of form i, for so many work items if `holds` is 1. */
static void launch_form(const struct frame *s, uint32_t stmt, const struct form *form, uint32_t i, dim holds)
{
	struct flat_step l = form_step(s, stmt, form);
	l.items = dim_mul(s->out->dims, form_items(form, s->out->dims, l.dims), holds);
	if (s->fn->stmts[stmt].u.kernel.epilogue)
		add_epilogue(s, stmt, i, &l);
	add_launch(s, stmt, l, stmt, stmt + 1);
}

/* The launch of a form that computes all products from statement `first` on, behind the operands of the first the weights of the others, and results. Its groups
 * repeat the block before, if it belongs to the launch. */
static void launch_products(const struct frame *s, uint32_t first, const struct form *form)
{
	struct arena *a = s->f->arena;
	struct dims *d = s->out->dims;
	const uint32_t begin = loops_launch_begin(s->fn, first), end = loops_launch_end(s->fn, first);
	struct flat_step l = form_step(s, first, form);
	struct text_signature sig;
	dim holds = form_holds(form, d, l.dims);
	text_signature_of_launch(a, opencl_dialect(s->f->variant), s->fn, begin, &sig);
	l.kernel = arena_printf(a, "%s_k%u_all", s->fn->symbol, begin);
	l.n_args = 2;
	l.items = dim_const(d, 0);
	for (uint32_t k = first; k < end; k++) {
		const struct flat_step one = form_step(s, k, form);
		l.items = dim_add(d, l.items, dim_mul(d, form_items(form, d, one.dims), holds));
		if (k > first) {
			add_args(s, &l, &one.args[1], 1);
			add_dims(s, &l, &one.dims[offsetof(struct matmul_dims, N) / sizeof(dim)], 1);
		}
	}
	for (uint32_t k = first; k < end; k++)
		if (!s->fn->stmts[k].u.kernel.epilogue)
			add_args(s, &l, &form_step(s, k, form).args[2], 1);
	add_args(s, &l, args_of(s, sig.buffers, sig.n_buffers), sig.n_buffers);
	for (uint32_t k = 0; k < sig.n_syms; k++)
		add_dims(s, &l, &s->syms[sig.syms[k]], 1);
	add_costed_step(s, first, l, begin, end);
}

/* Of several forms, the sizes that are known at run time leave work items to one. */
static void launch_kernel(const struct frame *s, uint32_t stmt)
{
	const struct loop_kernel *st = &s->fn->stmts[stmt].u.kernel;
	const struct form *forms[MOST_FORMS];
	uint32_t n = forms_of(s->f->arena, s->f->variant, st->kernel, s->fn->dims, st->dims, forms),
		 first = forms_shared(s->fn, stmt, forms, n);
	struct dims *d = s->out->dims;
	dim one = dim_const(d, 1), held = dim_const(d, 0); /* how many of the forms so far hold */
	if (first) {
		held = form_holds(forms[first - 1], d, form_step(s, stmt, forms[first - 1]).dims);
		if (stmt == loops_products_begin(s->fn, stmt))
			launch_products(s, stmt, forms[first - 1]);
	}
	dims_overflowed(d);
	for (uint32_t i = first; i < n; i++) {
		dim holds = form_holds(forms[i], d, form_step(s, stmt, forms[i]).dims), all = dim_add(d, held, holds);
		dim runs = dim_mul(d, dim_floordiv(d, one, dim_add(d, held, one)), holds);
		if (!forms[i]->split.sum)
			launch_form(s, stmt, forms[i], i, runs);
		else if (!launch_split(s, stmt, forms[i], i, runs))
			continue;
		held = all;
	}
}

static uint32_t unit_index(const struct flatten *f, const char *symbol)
{
	uint64_t i = 0;
	BUG_ON(!map_get(&f->by_symbol, map_key_str(symbol), &i) || !f->units[i]);
	return (uint32_t)i;
}

/* A unit that not every run executes has its checks as steps. */
static void need_check(const struct frame *s, uint32_t stmt, struct flat_check x)
{
	struct flat_entry *out = s->out;
	for (uint32_t i = 0; i < out->checks.len; i++)
		if (dim_eq(out->checks.at[i].least, x.least))
			return;
	if (!s->may_run) {
		vec_push(&out->checks, x);
		return;
	}
	add_step(s, stmt, (struct flat_step){.kind = TRI_CL_CHECK, .to = out->some.len});
	vec_push(&out->some, x);
}

static void flatten_expand(const struct frame *s);

/* ---- calls, branches, loops ---- */

static void flatten_begin(const struct frame *s, uint32_t stmt)
{
	if (s->f->live)
		add_step(s, stmt, (struct flat_step){.kind = TRI_CL_BEGIN});
}

static void flatten_end(const struct frame *s, uint32_t stmt)
{
	if (s->f->live)
		add_step(s, stmt, (struct flat_step){.kind = TRI_CL_END});
}

static void expand_call(const struct frame *s, const struct loop_call *st, bool may_run)
{
	struct arena *a = s->f->arena;
	uint32_t unit = unit_index(s->f, st->callee);
	struct frame callee = {.f = s->f, .out = s->out, .fn = s->f->units[unit], .unit = unit, .may_run = may_run || s->may_run};
	dim *syms = ARENA_ARRAY(a, dim, st->n_dims + 1);
	for (uint32_t i = 0; i < st->n_dims; i++)
		syms[i] = to_entry_dim(s, st->dims[i]);
	callee.syms = syms;
	callee.io = args_of(s, st->buffers, st->n_buffers);
	callee.scratch = dim_add(s->out->dims, s->scratch, to_entry_dim(s, s->fn->scratch));
	if (st->slot != LOOP_NONE) {
		BUG_ON(!s->table || !s->table->slots[st->slot].is_table);
		callee.table = &s->f->weights->tables[s->table->slots[st->slot].index];
	}
	flatten_expand(&callee);
}

static void flatten_call(const struct frame *s, uint32_t stmt)
{
	flatten_begin(s, stmt);
	expand_call(s, &s->fn->stmts[stmt].u.call, false);
	flatten_end(s, stmt);
}

/* Adds a jump that depends on a buffer of one bool. Whoever knows where it goes sets `to`. */
static uint32_t flatten_add_jump(const struct frame *s, uint32_t stmt, enum tri_cl_step_kind kind, uint32_t buffer)
{
	return add_step(s, stmt, (struct flat_step){.kind = kind, .args = args_of(s, &buffer, 1), .n_args = 1});
}

static void jumps_here(const struct frame *s, uint32_t jump) { s->out->steps.at[jump].to = s->out->steps.len; }

static void flatten_branch(const struct frame *s, uint32_t stmt)
{
	const struct loop_branch *b = &s->fn->stmts[stmt].u.branch;
	flatten_begin(s, stmt);
	uint32_t otherwise = flatten_add_jump(s, stmt, TRI_CL_JUMP_IF_FALSE, b->condition);
	expand_call(s, &b->calls[0], true);
	uint32_t over = add_step(s, stmt, (struct flat_step){.kind = TRI_CL_JUMP});
	jumps_here(s, otherwise);
	expand_call(s, &b->calls[1], true);
	jumps_here(s, over);
	flatten_end(s, stmt);
}

static void flatten_add_copy(const struct frame *s, uint32_t stmt, uint32_t to, uint32_t from)
{
	const struct hir_type *t = &s->fn->buffers[to].type;
	dim *bytes = ARENA_NEW(s->f->arena, dim);
	*bytes = dim_const(s->out->dims, (int64_t)dtype_size(t->elem));
	for (uint32_t k = 0; k < t->rank; k++)
		*bytes = dim_mul(s->out->dims, *bytes, to_entry_dim(s, t->dims[k]));
	if (to != from)
		add_step(s, stmt,
			 (struct flat_step){.kind = TRI_CL_COPY,
					    .args = args_of(s, (const uint32_t[]){to, from}, 2),
					    .n_args = 2,
					    .dims = bytes,
					    .n_dims = 1});
}

/* After an iteration the values that it wrote are copied to where the next one reads them. */
static void flatten_iterate(const struct frame *s, uint32_t stmt)
{
	const struct loop_iterate *l = &s->fn->stmts[stmt].u.loop;
	const struct loop_call *body = &l->body;
	uint32_t first_out = body->n_buffers - l->n_carried;
	flatten_begin(s, stmt);
	for (uint32_t k = 0; k < l->n_carried; k++)
		flatten_add_copy(s, stmt, body->buffers[k], l->initial[k]);
	uint32_t never = flatten_add_jump(s, stmt, TRI_CL_JUMP_IF_FALSE, l->condition), first = never + 1;
	expand_call(s, body, true);
	for (uint32_t k = 0; k < l->n_carried; k++)
		flatten_add_copy(s, stmt, body->buffers[k], body->buffers[first_out + k]);
	uint32_t again = flatten_add_jump(s, stmt, TRI_CL_JUMP_IF_TRUE, body->buffers[first_out - 1]);
	s->out->steps.at[again].to = first;
	jumps_here(s, never);
	flatten_end(s, stmt);
}

static void flatten_effect(const struct frame *s, uint32_t stmt)
{
	const struct loop_effect *x = &s->fn->stmts[stmt].u.effect;
	dim *dims = ARENA_ARRAY(s->f->arena, dim, x->n_dims + 1);
	for (uint32_t i = 0; i < x->n_dims; i++)
		dims[i] = to_entry_dim(s, x->dims[i]);
	add_step(s, stmt,
		 (struct flat_step){.kind = TRI_CL_EFFECT,
				    .effect = x,
				    .args = args_of(s, x->buffers, x->n_buffers),
				    .n_args = x->n_buffers,
				    .dims = dims,
				    .n_dims = x->n_dims});
}

static void flatten_expand(const struct frame *s)
{
	for (uint32_t i = 0; i < s->fn->n_checks; i++)
		need_check(s, s->fn->n_stmts + i,
			   (struct flat_check){to_entry_dim(s, s->fn->checks[i].least), s->fn->checks[i].kind,
					       loops_place(s->fn->symbol, s->fn->first_statement + s->fn->n_stmts + i)});
	need_scratch(s->out, dim_add(s->out->dims, s->scratch, to_entry_dim(s, s->fn->scratch)));
	for (uint32_t i = 0; i < s->fn->n_stmts; i++)
		switch (s->fn->stmts[i].kind) {
		case STMT_NEST:
		case STMT_BLOCK:
			if (!s->fn->stmts[i].beside)
				launch_nests(s, i);
			break;
		case STMT_KERNEL: launch_kernel(s, i); break;
		case STMT_CALL: flatten_call(s, i); break;
		case STMT_EFFECT: flatten_effect(s, i); break;
		case STMT_BRANCH: flatten_branch(s, i); break;
		case STMT_LOOP: flatten_iterate(s, i); break;
		}
}

void flatten_entry(struct flatten *f, uint32_t index, struct flat_entry *out)
{
	uint32_t unit = unit_index(f, f->in->program->entries[index].unit->symbol);
	const struct loop_fn *fn = f->units[unit];
	uint32_t n_syms = dims_syms(fn->dims), table = f->weights->entry_tables[index];
	*out = (struct flat_entry){.dims = dims_new(f->arena)};
	dim *syms = ARENA_ARRAY(f->arena, dim, n_syms + 1);
	for (uint32_t i = 0; i < n_syms; i++)
		syms[i] = dim_new_sym(out->dims, dims_sym_name(fn->dims, i));
	dim zero = dim_const(out->dims, 0);
	struct flat_arg *io = ARENA_ARRAY(f->arena, struct flat_arg, fn->n_inputs + fn->n_outputs + 1);
	for (uint32_t i = 0; i < fn->n_inputs; i++)
		io[i] = (struct flat_arg){TRI_CL_INPUT, i, zero};
	for (uint32_t i = 0; i < fn->n_outputs; i++)
		io[fn->n_inputs + i] = (struct flat_arg){TRI_CL_OUTPUT, i, zero};
	struct frame s = {.f = f, .out = out, .fn = fn, .unit = unit, .syms = syms, .io = io, .scratch = zero};
	if (table < f->weights->n_tables)
		s.table = &f->weights->tables[table];
	flatten_expand(&s);
}
