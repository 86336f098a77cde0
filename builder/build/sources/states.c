/* The initial values of states, and the capacities that the manifest sets. */
#include "builder/build/sources/states.h"
#include <string.h>
#include "base/arena.h"
#include "base/diag.h"
#include "builder/build/model/model.h"
#include "builder/manifest/build_spec.h"
#include "builder/manifest/manifest.h"
#include "frontend/hir/hir.h"

static void report_unknown(struct arena *arena, struct diags *diags, const struct model_job *m, const struct capacity_spec *of)
{
	const struct hir_program *p = m->program;
	const char **names = ARENA_ARRAY(arena, const char *, p->n_capacities + 1);
	for (uint32_t i = 0; i < p->n_capacities; i++)
		names[i] = p->capacities[i].name;
	const char *near = diag_nearest(of->name, names, p->n_capacities);
	struct diag *g =
		diag_add(diags, DIAG_MANIFEST_VALUE, of->at, "no state of model `%s` has the capacity `%s`", m->spec->name, of->name);
	if (near)
		diag_help(diags, g, "did you mean `state.%s`?", near);
	else if (p->n_capacities)
		diag_help(diags, g, "a state has the capacity `%s`", names[0]);
	else
		diag_help(diags, g, "declare one in a layer: `state k: Tensor<float32, [1, 8, cap %s, 64]>`", of->name);
}

static bool bind_capacities(struct arena *arena, struct diags *diags, struct model_job *m)
{
	const struct hir_program *p = m->program;
	bool ok = true;
	m->params.capacities = ARENA_ARRAY(m->link.arena, int64_t, p->n_capacities + 1);
	for (uint32_t k = 0; m->spec && k < m->spec->n_capacities; k++) {
		const struct capacity_spec *of = &m->spec->capacities[k];
		bool found = false;
		for (uint32_t i = 0; i < p->n_capacities; i++)
			if (strcmp(p->capacities[i].name, of->name) == 0) {
				m->params.capacities[i] = of->most;
				found = true;
			}
		if (!found)
			report_unknown(arena, diags, m, of);
		ok = ok && found;
	}
	return ok;
}

bool states_bind(struct arena *arena, struct diags *diags, struct model_job *m, struct weights_host host)
{
	const struct hir_program *p = m->program;
	bool ok = bind_capacities(arena, diags, m);
	m->params.initial_states = ARENA_ARRAY(m->link.arena, struct tensor, p->n_states + 1);
	for (uint32_t i = 0; i < p->n_states; i++) {
		const struct hir_state *s = &p->states[i];
		struct tensor *t = &m->params.initial_states[i];
		const struct hir_param as_param = {.name = s->name, .type = s->type, .dims = s->dims, .init = s->init, .at = s->at};
		const char *error = "";
		*t = (struct tensor){.elem = s->type.elem, .rank = s->type.rank};
		for (uint32_t k = 0; k < t->rank; k++)
			dim_is_const(s->dims, s->type.dims[k], &t->dims[k]);
		if (!s->init || host.init(host.ctx, m->link.arena, &as_param, hash64_bytes(s->name, strlen(s->name)), t, &error))
			continue;
		diag_add(diags, DIAG_WEIGHTS_INIT, s->at, "the initial value of state `%s` cannot be computed: %s", s->name, error);
		ok = false;
	}
	return ok;
}
