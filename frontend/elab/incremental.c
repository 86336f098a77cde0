/* A unit depends on what its elaboration read and on the faces of the units that it calls: their results' types and sizes, and what is known of them at
 * compile time. So a unit of which something changed is made again from the plan of its first call, in its old place; if its face is as it was, nothing else
 * has to know. What changes faces, declarations, layers or parameters is elaborated as a whole: that is rarer, and takes milliseconds. */
#include "frontend/elab/incremental.h"
#include <string.h>
#include "frontend/elab/program.h"
#include "frontend/elab/unit.h"

static void hash_input(struct hasher *h, const struct elab_input *in)
{
	hasher_add_str(h, in->name);
	hasher_add_u64(h, (uint64_t)in->elem << 8 | in->rank);
	hasher_add(h, in->dims, in->rank * sizeof *in->dims);
	hasher_add_str(h, in->unusable ? in->unusable : "");
}

static hash128 hash_request(const struct elab_request *req)
{
	struct hasher *h = hasher_new();
	hasher_add_u64(h, req->n_entries);
	for (uint32_t i = 0; i < req->n_entries; i++)
		hasher_add_str(h, req->entries[i]);
	hasher_add_u64(h, req->n_inputs);
	for (uint32_t i = 0; i < req->n_inputs; i++)
		hash_input(h, &req->inputs[i]);
	hasher_add_u64(h, req->n_weight_names);
	for (uint32_t i = 0; i < req->n_weight_names; i++)
		hasher_add_str(h, req->weight_names[i]);
	hasher_add_u64(h, req->n_weights);
	for (uint32_t i = 0; i < req->n_weights; i++)
		hash_input(h, &req->weights[i]);
	hasher_add_str(h, req->main ? req->main : "");
	return hasher_finish(h);
}

/* All that changed is in the program now. */
static void settle(struct frontend *f)
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
	settle(f);
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

/* A result that holds layers, or functions of theirs, hands out what was made with the unit. */
static bool plain_result(struct value v)
{
	static const enum value_kind odd[] = {V_LAYER, V_FN, V_LAYER_CLASS, V_TYPE, V_MODULE};
	for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
		if (value_contains(v, odd[i]))
			return false;
	return true;
}

static bool make_again(struct elab *e, struct elab_unit *old)
{
	struct unit_spec plan = *old->plan;
	hash128 identity = old->unit->identity;
	if (plan.fn->item->refresh.change == CHANGE_INTERFACE) /* then the plan is made differently */
		return false;
	plan.dims = dims_copy_at(e->em.f->session, plan.dims, old->sizes);
	struct elab_unit *now = unit_make(e, &plan, identity);
	if (now->failed || !plain_result(old->result) || !plain_result(now->result) ||
	    !hash_eq(unit_interface(e, old), unit_interface(e, now)))
		return false;
	*old->unit = *now->unit;
	now->unit = old->unit;
	*old = *now;
	return true;
}

static bool is_stale(const struct elab_unit *info) { return info->plan->fn->mod->reloaded || reads_changed(&info->reads); }

static bool make_stale_units(struct elab *e)
{
	struct frontend *f = e->em.f;
	uint32_t n = f->elab.calls.len; /* what is added meanwhile is made of what is there now */
	for (uint32_t i = 0; i < n; i++)
		if (is_stale(f->elab.calls.at[i]) && !make_again(e, f->elab.calls.at[i]))
			return false;
	return true;
}

/* ---- the program ---- */

/* Instances point into the text that they were made from. */
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

static struct hir_program *collect_again(struct elab *e, const struct elaborated *last, const struct elab_request *req)
{
	struct program p = {.e = e, .req = req};
	struct hir_program *out = NULL;
	for (uint32_t i = 0; i < last->program->n_entries; i++)
		program_add_entry(&p, last->program->entries[i]);
	for (uint32_t i = 0; i < last->program->n_params; i++)
		program_add_param(&p, last->program->params[i]);
	if (!p.invalid_calls)
		out = program_finish(&p);
	program_free(&p);
	return out;
}

static struct hir_program *try_again(struct elab *e, const struct elab_request *req)
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
	bool ok = make_stale_units(e) && !e->em.report.errors && !e->em.report.gave_up;
	frame_pop(e);
	builder_close(&e->em);
	return ok ? collect_again(e, last, req) : NULL;
}

struct hir_program *elab_incremental(struct frontend *f, const struct elab_request *req)
{
	struct elaborated *last = f->elab.last;
	if (!last || !hash_eq(last->request, hash_request(req)) || reads_changed(&last->reads) || layers_reloaded(f))
		return NULL;
	struct diags *heard = f->diags;
	struct elab e;
	f->diags = diags_new(1);
	elab_init(&e, f, false);
	struct hir_program *p = try_again(&e, req);
	if (diags_count(f->diags))
		p = NULL;
	elab_free(&e);
	diags_free(f->diags);
	f->diags = heard;
	if (p) {
		last->program = p;
		settle(f);
	}
	return p;
}
