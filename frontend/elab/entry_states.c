#include "frontend/elab/entry_states.h"
#include "base/buf.h"

/* The size that grows is one symbol for all states with one capacity. */
static dim filled_length(struct elab *e, struct unit_spec *plan, const struct layer_param *state)
{
	for (uint32_t i = 0; i < plan->states.at.len; i++) {
		const struct layer_param *other = plan->states.at.at[i];
		if (other->axis != STATE_FIXED && other->capacity == state->capacity)
			return plan->tensors.at[plan->values[plan->n_values - plan->states.at.len + i].u.t].type.dims[other->axis];
	}
	return dim_new_sym(e->em.b->dims, name_text(e->em.f, state->capacity));
}

void specify_states(struct elab *e, struct unit_spec *plan, const struct entry_states *s)
{
	struct value *values = ARENA_ARRAY(e->em.f->arena, struct value, plan->n_values + s->all.at.len + 1);
	for (uint32_t i = 0; i < plan->n_values; i++)
		values[i] = plan->values[i];
	plan->values = values;
	for (uint32_t i = 0; i < s->all.at.len; i++) {
		struct layer_param *p = s->all.at.at[i];
		struct tensor_arg l = {.name = s->all.names.at[i], .type = p->type};
		if (!s->used[i])
			continue;
		for (uint32_t k = 0; k < l.type.rank; k++) {
			int64_t size = 0;
			dim_is_const(p->dims, p->type.dims[k], &size);
			l.type.dims[k] = k == p->axis ? filled_length(e, plan, p) : dim_const(e->em.b->dims, size);
		}
		vec_push(&plan->tensors, l);
		vec_push(&plan->states.at, p);
		vec_push(&plan->states.names, s->all.names.at[i]);
		plan->values[plan->n_values++] = value_tensor(plan->tensors.len - 1);
	}
}

/* The filled length of state i after a run. */
static dim final_length(const struct unit_spec *spec, const struct elab_unit *info, uint32_t i)
{
	const struct hir_unit *u = info->unit;
	uint32_t axis = spec->states.at.at[i]->axis;
	if (info->states[i].kind == V_TENSOR)
		return u->nodes[u->outputs[info->states[i].u.t].node].type.dims[axis];
	return u->inputs[u->n_inputs - spec->states.at.len + i].type.dims[axis];
}

static const char *length_text(struct elab *e, const struct dims *d, dim length)
{
	struct buf b = {0};
	dim_print(d, length, &b);
	return take_text(&e->em, &b);
}

bool lengths_agree(struct elab *e, const struct unit_spec *spec, const struct elab_unit *info)
{
	const struct param_list *s = &spec->states;
	const struct dims *d = info->unit->dims;
	for (uint32_t i = 0; i < s->at.len; i++)
		for (uint32_t k = 0; k < i; k++) {
			struct layer_param *a = s->at.at[k], *b = s->at.at[i];
			if (a->axis == STATE_FIXED || b->axis == STATE_FIXED || a->capacity != b->capacity ||
			    dim_eq(final_length(spec, info, k), final_length(spec, info, i)))
				continue;
			const char *name = name_text(e->em.f, spec->fn->name), *cap = name_text(e->em.f, a->capacity);
			struct diag *g = report_error(&e->em, DIAG_STATE_LENGTH, node_span(spec->fn->mod, spec->fn->node),
						      "`%s` leaves state `%s` with length %s, but `%s` with %s", name, s->names.at[k],
						      length_text(e, d, final_length(spec, info, k)), s->names.at[i],
						      length_text(e, d, final_length(spec, info, i)));
			diag_secondary(e->em.report.out, g, a->at, "states with the capacity `%s` have one length", cap);
			diag_help(e->em.report.out, g, "change all of them alike, or give them different capacities: `cap %s2`", cap);
			return false;
		}
	return true;
}
