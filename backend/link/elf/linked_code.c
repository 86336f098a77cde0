#include "backend/link/elf/linked_code.h"
#include <string.h>
#include "backend/link/elf/lines.h"
#include "backend/link/elf/link_state.h"
#include "base/arena.h"
#include "base/map.h"

/* ---- rows ---- */

static void find_rows(const struct link *l, uint32_t object, struct linked_code *c)
{
	const struct object *o = l->request->objects[object];
	c->o = o;
	c->layer = "";
	c->lines = l->request->lines ? l->request->lines[object] : NULL;
	if (!c->lines || !o->origins)
		return;
	for (uint32_t i = 0; i < o->n_sections; i++) {
		const struct link_section *s = &l->sections[l->first_section[object] + i];
		if (!s->live || s->kind != SECTION_TEXT || strcmp(s->from->name, ".text") != 0)
			continue;
		uint32_t n = (uint32_t)(o->n_origins / sizeof(struct code_row));
		struct code_row *rows = ARENA_ARRAY(l->a, struct code_row, n + 1);
		memcpy(rows, o->origins, n * sizeof *rows); /* they may be unaligned */
		for (uint32_t k = 0; k < n; k++)
			if (rows[k].offset >= s->from->size || (k && rows[k].offset < rows[k - 1].offset))
				return;
		rows[n].offset = (uint32_t)s->from->size;
		c->section = i;
		c->address = s->address;
		c->rows = rows;
		c->n = n;
		return;
	}
}

const struct line_origin *linked_code_place(const struct linked_code *c, uint32_t number)
{
	const struct line_statement *s = number && number <= c->lines->n_statements ? &c->lines->statements[number - 1] : NULL;
	return &c->lines->origins[s && s->n_origins ? s->origins[0] : 0];
}

/* ---- places in the model ---- */

static const char *linked_code_join(struct arena *a, const char *outer, const char *inner)
{
	return !*outer ? inner : !*inner ? outer : arena_printf(a, "%s.%s", outer, inner);
}

/* Returns the object that the statement calls. */
static bool find_callee(const struct map *objects, const struct line_statement *s, uint64_t *callee)
{
	return map_get(objects, map_key_str(s->name), callee);
}

/* Gives what the unit calls one more place for each of its own. Adds callees whose callers are all done to the queue. */
static void visit_calls(const struct link *l, const struct map *objects, struct linked_code *all, uint32_t object, uint32_t *callers,
			uint32_t *queue, uint32_t *n)
{
	const struct linked_code *c = &all[object];
	for (uint32_t i = 0; i < c->lines->n_statements; i++) {
		const struct line_statement *s = &c->lines->statements[i];
		uint64_t callee;
		if (!find_callee(objects, s, &callee))
			continue;
		struct linked_code *to = &all[callee];
		if (!to->n_layers)
			to->layer = linked_code_join(l->a, c->layer, s->n_origins ? c->lines->origins[s->origins[0]].layer : "");
		to->n_layers = to->n_layers > UINT32_MAX - c->n_layers ? UINT32_MAX : to->n_layers + c->n_layers;
		if (--callers[callee] == 0)
			queue[(*n)++] = (uint32_t)callee;
	}
}

/* Units are visited after all their callers. The fragment of a unit is shared by its places and knows none, so they come from the calls. */
static void find_layers(const struct link *l, struct linked_code *all)
{
	uint32_t n_objects = l->request->n_objects, n = 0;
	uint32_t *callers = ARENA_ARRAY(l->a, uint32_t, n_objects + 1), *queue = ARENA_ARRAY(l->a, uint32_t, n_objects + 1);
	struct map objects = {0};
	uint64_t callee;
	for (uint32_t i = 0; i < l->n_symbols; i++)
		if (l->symbols[i]->global && l->symbols[i]->function && l->symbols[i]->section != OBJ_UNDEFINED &&
		    all[l->symbol_object[i]].lines)
			map_put(&objects, map_key_str(l->symbols[i]->name), l->symbol_object[i]);
	for (uint32_t i = 0; i < n_objects; i++)
		for (uint32_t k = 0; all[i].lines && k < all[i].lines->n_statements; k++)
			if (find_callee(&objects, &all[i].lines->statements[k], &callee))
				callers[callee]++;
	for (uint32_t i = 0; i < n_objects; i++)
		if (all[i].lines && !callers[i]) {
			all[i].n_layers = 1;
			queue[n++] = i;
		}
	for (uint32_t k = 0; k < n; k++)
		visit_calls(l, &objects, all, queue[k], callers, queue, &n);
	map_free(&objects);
}

struct linked_code *linked_code_find(const struct link *l)
{
	struct linked_code *all = ARENA_ARRAY(l->a, struct linked_code, l->request->n_objects + 1);
	for (uint32_t i = 0; i < l->request->n_objects; i++)
		find_rows(l, i, &all[i]);
	if (l->request->lines)
		find_layers(l, all);
	return all;
}

/* ---- names ---- */

static uint32_t statement_of(const struct linked_code *c, const struct obj_symbol *s)
{
	for (uint32_t k = 0; k < c->n; k++)
		if (c->rows[k].number && c->rows[k].offset >= s->value && c->rows[k].offset < s->value + s->size)
			return c->rows[k].number;
	return 0;
}

const char *linked_code_name(struct arena *a, const struct linked_code *c, const struct obj_symbol *s)
{
	const char *layer = c->layer, *what = "", *unit = c->lines->origins[0].function;
	const char *more = c->n_layers > 1 ? arena_printf(a, " and %u more", c->n_layers - 1) : "";
	size_t n = strlen(s->name);
	if (!s->global) { /* LLVM's names are "nest", "nest.1" */
		const struct line_origin *o = linked_code_place(c, statement_of(c, s));
		layer = linked_code_join(a, layer, o->layer);
		what = arena_printf(a, "%s%s%s%.*s", *layer && *o->operation ? " " : "", o->operation, *layer || *o->operation ? " " : "",
				    (int)strcspn(s->name, "."), s->name);
	}
	const char *end = s->global && n > 8 && strcmp(s->name + n - 8, "_scratch") == 0 ? ", memory" : "";
	return arena_printf(a, "%s%s%s%s%s%s", layer, what, more, *layer || *what ? ": " : "", unit, end);
}
