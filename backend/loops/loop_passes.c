/* Runs the passes of loop_passes.def. */
#include "backend/loops/loop_passes.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/bug.h"

static const struct loop_pass {
	struct pass pass;
	uint32_t (*run)(struct loop_fn *f, struct loop_pass_context *c);
} passes[] = {
#define LOOP_PASS(id, text, level, needs, makes, breaks) {{text, level, needs, makes, breaks}, loop_pass_##id},
#include "backend/loops/loop_passes.def"
#undef LOOP_PASS
};

struct each_nest {
	struct loop_fn *f;
	const struct target *target;
	loop_nest_pass *fn;
	uint32_t changes;
};

static void loop_passes_visit_nest(void *ctx, const struct loop_nest *n)
{
	struct each_nest *e = ctx;
	e->changes += e->fn(e->f, (struct loop_nest *)(uintptr_t)n, e->target); /* of a function that is not const */
}

uint32_t loops_each_nest(struct loop_fn *f, const struct loop_pass_context *c, loop_nest_pass *fn)
{
	struct each_nest e = {f, c->options->target, fn, 0};
	for (uint32_t k = 0; k < f->n_stmts; k++)
		loop_stmt_nests(&f->stmts[k], loop_passes_visit_nest, &e);
	return e.changes;
}

static void loop_passes_verify(const struct loop_fn *f, const char *after)
{
	struct buf why = {0};
	if (loops_verify(f, &why))
		return;
	buf_printf(&why, "after %s", after);
	BUG(why.at);
}

static void loop_passes_run_one(enum loop_pass_number k, struct loop_fn *f, struct loop_pass_context *c)
{
	const struct pass *p = &passes[k].pass;
	if (!pass_begin(&c->run, p))
		return;
	uint32_t changes = passes[k].run(f, c);
	pass_end(&c->run, p, k, changes);
	if (c->run.verify)
		loop_passes_verify(f, p->text);
	struct buf *text = pass_text(&c->run, p, changes);
	if (text)
		loops_print(f, text);
}

struct loop_fn *loops_build(struct arena *unit, const struct loop_source *source, const struct plan_options *o, struct pass_trace *trace)
{
	struct loop_pass_context c = {
		.source = source,
		.options = o,
		.dims = source->fn->dims,
		.run = {.level = o->size ? 2 : o->opt, .verify = o->verify, .trace = trace, .arena = unit},
	};
	struct loop_fn *f = ARENA_NEW(unit, struct loop_fn);
	*f = (struct loop_fn){.unit = unit, .symbol = source->fn->name, .dims = c.dims, .scratch = dim_const(c.dims, LOOP_NOT_PLACED)};
	for (enum loop_pass_number k = 0; k < LOOP_PASS_COUNT; k++)
		loop_passes_run_one(k, f, &c);
	if (c.run.stopped)
		return NULL;
	pass_require(&c.run, FACT_BUILT | FACT_SCHEDULED | FACT_ALLOCATED, "code generation");
	return f;
}
