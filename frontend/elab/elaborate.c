/* Elaborates a program: its entries, then its main blocks as one more entry. */
#include "frontend/elab/elaborate.h"
#include <string.h>
#include "frontend/elab/program.h"
#include "frontend/elab/unit.h"
#include "frontend/elab/locals.h"

/* ---- main ---- */

/* The program's parameter for each input of main's unit. */
static uint32_t *main_params(struct program *program)
{
	struct elab *e = program->e;
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
		params[i] = program_add_layer_param(program, ip, name);
	}
	return params;
}

/* Runs the main blocks of a file, in order. */
static void elaborate_run_main(struct elab *e, struct module *m)
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
static void elab_main(struct program *program, struct module *m)
{
	struct elab *e = program->e;
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
	elaborate_run_main(e, m);
	frame_pop(e);
	if (e->em.report.errors || e->em.report.gave_up) {
		builder_close(&e->em);
	} else {
		struct hir_entry entry = {.name = "main", .params = main_params(program)};
		entry.unit = unit_finish(e, &fn, hash_bytes("main", 4), "main", &nothing);
		program_add_entry(program, entry);
	}
	e->main_params = NULL;
	param_list_free(&names);
}

/* Renames entries with equal names to their names in the manifest: `Encoder` and `Decoder`, `A_step` and `B_step`. */
static void rename_equal_entries(struct program *program)
{
	struct elab *e = program->e;
	const char **names = ARENA_ARRAY(e->em.temp, const char *, program->entries.len + 1);
	for (uint32_t i = 0; i < program->entries.len; i++)
		names[i] = program->entries.at[i].name;
	for (uint32_t i = 0; i < program->entries.len; i++)
		for (uint32_t k = 0; k < program->entries.len; k++) {
			if (k == i || strcmp(names[i], names[k]) != 0)
				continue;
			char *own = arena_strdup(e->em.f->arena, program->req->entries[i]);
			for (char *c = own; *c; c++)
				*c = *c == '.' ? '_' : *c;
			program->entries.at[i].name = own;
		}
	for (uint32_t i = 0; i < program->entries.len; i++)
		for (uint32_t k = 0; k < i; k++)
			if (!strcmp(program->entries.at[i].name, program->entries.at[k].name)) {
				diag_add(e->em.f->diags, DIAG_ENTRY, program->req->at,
					 "the entries `%s` and `%s` are both called `%s` in the library", program->req->entries[k],
					 program->req->entries[i], program->entries.at[i].name);
				e->em.report.errors++;
				return;
			}
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
