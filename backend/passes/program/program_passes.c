/* Runs the passes of program_passes.def. */
#include "backend/passes/program/program_passes.h"
#include <string.h>
#include "base/buf.h"
#include "base/bug.h"

static const struct program_pass {
	struct pass pass;
	uint32_t (*run)(struct ir_program *p, const struct target *t);
} passes[] = {
#define PROGRAM_PASS(id, text, level, needs, makes, breaks) {{text, level, needs, makes, breaks}, program_pass_##id},
#include "backend/passes/program/program_passes.def"
#undef PROGRAM_PASS
};

static void verify_program(const struct ir_program *p, const char *after)
{
	struct buf why = {0};
	if (ir_program_verify(p, &why))
		return;
	buf_printf(&why, ", after %s", after);
	BUG(why.at);
}

static void print_program(const struct ir_program *p, struct buf *text)
{
	if (text)
		ir_program_print(p, text);
}

static void run_program_pass(enum program_pass_number k, struct ir_program *p, struct program_pass_context *c)
{
	const struct pass *row = &passes[k].pass;
	if (!pass_begin(&c->run, row))
		return;
	uint32_t changes = passes[k].run(p, c->target);
	pass_end(&c->run, row, k, changes);
	if (c->run.verify)
		verify_program(p, row->text);
	print_program(p, pass_text(&c->run, row, changes));
}

void program_decide(struct ir_program *p, const struct target *t, bool verify, struct pass_trace *trace)
{
	struct program_pass_context c = {.target = t, .run = {.verify = verify, .trace = trace, .arena = p->arena}};
	if (verify)
		verify_program(p, "summaries");
	print_program(p, pass_stage_text(&c.run, "summaries"));
	for (enum program_pass_number k = 0; k < PROGRAM_PASS_COUNT; k++)
		run_program_pass(k, p, &c);
}

bool program_pass_run_named(const char *name, struct ir_program *p, const struct target *t)
{
	for (enum program_pass_number k = 0; k < PROGRAM_PASS_COUNT; k++) {
		if (strcmp(passes[k].pass.text, name) != 0)
			continue;
		passes[k].run(p, t);
		verify_program(p, name);
		return true;
	}
	return false;
}
