/* Runs the passes of passes.def. */
#include "backend/passes/passes.h"
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/bug.h"

enum { MAX_ROUNDS = 4, CLEAN_UPS = EARLY | LATE };

static const struct tensor_pass {
	struct pass pass;
	uint32_t groups;
	uint32_t (*run)(struct ir_fn *f, struct pass_context *c);
} passes[] = {
#define PASS(id, text, groups, level, needs, makes, breaks) {{text, level, needs, makes, breaks}, groups, pass_##id},
#include "backend/passes/passes.def"
#undef PASS
};

struct pass_context pass_context_new(const struct plan_options *options, struct diags *diags, struct pass_trace *trace)
{
	uint8_t level = options->size ? 2 : options->opt;
	return (struct pass_context){.target = options->target,
				     .program = options->program,
				     .opt = options->opt,
				     .size = options->size,
				     .diags = diags,
				     .run = {.level = level, .verify = options->verify, .facts = FACTS_OF_LOWERED, .trace = trace}};
}

static void passes_verify(const struct ir_fn *f, const struct pass_context *c, const char *after)
{
	if (!c->run.verify || c->failed)
		return;
	ir_verify_or_abort(f, after);
	BUG_ON((c->run.facts & FACT_BUILD_TIME) && !ir_build_time_is_marked(f));
	BUG_ON((c->run.facts & FACT_LEGAL) && !pass_is_legal(f, c->target));
}

static bool passes_run_one(enum pass_number k, struct ir_fn *f, struct pass_context *c)
{
	const struct pass *p = &passes[k].pass;
	if (!pass_begin(&c->run, p))
		return false;
	uint32_t changes = passes[k].run(f, c);
	pass_end(&c->run, p, k, changes);
	if (changes && !(p->makes & FACT_SETTLED))
		c->run.facts &= ~(uint32_t)FACT_SETTLED;
	passes_verify(f, c, p->text);
	struct buf *text = pass_text(&c->run, p, changes);
	if (text)
		ir_print_with_notes(f, c->run.trace->notes, text);
	return changes > 0;
}

static void run_group(enum pass_group group, struct ir_fn *f, struct pass_context *c)
{
	bool changed = true;
	for (uint32_t round = 0; changed && round < MAX_ROUNDS; round++) {
		changed = false;
		for (enum pass_number k = 0; k < PASS_COUNT && !c->failed; k++)
			if (passes[k].groups & group)
				changed |= passes_run_one(k, f, c);
	}
	if (group & CLEAN_UPS)
		c->run.facts |= FACT_SETTLED;
}

bool passes_run(struct ir_fn *f, struct pass_context *c, uint32_t groups)
{
	c->run.arena = f->unit;
	passes_verify(f, c, "lower");
	for (enum pass_group g = EARLY; g <= LAYOUT; g <<= 1)
		if ((groups & g) && !((g & CLEAN_UPS) && (c->run.facts & FACT_SETTLED)))
			run_group(g, f, c);
	return !c->failed;
}

bool pass_run_named(const char *name, struct ir_fn *f, struct pass_context *c)
{
	c->run.arena = f->unit;
	for (enum pass_number k = 0; k < PASS_COUNT; k++) {
		if (strcmp(passes[k].pass.text, name) != 0)
			continue;
		c->run.facts |= passes[k].pass.needs;
		passes_run_one(k, f, c);
		return true;
	}
	return false;
}
