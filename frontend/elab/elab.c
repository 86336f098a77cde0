/* The elaborator's state and frames. */
#include "frontend/elab/elab.h"
#include "frontend/elab/expr.h"
#include "frontend/elab/locals.h"

static struct elab *elab_of(struct emitter *em) { return (struct elab *)em; }

static struct value evaluate_call(struct emitter *em, struct value callee, struct args *args, span at, const char *what)
{
	return call_value(elab_of(em), callee, args, at, what);
}

static bool elab_find_name(struct emitter *em, name_id name, span at, struct value *out) { return name_lookup(elab_of(em), name, at, out); }

static bool find_global(struct emitter *em, struct module *mod, struct instance *self, name_id name, span at, struct value *out)
{
	return name_lookup_static(elab_of(em), mod, self, name, at, out);
}

static void bind_constant(struct emitter *em, name_id name, struct value v) { local_push(elab_of(em), name, v, true); }

static void note_type_error(struct emitter *em, span at) { local_note_type_error(elab_of(em), at); }

static const struct evaluator evaluator = {evaluate_call, elab_find_name, find_global, bind_constant, note_type_error};

void elab_init(struct elab *e, struct frontend *f, bool checking)
{
	static const char *const exits[EXIT_COUNT] = {"$returned", "$result", "$left", "$skipped"};
	*e = (struct elab){.em = {.f = f, .evaluator = &evaluator, .temp = arena_new(16 * 1024), .checking = checking}};
	e->em.report = (struct reporter){
		.out = f->diags, .discarded = diags_new(1), .max_steps = ELAB_MAX_STEPS + ELAB_STEPS_PER_TOKEN * f->resolver.n_tokens};
	for (int i = 0; i < EXIT_COUNT; i++)
		e->exit_names[i] = intern_str(f->names, exits[i]);
}

void elab_reset(struct elab *e)
{
	e->em.report.errors = 0;
	e->em.report.gave_up = e->em.report.steps > e->em.report.max_steps;
	e->locals.len = 0;
}

void elab_free(struct elab *e)
{
	while (e->em.b)
		builder_close(&e->em);
	diags_free(e->em.report.discarded);
	vec_free(&e->locals);
	arena_free(e->em.temp);
}
