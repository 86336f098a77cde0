/* --dump-… and --stop-after=…: the text of a stage instead of a library. */
#include <stdio.h>
#include "backend/loops/loops.h"
#include "base/arena.h"
#include "base/diag.h"
#include "builder/build/generators.h"
#include "builder/build/state.h"
#include "builder/manifest/options.h"
#include "builder/store/key.h"
#include "frontend/hir/hir.h"

static void flush(struct build *b, struct buf *text)
{
	if (text->at)
		fputs(text->at, b->out);
	buf_clear(text);
}

#define OF_FILES (1u << DUMP_TOKENS | 1u << DUMP_AST)

static bool asks(const struct build *b, enum dump d) { return b->options->dumps >> d & 1; }

/* Tells several dumps from each other; one alone is printed as it is. */
static void print_title(struct build *b, enum dump d)
{
	static const char *const titles[] = {"", "tokens", "ast", "types", "ir", "loops", "llvm", "asm"};
	uint32_t all = b->options->dumps;
	if (all & (all - 1))
		fprintf(b->out, "==== %s ====\n", titles[d]);
}

static void dump_files(struct build *b, struct model_job *m, enum dump d, struct buf *text)
{
	for (uint32_t i = 0; i < frontend_files(m->frontend); i++) {
		const char *path = frontend_file_path(m->frontend, i);
		if (d == DUMP_TOKENS)
			frontend_dump_tokens(m->frontend, path, text);
		else
			frontend_dump_ast(m->frontend, path, text);
		flush(b, text);
	}
}

/* Stages of the front end, once the files are read. True: that was all. */
bool build_dump_files(struct build *b)
{
	struct buf text = {0};
	for (enum dump d = DUMP_TOKENS; d <= DUMP_AST; d++) {
		if (asks(b, d))
			print_title(b, d);
		for (uint32_t i = 0; asks(b, d) && i < b->n_models; i++)
			dump_files(b, &b->models[i], d, &text);
	}
	buf_free(&text);
	bool last = b->options->dumps && !(b->options->dumps & ~OF_FILES);
	b->done = last || b->options->stop == STOP_LEX || b->options->stop == STOP_PARSE;
	return true;
}

static bool dump_code(struct build *b, struct model_job *m, enum dump d, const struct hir_unit *u, const struct plan *p,
		      struct arena *scratch, struct buf *text)
{
	const struct loop_fn *f = loops_build(scratch, p);
	struct plan_options o = key_unit_options(&m->spec->plan, u);
	struct buf error = {0};
	if (d == DUMP_LOOPS) {
		loops_print(f, text);
		return true;
	}
	if (!build_open_generators(b))
		return false;
	struct codegen *g = generators_get(b->generators, 0, &m->platform, o.opt, o.size, &error);
	enum codegen_text what = d == DUMP_LLVM ? CODEGEN_LLVM : CODEGEN_ASM;
	bool ok = g && generators_api(b->generators)->dump(g, f, what, text, &error);
	if (!ok)
		diag_add(b->diags, DIAG_CODEGEN, u->at, "%s: %s", u->name, error.at ? error.at : "no reason given");
	buf_free(&error);
	return ok;
}

static bool dump_unit(struct build *b, struct model_job *m, enum dump d, const struct hir_unit *u, struct buf *text)
{
	struct arena *scratch = arena_new(0);
	struct plan_options o = key_unit_options(&m->spec->plan, u);
	bool ok = true;
	if (d == DUMP_TYPES) {
		hir_print(u, text);
	} else {
		const struct plan *p = plan_unit(scratch, u, &o, b->diags, d == DUMP_IR ? text : NULL);
		ok = p && (d == DUMP_IR || dump_code(b, m, d, u, p, scratch, text));
	}
	flush(b, text);
	arena_free(scratch);
	return ok;
}

static bool dump_model(struct build *b, struct model_job *m, enum dump d)
{
	struct buf text = {0};
	bool ok = true;
	for (uint32_t k = 0; !m->failed && k < m->program->n_units; k++)
		ok = dump_unit(b, m, d, m->program->units[k], &text) && ok;
	buf_free(&text);
	return ok;
}

bool build_dump(struct build *b)
{
	bool ok = true;
	for (enum dump d = DUMP_TYPES; d <= DUMP_ASM; d++) {
		if (asks(b, d))
			print_title(b, d);
		for (uint32_t i = 0; asks(b, d) && i < b->n_models; i++)
			ok = dump_model(b, &b->models[i], d) && ok;
	}
	b->done = b->options->dumps || b->options->stop == STOP_ELABORATE;
	return ok;
}

bool build_stop_after_check(struct build *b)
{
	b->done = b->options->stop == STOP_TYPECHECK;
	return true;
}

bool build_stop_after_plan(struct build *b)
{
	b->done = b->options->stop == STOP_IR || b->options->stop == STOP_OPT;
	return true;
}
