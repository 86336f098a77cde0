/* Runs a model in the interpreter of the loop IR, and compares the outputs with those of the reference interpreter, unless --output writes them:
 * a caller who compares them knows how much the rounding of its program may differ.
 *
 *   loop-run TARGET run MODEL …      the further words as of `trib run`; TARGET: a row of targets.def, as `x86-64-v3` or `opencl`
 *
 * Every unit is planned, built and verified for the target at its level. The exit code is that of `trib run`; a difference is an error. */
#include <stdio.h>
#include <string.h>
#include "backend/interp/interp.h"
#include "backend/loops/interp/interp.h"
#include "backend/loops/ir/loops.h"
#include "backend/lower/summary.h"
#include "backend/passes/program/program_passes.h"
#include "backend/plan/plan.h"
#include "backend/target/target.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "builder/build/model/model.h"
#include "builder/build/model/project.h"
#include "builder/build/session/context.h"
#include "builder/build/session/status.h"
#include "builder/cli/args.h"
#include "builder/run/run.h"
#include "builder/run/results.h"
#include "builder/store/key.h"
#include "frontend/hir/hir.h"

struct machine {
	struct arena *a;
	const struct reference_call *call;
	const struct ir_program *program;
	const struct plan **plans; /* of each unit of the program that was needed so far */
	struct buf *error;
};

static const struct target *the_target; /* that the command line names */
static bool writes_outputs;

static const struct plan *make_plan(const struct machine *m, const struct hir_unit *u)
{
	struct plan_options o = key_unit_options(&m->call->model->spec->plan, the_target, m->program, u);
	struct diags *d = diags_new(0);
	struct buf why = {0};
	o.verify = true;
	const struct plan *p = plan_unit(m->a, u, &o, d, NULL);
	if (!p)
		buf_printf(m->error, "%s cannot be planned", u->symbol);
	else if (!loops_verify(p->loops, &why))
		buf_printf(m->error, "%s", why.at);
	bool sound = p && !why.len;
	diags_free(d);
	buf_free(&why);
	return sound ? p : NULL;
}

static const struct plan *plan_of(const struct machine *m, const char *symbol)
{
	const struct hir_program *p = m->call->model->program;
	uint32_t k = 0;
	while (k < p->n_units && strcmp(p->units[k]->symbol, symbol) != 0)
		k++;
	if (k == p->n_units)
		return NULL;
	if (!m->plans[k])
		m->plans[k] = make_plan(m, p->units[k]);
	return m->plans[k];
}

static const struct loop_fn *find_loops(void *ctx, const char *symbol)
{
	const struct plan *p = plan_of(ctx, symbol);
	return p ? p->loops : NULL;
}

/* ---- weight tables ---- */

static const void *packed(struct arena *a, enum layout layout, const struct tensor *t)
{
	void *out = arena_alloc(a, layout_packed_size(layout, t) + 1, 64);
	layout_pack(layout, t, out);
	return out;
}

/* The weight table of the unit for these build-time inputs. NULL: m->error says why. */
static const void *const *weight_table(struct machine *m, const struct hir_unit *u, const struct tensor *inputs)
{
	const struct plan *p = plan_of(m, u->symbol);
	const char *error = NULL;
	if (!p)
		return NULL;
	const void **table = ARENA_ARRAY(m->a, const void *, p->n_slots + 1);
	struct tensor *values = ARENA_ARRAY(m->a, struct tensor, p->build_fn->n_outputs + 1);
	int64_t *syms = ARENA_ARRAY(m->a, int64_t, dims_syms(p->build_fn->dims) + 1); /* no result depends on them */
	if (!interp_run(p->build_fn, NULL, inputs, syms, 0, m->a, values, &error)) {
		buf_printf(m->error, "the build function of %s: %s", u->symbol, error);
		return NULL;
	}
	for (uint32_t k = 0; k < p->n_slots; k++) {
		const struct slot *s = &p->slots[k];
		if (s->kind == SLOT_DATA)
			table[k] = packed(m->a, s->layout, &values[s->first_output]);
		else if (!(table[k] = weight_table(m, s->callee, values + s->first_output)))
			return NULL;
	}
	return table;
}

/* ---- one run ---- */

static void to_stderr(void *ctx, const char *text, size_t n)
{
	(void)ctx;
	fwrite(text, 1, n, stderr);
}

static void allocate(struct machine *m, const struct hir_unit *u, struct tensor *out)
{
	for (uint32_t k = 0; k < u->n_outputs; k++) {
		const struct hir_type *t = hir_output_type(u, k);
		out[k] = (struct tensor){.elem = t->elem, .rank = t->rank};
		for (uint32_t i = 0; i < t->rank; i++)
			out[k].dims[i] = dim_eval(u->dims, t->dims[i], m->call->dims);
		out[k].data = arena_alloc(m->a, (size_t)tensor_bytes(&out[k]) + 1, 64);
	}
}

/* Copies the elements of t from `stored`, which has the layout. */
static void unpack(enum layout layout, const char *stored, const struct tensor *t)
{
	uint32_t order[HIR_MAX_RANK];
	int64_t at[HIR_MAX_RANK] = {0}, n = tensor_count(t);
	size_t size = dtype_size(t->elem);
	ir_layout_order(layout, t->rank, order);
	for (int64_t from = 0; from < n; from++) {
		int64_t to = 0;
		for (uint32_t k = 0; k < t->rank; k++)
			to = to * t->dims[k] + at[k];
		memcpy((char *)t->data + (size_t)to * size, stored + (size_t)from * size, size);
		for (uint32_t k = t->rank; k-- > 0 && ++at[order[k]] == t->dims[order[k]];)
			at[order[k]] = 0;
	}
}

/* Memory of the arguments: where the call has them if they are plain. What grows has that of its input, with room. */
static void **place_arguments(const struct machine *m, struct argument_layouts l, const struct loop_fn *f, const struct tensor *out)
{
	void **bufs = ARENA_ARRAY(m->a, void *, f->n_inputs + f->n_outputs + 1);
	for (uint32_t k = 0; k < f->n_inputs; k++)
		bufs[k] = argument_input(l, k) == LAYOUT_PLAIN ? m->call->inputs[k].data : NULL;
	for (uint32_t k = 0; k < f->n_outputs; k++) {
		void **to = &bufs[f->n_inputs + k];
		uint32_t from = argument_grows(l, k);
		*to = argument_output(l, k) == LAYOUT_PLAIN ? out[k].data : arena_alloc(m->a, (size_t)tensor_bytes(&out[k]) + 1, 64);
		if (from == IR_NONE)
			continue;
		layout_pack(argument_output(l, k), &m->call->inputs[from], *to);
		bufs[from] = *to;
	}
	for (uint32_t k = 0; k < f->n_inputs; k++)
		if (!bufs[k])
			bufs[k] = (void *)(uintptr_t)packed(m->a, argument_input(l, k), &m->call->inputs[k]); /* only read */
	return bufs;
}

static bool interpret_loops(struct machine *m, struct tensor *out)
{
	const struct hir_unit *u = m->call->unit;
	const struct plan *p = plan_of(m, u->symbol);
	const void *const *table = weight_table(m, u, m->call->weights);
	if (p && !loops_verify_calls(p->loops, find_loops, m, m->error))
		return false;
	struct loop_host host = {find_loops, to_stderr, m};
	struct loop_error e;
	if (!p || !table)
		return false;
	allocate(m, u, out);
	struct argument_layouts l = ir_program_layouts(m->program, u);
	void **bufs = place_arguments(m, l, p->loops, out);
	if (loop_interp(p->loops, bufs, table, m->call->dims, &host, &e)) {
		for (uint32_t k = 0; k < u->n_outputs; k++)
			if (argument_output(l, k) != LAYOUT_PLAIN)
				unpack(argument_output(l, k), bufs[p->loops->n_inputs + k], &out[k]);
		return true;
	}
	if (!m->error->len)
		buf_printf(m->error, e.kind == LOOP_BROKEN ? "the loop IR is wrong: %s" : "%s", e.text);
	return false;
}

static bool same_outputs(const struct hir_unit *u, const struct tensor *got, const struct tensor *want, struct buf *error)
{
	for (uint32_t k = 0; k < u->n_outputs; k++) {
		struct comparison c;
		if (!compare_tensors(&got[k], &want[k], tolerance_of(want[k].elem, -1, -1), &c, error))
			return false;
		if (!c.n_wrong)
			continue;
		buf_printf(error, "output %u: %lld of %lld elements differ, element %lld is %.9g and not %.9g", k, (long long)c.n_wrong,
			   (long long)c.n, (long long)c.worst, c.got, c.want);
		return false;
	}
	return true;
}

/* The run fails as a run of the reference interpreter does, or has the same outputs. */
static bool execute(const struct reference_call *c, struct arena *a, struct tensor *out, struct buf *error)
{
	struct buf expected = {0};
	struct ir_program *program = lower_program(a, c->model->program, lower_summaries(a, c->model->program, NULL), NULL);
	struct machine m = {a, c, program, ARENA_ARRAY(a, const struct plan *, c->model->program->n_units + 1), error};
	struct tensor *want = ARENA_ARRAY(a, struct tensor, c->unit->n_outputs + 1);
	program_decide(program, the_target, true, NULL);
	bool fails = !writes_outputs && !reference_interpret(c, a, want, &expected), ok = interpret_loops(&m, out);
	ir_program_free(program);
	if (ok && fails) {
		buf_printf(error, "the reference interpreter fails: %s", expected.at);
		ok = false;
	}
	buf_free(&expected);
	return ok && (writes_outputs || same_outputs(c->unit, out, want, error));
}

static int run(struct arena *a, int argc, char **argv)
{
	struct args args;
	struct buf error = {0};
	for (int k = 0; argc > 2 && k < TARGET_COUNT; k++)
		if (!strcmp(target_get((enum target_id)k)->name, argv[1]))
			the_target = target_get((enum target_id)k);
	if (!the_target || !args_parse(a, argc - 1, argv + 1, &args, &error)) {
		fprintf(stderr, "usage: loop-run TARGET run MODEL [FLAG]…\n%s\n", error.at ? error.at : "");
		buf_free(&error);
		return STATUS_USAGE;
	}
	buf_free(&error);
	if (!change_to_project(a, &args))
		return STATUS_ENVIRONMENT;
	writes_outputs = args.options.run.n_outputs > 0;
	return (int)reference_visit(&args.options, execute, run_once, &args.options);
}

int main(int argc, char **argv)
{
	struct arena *a = arena_new(0);
	int s = run(a, argc, argv);
	arena_free(a);
	return s;
}
