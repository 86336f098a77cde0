/* A program: its entries, its main blocks as one more entry, their parameters, and the units that they call. */
#include "frontend/elab/program.h"
#include <string.h>
#include "frontend/elab/incremental.h"
#include "frontend/elab/params.h"
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

/* ---- main ---- */

/* The program's parameter for each input of main's unit. */
static uint32_t *main_params(struct program *p)
{
	struct elab *e = p->e;
	const struct builder *b = e->em.b;
	uint32_t *params = ARENA_ARRAY(e->em.f->arena, uint32_t, b->opened.len + 1);
	for (uint32_t i = 0; i < b->opened.len; i++) {
		struct layer_param *ip = b->opened.at[i];
		const char *name = NULL;
		for (uint32_t k = 0; k < e->main_params->at.len && !name; k++)
			if (e->main_params->at.at[k] == ip)
				name = e->main_params->names.at[k];
		if (!name) /* of a layer that is not a local */
			name = arena_printf(e->em.f->arena, "%s%u.%s", name_text(e->em.f, ip->owner->item->name), ip->owner->id,
					    name_text(e->em.f, ip->name));
		params[i] = program_add_layer_param(p, ip, name);
	}
	return params;
}

/* Runs the main blocks of a file, in order. */
static void run_main(struct elab *e, struct module *m)
{
	for (uint32_t i = 0; i < m->n_items; i++) {
		enum flow flow;
		if (m->items[i].kind != ITEM_MAIN)
			continue;
		e->frame->returned = false;
		eval_block(e, ast_a(&m->ast, m->items[i].node), &flow);
	}
}

/* Elaborates the main blocks into one unit without run-time inputs. */
static void elab_main(struct program *p, struct module *m)
{
	struct elab *e = p->e;
	struct builder b;
	struct param_list names = {0};
	struct item *item = ARENA_NEW(e->em.f->arena, struct item);
	struct func fn = {.mod = m, .item = item};
	struct frame root = {.site.at = SPAN_NONE, .mod = m, .unit = &b};
	struct value nothing = {.kind = V_VOID};
	*item = (struct item){.kind = ITEM_MAIN, .name = intern_str(e->em.f->names, "main"), .mod = m};
	fn.name = item->name;
	builder_open(&e->em, &b);
	b.open_params = true;
	frame_push(e, &root);
	e->main_params = &names;
	run_main(e, m);
	frame_pop(e);
	if (e->em.report.errors || e->em.report.gave_up) {
		builder_close(&e->em);
	} else {
		struct hir_entry entry = {.name = "main", .params = main_params(p)};
		entry.unit = unit_finish(e, &fn, hash_bytes("main", 4), "main", &nothing);
		program_add_entry(p, entry);
	}
	e->main_params = NULL;
	param_list_free(&names);
}

/* Renames entries with equal names to their names in the manifest: `Encoder` and `Decoder`, `A_step` and `B_step`. */
static void rename_equal_entries(struct program *p)
{
	struct elab *e = p->e;
	const char **names = ARENA_ARRAY(e->em.temp, const char *, p->entries.len + 1);
	for (uint32_t i = 0; i < p->entries.len; i++)
		names[i] = p->entries.at[i].name;
	for (uint32_t i = 0; i < p->entries.len; i++)
		for (uint32_t k = 0; k < p->entries.len; k++) {
			if (k == i || strcmp(names[i], names[k]) != 0)
				continue;
			char *own = arena_strdup(e->em.f->arena, p->req->entries[i]);
			for (char *c = own; *c; c++)
				*c = *c == '.' ? '_' : *c;
			p->entries.at[i].name = own;
		}
	for (uint32_t i = 0; i < p->entries.len; i++)
		for (uint32_t k = 0; k < i; k++)
			if (!strcmp(p->entries.at[i].name, p->entries.at[k].name)) {
				diag_add(e->em.f->diags, DIAG_ENTRY, p->req->at,
					 "the entries `%s` and `%s` are both called `%s` in the library", p->req->entries[k],
					 p->req->entries[i], p->entries.at[i].name);
				e->em.report.errors++;
				return;
			}
}

struct hir_program *program_finish(struct program *p)
{
	struct arena *a = p->e->em.f->arena;
	struct hir_program *out = ARENA_NEW(a, struct hir_program);
	*out = (struct hir_program){.n_entries = p->entries.len, .n_params = p->params.len, .n_units = p->units.len};
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
	vec_free(&p->entries);
	vec_free(&p->units);
	map_free(&p->param_ids);
	map_free(&p->seen);
}

struct hir_program *elab_program(struct elab *e, const struct elab_request *req)
{
	struct program p = {.e = e, .req = req};
	struct builder config;
	struct frame root = {.site.at = SPAN_NONE, .unit = &config};
	struct reads reads;
	elab_discard_saved(e->em.f);
	builder_open(&e->em, &config);
	reads_open(&e->em, &reads);
	config.open_params = true;
	frame_push(e, &root);
	for (uint32_t i = 0; i < e->em.f->modules.len && !root.mod; i++)
		if (!e->em.f->modules.at[i]->std)
			root.mod = e->em.f->modules.at[i];
	for (uint32_t i = 0; i < req->n_entries && root.mod; i++)
		elab_entry(&p, req->entries[i]);
	if (p.entries.len == req->n_entries)
		rename_equal_entries(&p);
	for (uint32_t i = 0; i < e->em.f->modules.len && req->main; i++)
		if (!strcmp(e->em.f->modules.at[i]->path, req->main))
			elab_main(&p, e->em.f->modules.at[i]);
	bool whole = !e->em.report.errors && !e->em.report.gave_up && p.entries.len == req->n_entries + (req->main != NULL);
	struct hir_program *out = whole ? program_finish(&p) : NULL;
	struct item_reads read = reads_close(&e->em);
	if (out)
		elab_save(e->em.f, req, out, read, e->em.report.steps);
	frame_pop(e);
	builder_close(&e->em);
	program_free(&p);
	return out;
}
