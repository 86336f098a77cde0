/* The pipeline of one unit, and the hashes of its plan. */
#include "backend/plan/plan.h"
#include <string.h>
#include "backend/kernels/kernel.h"
#include "backend/loops/ir/cost.h"
#include "backend/lower/lower.h"
#include "backend/passes/passes.h"
#include "backend/plan/split.h"
#include "backend/runtime/abi/tri.h"
#include "backend/target/target.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/measure.h"

/* The number of symbols and the slots. Leaves out which output of the build_fn feeds a slot: the code does not depend on it. */
static hash128 hash_interface(const struct plan *p)
{
	struct hasher *h = hasher_new();
	hasher_add_u64(h, dims_syms(p->dims));
	hasher_add_u64(h, p->n_slots);
	for (uint32_t k = 0; k < p->n_slots; k++) {
		const struct slot *s = &p->slots[k];
		hasher_add_u64(h, (uint64_t)s->kind << 8 | s->layout);
		hasher_add_str(h, s->callee ? s->callee->symbol : "");
	}
	return hasher_finish(h);
}

/* Includes the pieces, whose hashes cover the units that they call. */
static hash128 hash_build_fn(const struct ir_fn *build_fn, const struct build_fn_interface *interface)
{
	hash128 h = ir_hash(build_fn);
	for (uint32_t k = 0; k < interface->n_pieces; k++)
		h = hash_combine(h, interface->pieces[k]);
	return h;
}

/* What the run_fn does not say: which memory it and its callees grow and update. */
static hash128 hash_growth(const struct plan *p, hash128 h)
{
	const struct ir_fn *f = p->run_fn;
	uint64_t own = argument_layouts_code(ir_program_layouts(p->options.program, p->unit));
	h = own ? hash_combine(h, (hash128){own, 0}) : h;
	for (ir_ref r = 0; r < f->n_insts; r++) {
		uint64_t code = ir_calls(ir_at(f, r)->op)
					? argument_layouts_code(ir_program_layouts(p->options.program, ir_call(ir_at(f, r))->callee))
					: 0;
		h = code ? hash_combine(h, (hash128){code, 0}) : h;
	}
	return h;
}

/* The cost of one call with all symbols 1, as a comment: what the passes save, and what loops and kernels should take. */
static void print_cost(const struct ir_fn *f, struct buf *text)
{
	struct ir_cost sum = {0, 0};
	int64_t *ones = ARENA_ARRAY(f->unit, int64_t, dims_syms(f->dims) + 1);
	for (uint32_t k = 0; k < dims_syms(f->dims); k++)
		ones[k] = 1;
	for (ir_ref r = 0; r < f->n_insts; r++) {
		struct ir_cost c = ir_cost(f, r, ones);
		sum.operations += c.operations;
		sum.bytes += c.bytes;
	}
	buf_printf(text, "; %.3g operations, %.3g bytes", sum.operations, sum.bytes);
	for (uint32_t k = 0; k < dims_syms(f->dims); k++)
		buf_printf(text, "%s%s = 1", k ? ", " : " with ", dims_sym_name(f->dims, k));
	buf_putc(text, '\n');
}

static void print_stage(const struct pass_run *r, const char *stage, const struct ir_fn *f)
{
	struct buf *text = pass_stage_text(r, stage);
	if (!text)
		return;
	ir_print_with_notes(f, r->trace->notes, text);
	print_cost(f, text);
}

static void list_inlined(struct plan *p, struct arena *unit, const struct pass_context *c)
{
	p->n_inlined = c->n_inlined;
	p->inlined = ARENA_ARRAY(unit, const struct hir_unit *, c->n_inlined + 1);
	if (c->n_inlined)
		memcpy(p->inlined, c->inlined, c->n_inlined * sizeof *p->inlined);
}

static void finish_split(const struct plan *p, const struct pass_run *r)
{
	if (p->options.verify) {
		ir_verify_or_abort(p->build_fn, "split");
		ir_verify_or_abort(p->run_fn, "split");
	}
	print_stage(r, "build_fn", p->build_fn);
	print_stage(r, "run_fn", p->run_fn);
}

/* Reports a unit with a size that is a longer sum than a dim holds: its code would use wrong offsets. False: reported. */
static bool plan_check_sizes(const struct plan *p, struct diags *diags)
{
	if (!dims_overflowed(p->dims))
		return true;
	struct diag *g =
		diag_add(diags, DIAG_LOWER, p->unit->at, "`%s` has too many different run-time sizes at a time", p->unit->definition_name);
	diag_help(diags, g, "fix some of them in `tri.build`, as in `input x = float32 [8, ?]`, or divide the function");
	return false;
}

/* The pipeline. The whole function is in `scratch`; what the plan consists of goes to `unit`. */
/* The loops for target->also. Their statements follow those of the target in the plan's list. */
static const struct loop_fn *loops_for_other(const struct plan *p, struct arena *unit, const struct loop_source *source)
{
	struct plan_options o = p->options;
	o.target = target_get(o.target->also);
	struct loop_fn *f = loops_build(unit, source, &o, NULL);
	f->first_statement = loops_next_statement(p->loops);
	return f;
}

static bool plan_make(struct plan *p, struct arena *unit, struct arena *scratch, struct pass_context *c, struct plan_trace *trace)
{
	dims_overflowed(p->dims); /* forgets what the front end tried */
	measure_begin("lower");
	struct ir_fn *whole = lower_into(scratch, p->unit, p->dims, NULL, c->diags);
	measure_end();
	if (!whole)
		return false;
	plan_narrow(p, whole);
	print_stage(&c->run, "lowered", whole);
	if (!passes_run(whole, c, EARLY) || !passes_run(whole, c, LEGALIZE) || !passes_run(whole, c, LATE) ||
	    !passes_run(whole, c, LAYOUT) || c->run.stopped)
		return false;
	pass_require(&c->run, FACT_BUILD_TIME | FACT_SETTLED | FACT_LEGAL | FACT_LAID_OUT, "split");
	measure_begin("split");
	bool is_split = plan_split(p, unit, whole, c->opt > 0, c->diags);
	measure_end();
	if (!is_split)
		return false;
	finish_split(p, &c->run);
	struct loop_source source = {p->run_fn, p->slots, p->n_slots, c->own};
	measure_begin("loops");
	p->loops = p->options.no_loops ? NULL : loops_build(unit, &source, &p->options, trace ? &trace->loops : NULL);
	p->also = p->loops && p->options.target->also != TARGET_NONE ? loops_for_other(p, unit, &source) : NULL;
	measure_end();
	list_inlined(p, unit, c);
	bool fits = plan_check_sizes(p, c->diags);
	dims_close(p->dims);
	return (p->loops || p->options.no_loops) && fits;
}

/* Returns the origins of all values of a statement, those of the main value first. */
static origin_set origins_of_stmt(const struct ir_fn *f, const struct loop_stmt *s)
{
	origin_set all = ORIGINS_NONE;
	for (uint32_t k = 0; k < s->n_values; k++)
		all = origins_union(f->origins, all, ir_at(f, s->values[k])->origin);
	return all;
}

/* Products of int8 or trits are int32. */
static bool multiplies_int8(const struct plan *p, const struct loop_kernel *k)
{
	return kernel_buffer_elem(k->kernel, kernel_buffer_count(k->kernel) - 1, p->loops->dims, k->dims) == DT_INT32;
}

static struct plan_statement plan_describe(const struct plan *p, const struct loop_stmt *s)
{
	bool is_kernel = s->kind == STMT_KERNEL;
	return (struct plan_statement){.name = loop_stmt_name(s),
				       .origins = origins_of_stmt(p->run_fn, s),
				       .kind = is_kernel              ? TRI_STATEMENT_KERNEL
					       : s->kind == STMT_CALL ? TRI_STATEMENT_UNIT
								      : TRI_STATEMENT_CODE,
				       .ceiling = is_kernel && multiplies_int8(p, &s->u.kernel) ? TRI_CEILING_INT8
						  : loops_computes(s)                           ? TRI_CEILING_FLOAT
												: TRI_CEILING_MEMORY};
}

static void describe_statements(struct plan *p, const struct loop_fn *f)
{
	struct plan_statement *of = p->origins.statements + f->first_statement;
	for (uint32_t i = 0; i < f->n_stmts; i++)
		of[i] = plan_describe(p, &f->stmts[i]);
	for (uint32_t i = 0; i < f->n_checks; i++)
		of[f->n_stmts + i] = (struct plan_statement){.name = "check", .origins = ir_at(p->run_fn, f->checks[i].value)->origin};
}

static void list_origins(struct plan *p, struct arena *unit)
{
	const struct loop_fn *last = p->also ? p->also : p->loops;
	uint32_t n = last ? loops_next_statement(last) : 0;
	p->origins = (struct plan_origins){p->run_fn->origins, ARENA_ARRAY(unit, struct plan_statement, n + 1), n};
	if (p->loops)
		describe_statements(p, p->loops);
	if (p->also)
		describe_statements(p, p->also);
}

struct plan *plan_unit(struct arena *unit, const struct hir_unit *u, const struct plan_options *o, struct diags *diags,
		       struct plan_trace *trace)
{
	struct pass_context c = pass_context_new(o, diags, trace ? &trace->ir : NULL);
	const struct program_unit *decided = ir_program_find(o->program, u);
	c.own = ir_program_layouts(o->program, u);
	c.is_shared = decided ? decided->shared : NULL;
	struct arena *scratch = arena_new(0);
	struct plan *p = ARENA_NEW(unit, struct plan);
	*p = (struct plan){.unit = u, .options = *o, .dims = lower_dims(unit, u)};
	bool ok = plan_make(p, unit, scratch, &c, trace);
	arena_free(scratch);
	if (!ok)
		return NULL;
	measure_begin("describe");
	build_fn_describe(unit, p->build_fn, &p->interface);
	list_origins(p, unit);
	p->build_fn_hash = hash_build_fn(p->build_fn, &p->interface);
	p->run_fn_hash = hash_growth(p, hash_combine(ir_hash(p->run_fn), hash_interface(p)));
	measure_end();
	return p;
}
