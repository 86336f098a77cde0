/* A unit depends on what its elaboration read, and on the interfaces of the units that it calls: the types and sizes of their results,
 * and the results known at compile time. A unit with a changed input is made again from the arguments of its first call, and replaces
 * the old one. If its interface is the same, its callers stay valid. Changes of interfaces, declarations, layers or parameters elaborate
 * the whole program, which takes milliseconds. */
#include "frontend/elab/elaborate.h"
#include <string.h>
#include "frontend/elab/unit.h"
#include "frontend/elab/locals.h"
#include "frontend/elab/program.h"

static void hash_inputs(struct hasher *h, const struct elab_input *list, uint32_t n)
{
	hasher_add_u64(h, n);
	for (uint32_t i = 0; i < n; i++) {
		hasher_add_str(h, list[i].name);
		hasher_add_u64(h, (uint64_t)list[i].elem << 8 | list[i].rank);
		hasher_add(h, list[i].dims, list[i].rank * sizeof *list[i].dims);
		hasher_add_str(h, list[i].unusable ? list[i].unusable : "");
	}
}

static void incremental_hash_names(struct hasher *h, const char *const *names, uint32_t n)
{
	hasher_add_u64(h, n);
	for (uint32_t i = 0; i < n; i++)
		hasher_add_str(h, names[i]);
}

static hash128 hash_request(const struct elab_request *req)
{
	struct hasher *h = hasher_new();
	incremental_hash_names(h, req->entries, req->n_entries);
	hash_inputs(h, req->inputs, req->n_inputs);
	incremental_hash_names(h, req->weight_names, req->n_weight_names);
	hash_inputs(h, req->weights, req->n_weights);
	hasher_add_str(h, req->main ? req->main : "");
	return hasher_finish(h);
}

/* Marks all changes as elaborated. */
static void clear_changes(struct frontend *f)
{
	for (uint32_t i = 0; i < f->modules.len; i++) {
		struct module *m = f->modules.at[i];
		if (!m->reloaded)
			continue;
		m->reloaded = false;
		for (uint32_t k = 0; k < m->n_items; k++)
			m->items[k].refresh.change = CHANGE_NONE;
	}
}

void elab_save(struct frontend *f, const struct elab_request *req, struct hir_program *p, struct item_reads reads, uint64_t steps)
{
	if (!f->is_refreshable)
		return;
	f->elab.last = ARENA_NEW(f->session, struct elaborated);
	*f->elab.last = (struct elaborated){hash_request(req), p, reads, steps};
	clear_changes(f);
}

void elab_discard_saved(struct frontend *f)
{
	f->elab.last = NULL;
	if (!f->is_refreshable)
		return;
	map_free(&f->elab.units);
	f->elab.units = (struct map){0};
	f->elab.calls.len = 0;
}

/* ---- one unit ---- */

/* False for a result with layers or functions, which may point into what the old elaboration made. */
static bool is_plain_result(struct value v)
{
	static const enum value_kind complex[] = {V_LAYER, V_FN, V_LAYER_CLASS, V_TYPE, V_MODULE};
	for (size_t i = 0; i < sizeof complex / sizeof *complex; i++)
		if (value_contains(v, complex[i]))
			return false;
	return true;
}

static bool remake_unit(struct elab *e, struct elab_unit *old)
{
	struct unit_spec plan = *old->spec;
	hash128 identity = old->unit->identity;
	if (plan.fn->item->refresh.change == CHANGE_INTERFACE) /* its calls may pass other arguments */
		return false;
	plan.dims = dims_copy_at(e->em.f->session, plan.dims, old->sizes);
	struct elab_unit *new = unit_make(e, &plan, identity);
	if (new->failed || !is_plain_result(old->result) || !is_plain_result(new->result) ||
	    !hash_eq(unit_interface(e, old), unit_interface(e, new)))
		return false;
	*old->unit = *new->unit;
	new->unit = old->unit;
	*old = *new;
	return true;
}

static bool is_current_source(const struct frontend *f, uint32_t source)
{
	for (uint32_t i = 0; i < f->modules.len; i++)
		if (f->modules.at[i]->ast.tokens.src->id == source)
			return true;
	return source == SPAN_NO_SOURCE;
}

/* True if a node has a position in the old text of a file: an unchanged function of that file was evaluated at compile time. */
static bool has_old_positions(const struct frontend *f, const struct module *own, const struct hir_unit *u)
{
	for (uint32_t i = 0; i < u->n_nodes; i++) {
		const struct hir_node *n = &u->nodes[i];
		if (n->kind != HIR_INPUT && n->at.source != own->ast.tokens.src->id && !is_current_source(f, n->at.source))
			return true;
		bool has_bodies = n->kind == HIR_IF || n->kind == HIR_LOOP;
		if (has_bodies && (has_old_positions(f, own, n->callee) || (n->other && has_old_positions(f, own, n->other))))
			return true;
	}
	return false;
}

static bool is_stale(const struct frontend *f, const struct elab_unit *info)
{
	const struct module *own = info->spec->fn->mod;
	return own->reloaded || reads_changed(&info->reads) || has_old_positions(f, own, info->unit);
}

static bool remake_stale_units(struct elab *e)
{
	struct frontend *f = e->em.f;
	uint32_t n = f->elab.calls.len; /* units added by this loop are up to date */
	for (uint32_t i = 0; i < n; i++)
		if (is_stale(f, f->elab.calls.at[i]) && !remake_unit(e, f->elab.calls.at[i]))
			return false;
	return true;
}

/* ---- the program ---- */

/* True if a changed file has a layer with instances, which point into its old tree. */
static bool layers_reloaded(const struct frontend *f)
{
	for (uint32_t i = 0; i < f->modules.len; i++) {
		const struct module *m = f->modules.at[i];
		for (uint32_t k = 0; m->reloaded && k < m->n_items; k++)
			if (m->items[k].checked.has_instances)
				return true;
	}
	return false;
}

static struct hir_program *collect_program(struct elab *e, const struct elaborated *last, const struct elab_request *req)
{
	struct program p = {.e = e, .req = req};
	struct hir_program *out = NULL;
	for (uint32_t i = 0; i < last->program->n_entries; i++)
		program_add_entry(&p, last->program->entries[i]);
	for (uint32_t i = 0; i < last->program->n_params; i++)
		program_add_param(&p, last->program->params[i]);
	for (uint32_t i = 0; i < last->program->n_states; i++)
		vec_push(&p.states, last->program->states[i]);
	for (uint32_t i = 0; i < last->program->n_capacities; i++)
		vec_push(&p.capacities, last->program->capacities[i]);
	if (!p.invalid_calls)
		out = program_finish(&p);
	program_free(&p);
	return out;
}

static struct hir_program *update_program(struct elab *e, const struct elab_request *req)
{
	struct elaborated *last = e->em.f->elab.last;
	struct builder config;
	struct frame root = {.site.at = SPAN_NONE, .unit = &config};
	builder_open(&e->em, &config);
	config.open_params = true;
	frame_push(e, &root);
	for (uint32_t i = 0; i < e->em.f->modules.len && !root.mod; i++)
		if (!e->em.f->modules.at[i]->std)
			root.mod = e->em.f->modules.at[i];
	e->em.report.steps = last->steps;
	bool ok = remake_stale_units(e) && !e->em.report.errors && !e->em.report.gave_up;
	frame_pop(e);
	builder_close(&e->em);
	return ok ? collect_program(e, last, req) : NULL;
}

struct hir_program *elab_incremental(struct frontend *f, const struct elab_request *req)
{
	struct elaborated *last = f->elab.last;
	if (!last || !hash_eq(last->request, hash_request(req)) || reads_changed(&last->reads) || layers_reloaded(f))
		return NULL;
	struct diags *shown = f->diags;
	struct elab e;
	f->diags = diags_new(1);
	elab_init(&e, f, false);
	struct hir_program *p = update_program(&e, req);
	if (diags_count(f->diags))
		p = NULL;
	elab_free(&e);
	diags_free(f->diags);
	f->diags = shown;
	if (p) {
		last->program = p;
		clear_changes(f);
	}
	return p;
}
