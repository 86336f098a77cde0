#include "builder/build/dump.h"
#include <stdio.h>
#include <string.h>
#include "backend/ir/ir.h"
#include "backend/link/backend.h"
#include "backend/plan/figures.h"
#include "backend/target/target.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/measure.h"
#include "base/print.h"
#include "builder/build/link/quantized.h"
#include "builder/build/model/lines.h"
#include "builder/build/model/model.h"
#include "builder/build/model/project.h"
#include "builder/build/plan/programs.h"
#include "builder/build/session/context.h"
#include "builder/build/session/generators.h"
#include "builder/build/session/session.h"
#include "builder/build/tasks.h"
#include "builder/build/timing/timing.h"
#include "builder/manifest/build_spec.h"
#include "builder/manifest/options.h"
#include "builder/store/key.h"
#include "frontend/frontend.h"
#include "frontend/hir/hir.h"

static void dump_flush(FILE *out, struct buf *text)
{
	if (text->at)
		print_text(out, text);
	buf_clear(text);
}

#define OF_FILES (1u << DUMP_TOKENS | 1u << DUMP_AST)

static bool asks(const struct options *options, enum dump d) { return options->dumps >> d & 1; }

static const char *const dump_texts[] = {
	"",
#define DUMP(id, text) text,
#include "builder/manifest/dumps.def"
};

/* Only several dumps have titles. */
static void print_title(const struct build_request *request, enum dump d)
{
	uint32_t all = request->options->dumps;
	if (all & (all - 1))
		print(request->out, "==== %s ====\n", dump_texts[d]);
}

static void dump_model_files(FILE *out, const struct model_job *m, enum dump d, struct buf *text)
{
	for (uint32_t i = 0; i < frontend_files(m->frontend); i++) {
		const char *path = frontend_file_path(m->frontend, i);
		if (d == DUMP_TOKENS)
			frontend_dump_tokens(m->frontend, path, text);
		else
			frontend_dump_ast(m->frontend, path, text);
		dump_flush(out, text);
	}
}

enum step dump_files(const struct build_request *request, const struct project *p)
{
	const struct options *o = request->options;
	struct buf text = {0};
	for (enum dump d = DUMP_TOKENS; d <= DUMP_AST; d++) {
		if (asks(request->options, d))
			print_title(request, d);
		for (uint32_t i = 0; asks(request->options, d) && i < p->n_models; i++)
			dump_model_files(request->out, &p->models[i], d, &text);
	}
	buf_free(&text);
	bool last = o->dumps && !(o->dumps & ~OF_FILES);
	return last || o->stop == STOP_LEX || o->stop == STOP_PARSE ? STEP_DONE : STEP_NEXT;
}

/* Dumps from planning on are of each variant: a model with several has a title for each. */
static void print_variant(FILE *out, const struct variant *v)
{
	if (v->model->n_variants > 1)
		print(out, "==== %s for %s ====\n", v->model->spec->name, v->backend->title);
}

static bool dump_code(struct build_context *c, enum dump d, const struct hir_unit *u, const struct plan *p, struct buf *text)
{
	const struct loop_fn *f = p->loops;
	const struct plan_options o = p->options;
	struct buf error = {0};
	if (d == DUMP_LOOPS) {
		lines_print(c->sources, p->run_fn, f, text);
		loops_print(f, text);
		if (p->also) {
			buf_printf(text, "; for %s\n", target_get(o.target->also)->name);
			loops_print(p->also, text);
		}
		return true;
	}
	if (!tasks_open_generators(c))
		return false;
	struct codegen_target target = codegen_target_for(o.target, o.opt, o.size, o.profile_hook);
	struct codegen *g = generators_get(c->session->generators, 0, &target, &error);
	enum codegen_text what = d == DUMP_LLVM ? CODEGEN_LLVM : CODEGEN_ASM;
	bool ok = g && generators_api(c->session->generators)->dump(g, f, what, text, &error);
	if (!ok)
		diag_add(c->diags, DIAG_CODEGEN, u->at, "%s: %s", u->name, error.at ? error.at : "no reason given");
	buf_free(&error);
	return ok;
}

static bool is_program_pass(uint32_t stop) { return stop >= STOP_PASS && stop - STOP_PASS < FIRST_TENSOR_PASS; }

/* `d`: DUMP_NONE to run the passes only. */
static struct plan_trace trace_of(const struct options *o, enum dump d, const struct ir_notes *notes, struct buf *text)
{
	const char *stop = last_pass_of(o), *loops_after = o->loops_after ? o->loops_after : stop;
	return (struct plan_trace){
		.ir = {.stop = stop, .only = o->ir_after, .text = d == DUMP_IR ? text : NULL, .notes = notes},
		.loops = {.stop = stop, .only = loops_after, .text = d == DUMP_LOOPS && loops_after ? text : NULL},
	};
}

static const struct plan *plan_for_dump(struct diags *diags, struct timing *timing, const struct variant *v, struct arena *scratch,
					const struct hir_unit *u, struct plan_trace *trace)
{
	struct plan_figures figures = {0};
	struct plan_options o = key_unit_options(&v->model->spec->plan, v->target, v->program, u);
	phase_begin(PHASE_OPT, u->name);
	trace->ir.figures = figures.of + FIRST_TENSOR_PASS;
	trace->loops.figures = figures.of + FIRST_LOOP_PASS;
	const struct plan *p = plan_unit(scratch, u, &o, diags, trace);
	measure_end();
	timing_add_passes(timing, &figures);
	return p;
}

/* A dump without text: its pass did not run, or --stop-after came before it. Returns false. */
static bool dump_report_empty(struct diags *diags, const struct options *o, const struct model_job *m, enum dump d)
{
	const struct plan_options *plan = &m->spec->plan;
	const char *const after[] = {[DUMP_PROGRAM] = o->program_after, [DUMP_IR] = o->ir_after, [DUMP_LOOPS] = o->loops_after};
	const char *pass = d <= DUMP_LOOPS ? after[d] : NULL, *stop = last_pass_of(o);
	uint32_t listed = pass ? listed_pass_find(pass) : LISTED_PASSES;
	uint8_t least = listed < LISTED_PASSES ? listed_pass_level(listed) : 0;
	if (!plan->size && plan->opt < least) {
		struct diag *g = diag_add(diags, DIAG_DUMP_EMPTY, SPAN_NONE, "%s: the pass `%s` does not run at -O%u", m->spec->name, pass,
					  plan->opt);
		diag_help(diags, g, "it runs at -O%u and above", least);
		return false;
	}
	struct diag *g =
		diag_add(diags, DIAG_DUMP_EMPTY, SPAN_NONE, "%s: there is nothing to print with --dump-%s", m->spec->name, dump_texts[d]);
	if (stop)
		diag_help(diags, g, "leave out --stop-after=%s, which ends the build before it", stop);
	return false;
}

/* Sets *printed if there is text. */
static bool dump_unit(struct build_context *c, const struct variant *v, enum dump d, const struct hir_unit *u, struct buf *text,
		      bool *printed)
{
	struct arena *scratch = arena_new(0);
	bool ok = true;
	if (d == DUMP_TYPES) {
		hir_print(u, text);
	} else {
		const struct ir_notes notes = lines_notes(c->sources);
		struct plan_trace trace = trace_of(c->request.options, d, &notes, text);
		const struct plan *p = plan_for_dump(c->diags, c->timing, v, scratch, u, &trace);
		ok = p ? d <= DUMP_IR || trace.loops.text || dump_code(c, d, u, p, text) : trace.ir.stop && !diags_errors(c->diags);
	}
	*printed = *printed || text->len;
	dump_flush(c->request.out, text);
	arena_free(scratch);
	return ok;
}

/* Sets *printed if there is text. */
static void dump_decisions(struct build_context *c, const struct variant *v, struct buf *text, bool *printed)
{
	struct arena *scratch = arena_new(0);
	struct pass_trace trace = {.text = text, .only = c->request.options->program_after};
	phase_begin(PHASE_OPT, NULL);
	ir_program_free(program_of_variant(c->request.options, c->timing, v, scratch, &trace));
	measure_end();
	*printed = text->len;
	dump_flush(c->request.out, text);
	arena_free(scratch);
}

/* The text of a whole library, whose units share kernels. Sets *printed unless a unit stopped before its code. */
static bool dump_library(struct build_context *c, const struct variant *v, struct buf *text, bool *printed)
{
	const struct model_job *m = v->model;
	struct arena *a = arena_new(0);
	uint32_t n = m->program->n_units, errors = diags_errors(c->diags);
	const struct plan **units = ARENA_ARRAY(a, const struct plan *, n);
	bool complete = true;
	for (uint32_t k = 0; k < n; k++) {
		struct plan_trace trace = trace_of(c->request.options, DUMP_NONE, NULL, NULL);
		const struct plan *p = plan_for_dump(c->diags, c->timing, v, a, m->program->units[k], &trace);
		complete = p && complete;
		units[k] = p;
	}
	const struct ir_notes notes = lines_notes(c->sources);
	if (complete)
		v->backend->print(units, n, &notes, text);
	*printed = complete;
	dump_flush(c->request.out, text);
	arena_free(a);
	return diags_errors(c->diags) == errors;
}

/* True if the code generator makes the variant's code, or the dump is of an earlier stage. */
static bool has_stage(const struct variant *v, enum dump d)
{
	const struct backend *b = v->backend;
	return (b->library && b->library->emits_objects) || (d == DUMP_CODE ? b->print != NULL : d != DUMP_LLVM && d != DUMP_ASM);
}

static bool report_no_stage(struct diags *diags, const struct variant *v, enum dump d)
{
	struct diag *g = diag_add(diags, DIAG_DUMP_EMPTY, SPAN_NONE, "%s: --dump-%s prints code for processors, not for %s",
				  v->model->spec->name, dump_texts[d], v->backend->title);
	if (v->backend->print)
		diag_help(diags, g, "use --dump-code for what it emits, or `--emit library --dump-%s`", dump_texts[d]);
	return false;
}

static bool dump_variant(struct build_context *c, const struct variant *v, enum dump d)
{
	const struct hir_program *p = v->model->program;
	struct buf text = {0};
	bool ok = true, printed = d == DUMP_NONE, ends = is_program_pass(c->request.options->stop);
	if (d > DUMP_TYPES)
		print_variant(c->request.out, v);
	if (d == DUMP_PROGRAM)
		dump_decisions(c, v, &text, &printed);
	else if (d == DUMP_CODE && v->backend->print && !ends)
		ok = dump_library(c, v, &text, &printed);
	else if (d == DUMP_TYPES || !ends)
		for (uint32_t k = 0; k < p->n_units; k++)
			ok = dump_unit(c, v, d, p->units[k], &text, &printed) && ok;
	buf_free(&text);
	return ok && (printed || dump_report_empty(c->diags, c->request.options, v->model, d));
}

/* True if an earlier variant has the same plans, and code that is printed in the same way. */
static bool was_dumped(const struct model_job *m, uint32_t variant, enum dump d)
{
	const struct variant *v = &m->variants[variant], *other = m->variants;
	while (other < v && !(hash_eq(target_hash(other->target), target_hash(v->target)) && other->backend->stage == v->backend->stage &&
			      (d != DUMP_CODE || other->backend->print == v->backend->print)))
		other++;
	return other < v;
}

static bool dump_model(struct build_context *c, const struct model_job *m, enum dump d)
{
	uint32_t n = d == DUMP_NONE || d == DUMP_TYPES ? 1 : m->n_variants, dumped = 0;
	bool ok = true;
	if (m->failed)
		return true;
	for (uint32_t k = 0; k < n; k++) {
		if (!has_stage(&m->variants[k], d) || was_dumped(m, k, d))
			continue;
		ok = dump_variant(c, &m->variants[k], d) && ok;
		dumped++;
	}
	return dumped ? ok : report_no_stage(c->diags, &m->variants[0], d);
}

enum step dump_units(struct build_context *c, const struct project *p)
{
	const struct options *o = c->request.options;
	bool ok = true;
	for (enum dump d = DUMP_TYPES; d <= DUMP_CODE; d++) {
		if (asks(c->request.options, d))
			print_title(&c->request, d);
		for (uint32_t i = 0; asks(c->request.options, d) && i < p->n_models; i++)
			ok = dump_model(c, &p->models[i], d) && ok;
	}
	for (uint32_t i = 0; !o->dumps && o->stop >= STOP_PASS && i < p->n_models; i++)
		ok = dump_model(c, &p->models[i], DUMP_NONE) && ok;
	if (!ok)
		return STEP_FAILED;
	bool last = o->dumps && !asks(c->request.options, DUMP_QUANTIZED);
	return last || o->stop >= STOP_PASS || o->stop == STOP_ELABORATE ? STEP_DONE : STEP_NEXT;
}

enum step dump_after_check(const struct options *options) { return options->stop == STOP_TYPECHECK ? STEP_DONE : STEP_NEXT; }

enum step dump_after_plan(struct build_context *c, struct project *p)
{
	enum stop_stage stop = c->request.options->stop;
	bool ok = true;
	if (asks(c->request.options, DUMP_QUANTIZED)) {
		print_title(&c->request, DUMP_QUANTIZED);
		for (uint32_t i = 0; i < p->n_models; i++)
			ok = pack_print_quantized(&c->stores, c->diags, &c->request, &p->models[i]) && ok;
		return ok ? STEP_DONE : STEP_FAILED;
	}
	return stop == STOP_IR || stop == STOP_OPT ? STEP_DONE : STEP_NEXT;
}
