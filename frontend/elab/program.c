/* The parts of a program under construction: entries, parameters and units. */
#include "frontend/elab/program.h"
#include <string.h>
#include "frontend/elab/unit.h"

uint32_t program_add_param(struct program *p, struct hir_param cp)
{
	vec_push(&p->params, cp);
	return p->params.len - 1;
}

uint32_t program_add_layer_param(struct program *p, struct layer_param *ip, const char *name)
{
	uint64_t known;
	if (map_get(&p->param_ids, map_key_u64(ip->id), &known))
		return (uint32_t)known;
	struct hir_param cp = {.name = name, .type = ip->type, .dims = ip->dims, .at = ip->at, .init = param_init(p->e, ip)};
	const struct item *layer = ip->owner->item;
	cp.buffer = attr_find(layer->mod, ast_fn(&layer->mod->ast, layer->node).attrs, "nograd") != 0;
	uint32_t i = program_add_param(p, cp);
	map_put(&p->param_ids, map_key_u64(ip->id), i);
	return i;
}

void program_add_alias(struct program *p, uint32_t i, const char *name)
{
	struct hir_param *cp = &p->params.at[i];
	bool known = !strcmp(cp->name, name);
	for (uint32_t k = 0; k < cp->n_aliases; k++)
		known = known || !strcmp(cp->aliases[k], name);
	if (known)
		return;
	const char **more = ARENA_ARRAY(p->e->em.f->arena, const char *, cp->n_aliases + 1);
	if (cp->n_aliases)
		memcpy(more, cp->aliases, cp->n_aliases * sizeof *more);
	more[cp->n_aliases++] = name;
	cp->aliases = more;
}

static uint32_t add_capacity(struct program *p, const struct instance *root, const struct layer_param *state)
{
	uint64_t known;
	hash128 key = map_key_u64((uint64_t)root->id << 32 | state->capacity);
	if (state->axis == STATE_FIXED)
		return HIR_NONE;
	if (map_get(&p->capacity_ids, key, &known))
		return (uint32_t)known;
	struct hir_capacity c = {name_text(p->e->em.f, state->capacity), state->at};
	map_put(&p->capacity_ids, key, p->capacities.len);
	vec_push(&p->capacities, c);
	return p->capacities.len - 1;
}

uint32_t program_add_state(struct program *p, const struct instance *root, struct layer_param *state, const char *name)
{
	uint64_t known;
	if (map_get(&p->state_ids, map_key_u64(state->id), &known))
		return (uint32_t)known;
	struct hir_state s = {.name = name, .type = state->type, .dims = state->dims, .axis = state->axis, .at = state->at};
	s.capacity = add_capacity(p, root, state);
	s.init = param_init(p->e, state);
	map_put(&p->state_ids, map_key_u64(state->id), p->states.len);
	vec_push(&p->states, s);
	return p->states.len - 1;
}

/* ---- units, callees first ---- */

static void collect_units(struct program *p, struct hir_unit *u)
{
	uint64_t listed;
	if (map_get(&p->seen, u->identity, &listed)) {
		p->invalid_calls = p->invalid_calls || !listed;
		return;
	}
	map_put(&p->seen, u->identity, false);
	p->invalid_calls = p->invalid_calls || ++p->depth > ELAB_MAX_FRAMES;
	for (uint32_t i = 0; i < u->n_nodes; i++)
		if (hir_calls(u->nodes[i].kind)) {
			collect_units(p, u->nodes[i].callee);
			if (u->nodes[i].other)
				collect_units(p, u->nodes[i].other);
		}
	p->depth--;
	map_put(&p->seen, u->identity, true);
	vec_push(&p->units, u);
}

void program_add_entry(struct program *p, struct hir_entry entry)
{
	vec_push(&p->entries, entry);
	collect_units(p, entry.unit);
}

struct hir_program *program_finish(struct program *p)
{
	struct arena *a = p->e->em.f->arena;
	struct hir_program *out = ARENA_NEW(a, struct hir_program);
	*out = (struct hir_program){.n_entries = p->entries.len, .n_params = p->params.len, .n_units = p->units.len};
	out->n_states = p->states.len;
	out->n_capacities = p->capacities.len;
	out->states = ARENA_ARRAY(a, struct hir_state, p->states.len + 1);
	out->capacities = ARENA_ARRAY(a, struct hir_capacity, p->capacities.len + 1);
	for (uint32_t i = 0; i < p->states.len; i++)
		out->states[i] = p->states.at[i];
	for (uint32_t i = 0; i < p->capacities.len; i++)
		out->capacities[i] = p->capacities.at[i];
	out->entries = ARENA_ARRAY(a, struct hir_entry, p->entries.len + 1);
	out->params = ARENA_ARRAY(a, struct hir_param, p->params.len + 1);
	out->units = ARENA_ARRAY(a, struct hir_unit *, p->units.len + 1);
	for (uint32_t i = 0; i < p->entries.len; i++)
		out->entries[i] = p->entries.at[i];
	for (uint32_t i = 0; i < p->params.len; i++)
		out->params[i] = p->params.at[i];
	for (uint32_t i = 0; i < p->units.len; i++)
		out->units[i] = p->units.at[i];
	return out;
}

void program_free(struct program *p)
{
	vec_free(&p->layers);
	vec_free(&p->params);
	vec_free(&p->states);
	vec_free(&p->capacities);
	vec_free(&p->entries);
	vec_free(&p->units);
	map_free(&p->param_ids);
	map_free(&p->state_ids);
	map_free(&p->capacity_ids);
	map_free(&p->seen);
}
