#include "builder/query/graph.h"
#include <string.h>
#include "backend/link/backend.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/vec.h"
#include "builder/build/model/model.h"
#include "builder/build/model/project.h"
#include "builder/build/session/context.h"
#include "builder/store/costs.h"
#include "builder/store/history.h"
#include "frontend/def_graph.h"
#include "frontend/hir/hir.h"
#include "frontend/index/index.h"

typedef VEC(uint32_t) numbers;

struct maker {
	const struct build_context *c;
	struct arena *a;
	struct graph *g;
	VEC(struct graph_def) defs;
	VEC(numbers) def_uses;
	struct map def_index; /* file and position → index in defs; models share files */
	struct model_defs {
		const struct def_graph *graph;
		uint32_t *number; /* graph node → index in defs */
	} *models;
	VEC(struct graph_unit) units;
};

/* ---- definitions ---- */

static hash128 place_key(const char *file, uint32_t start) { return hash_combine(map_key_str(file), (hash128){start, 1}); }

/* The text of a span in one line. */
static const char *graph_text_at(const struct maker *m, span at)
{
	if (at.source == SPAN_NO_SOURCE)
		return "";
	const struct source *s = sources_get(m->c->sources, at.source);
	struct buf out = {0};
	for (uint32_t i = at.start; i < at.end; i++) {
		char c = s->text[i];
		bool blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
		if (!blank)
			buf_putc(&out, c);
		else if (out.len && out.at[out.len - 1] != ' ')
			buf_putc(&out, ' ');
	}
	while (out.len && (out.at[out.len - 1] == ' ' || out.at[out.len - 1] == '{'))
		out.len--;
	const char *text = arena_strndup(m->a, out.len ? out.at : "", out.len);
	buf_free(&out);
	return text;
}

static bool graph_has_type(enum symbol_kind k)
{
	return k == SYMBOL_ARG || k == SYMBOL_PARAM || k == SYMBOL_STATE || k == SYMBOL_MEMBER || k == SYMBOL_METHOD;
}

static void add_types(struct maker *m, const struct index *ix, uint32_t parent, const char *prefix, struct graph_def *d, uint32_t room)
{
	for (uint32_t i = index_next_child(ix, parent, SYMBOL_NONE); i != SYMBOL_NONE; i = index_next_child(ix, parent, i)) {
		const struct symbol *s = &ix->symbols.at[i];
		if (!graph_has_type(s->kind) || d->n_types == room)
			continue;
		const char *name = *prefix ? arena_printf(m->a, "%s.%s", prefix, s->name) : s->name;
		d->types[d->n_types++] = (struct graph_type){symbol_kind_text(s->kind), name, s->type};
		if (s->kind == SYMBOL_METHOD)
			add_types(m, ix, i, name, d, room);
	}
}

static uint32_t count_children(const struct index *ix, uint32_t parent)
{
	uint32_t n = 0;
	for (uint32_t i = index_next_child(ix, parent, SYMBOL_NONE); i != SYMBOL_NONE; i = index_next_child(ix, parent, i))
		n += 1 + (ix->symbols.at[i].kind == SYMBOL_METHOD ? count_children(ix, i) : 0);
	return n;
}

static struct graph_def make_def(struct maker *m, const struct index *ix, const struct def_node *n)
{
	const struct frontend_def *f = n->def;
	struct graph_def d = {.name = f->name, .file = f->file, .kind = "main", .signature = f->name, .std = n->std};
	d.line = source_position(m->c->sources, f->at.source, f->at.start).line;
	if (n->symbol == SYMBOL_NONE)
		return d;
	const struct symbol *s = &ix->symbols.at[n->symbol];
	uint32_t room = count_children(ix, n->symbol);
	d.kind = symbol_kind_text(s->kind);
	d.signature = graph_text_at(m, s->header);
	d.type = s->type;
	d.types = ARENA_ARRAY(m->a, struct graph_type, room + 1);
	add_types(m, ix, n->symbol, "", &d, room);
	return d;
}

static void add_once(numbers *list, uint32_t v)
{
	for (uint32_t i = 0; i < list->len; i++)
		if (list->at[i] == v)
			return;
	vec_push(list, v);
}

static void graph_add_definitions(struct maker *m, const struct model_job *job)
{
	const struct def_graph *d = def_graph_new(m->a, job->frontend, job->index_of_names);
	uint32_t *number = ARENA_ARRAY(m->a, uint32_t, d->n + 1);
	m->models[job->index] = (struct model_defs){d, number};
	for (uint32_t i = 0; i < d->n; i++) {
		hash128 key = place_key(d->nodes[i].def->file, d->nodes[i].def->at.start);
		uint64_t at = m->defs.len;
		if (map_get(&m->def_index, key, &at)) {
			number[i] = (uint32_t)at;
			continue;
		}
		number[i] = m->defs.len;
		map_put(&m->def_index, key, m->defs.len);
		struct graph_def def = make_def(m, job->index_of_names, &d->nodes[i]);
		vec_push(&m->defs, def);
		vec_push(&m->def_uses, ((numbers){0}));
	}
	for (uint32_t i = 0; i < d->n; i++)
		for (uint32_t k = 0; k < d->nodes[i].n_uses; k++)
			add_once(&m->def_uses.at[number[i]], number[d->nodes[i].uses[k]]);
}

/* Fills used_by from uses. */
static void link_back(struct arena *a, struct graph_links **all, uint32_t n)
{
	uint32_t *next = ARENA_ARRAY(a, uint32_t, n + 1);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < all[i]->n_uses; k++)
			all[all[i]->uses[k]]->n_used_by++;
	uint32_t **used_by = ARENA_ARRAY(a, uint32_t *, n + 1);
	for (uint32_t i = 0; i < n; i++)
		all[i]->used_by = used_by[i] = ARENA_ARRAY(a, uint32_t, all[i]->n_used_by + 1);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < all[i]->n_uses; k++) {
			uint32_t to = all[i]->uses[k];
			used_by[to][next[to]++] = i;
		}
}

static const uint32_t *graph_keep(struct arena *a, const numbers *v)
{
	uint32_t *copy = ARENA_ARRAY(a, uint32_t, v->len + 1);
	if (v->len)
		memcpy(copy, v->at, v->len * sizeof *copy);
	return copy;
}

static void finish_definitions(struct maker *m)
{
	struct graph *g = m->g;
	g->n_defs = m->defs.len;
	g->defs = ARENA_ARRAY(m->a, struct graph_def, g->n_defs + 1);
	struct graph_links **links = ARENA_ARRAY(m->a, struct graph_links *, g->n_defs + 1);
	for (uint32_t i = 0; i < g->n_defs; i++) {
		g->defs[i] = m->defs.at[i];
		g->defs[i].links.uses = graph_keep(m->a, &m->def_uses.at[i]);
		g->defs[i].links.n_uses = m->def_uses.at[i].len;
		links[i] = &g->defs[i].links;
		vec_free(&m->def_uses.at[i]);
	}
	link_back(m->a, links, g->n_defs);
	vec_free(&m->defs);
	vec_free(&m->def_uses);
	map_free(&m->def_index);
}

/* ---- units ---- */

static const char *signature_of(struct arena *a, const struct hir_unit *u)
{
	struct buf out = {0};
	buf_putc(&out, '(');
	for (uint32_t i = 0; i < u->n_inputs; i++)
		buf_printf(&out, "%s%s: %s", i ? ", " : "", u->inputs[i].name, hir_type_text(a, u, &u->inputs[i].type));
	buf_puts(&out, ") -> (");
	for (uint32_t i = 0; i < u->n_outputs; i++)
		buf_printf(&out, "%s%s: %s", i ? ", " : "", u->outputs[i].name, hir_type_text(a, u, hir_output_type(u, i)));
	buf_putc(&out, ')');
	const char *text = arena_strndup(a, out.at, out.len);
	buf_free(&out);
	return text;
}

static void graph_add_uses(struct maker *m, const struct hir_unit *u, const struct map *by_identity, uint32_t first, struct graph_unit *out)
{
	numbers uses = {0};
	uint64_t at;
	for (uint32_t i = 0; i < u->n_nodes; i++) {
		const struct hir_node *n = &u->nodes[i];
		if (!hir_calls(n->kind))
			continue;
		if (map_get(by_identity, n->callee->identity, &at))
			add_once(&uses, first + (uint32_t)at);
		if (n->other && map_get(by_identity, n->other->identity, &at))
			add_once(&uses, first + (uint32_t)at);
	}
	out->links.uses = graph_keep(m->a, &uses);
	out->links.n_uses = uses.len;
	vec_free(&uses);
}

static bool parts_hold(const struct hir_program *p, const struct map *by_identity, const struct unit_record *record)
{
	for (uint32_t i = 0; i < record->made.n_parts; i++) {
		const struct unit_part *part = &record->made.parts[i];
		if (part->kind != PART_INLINED)
			continue;
		uint64_t k;
		if (!map_get(by_identity, part->identity, &k) || !hash_eq(hir_unit_hash(p->units[k]), part->code))
			return false;
	}
	return true;
}

static void add_record(struct store *store, const struct hir_program *p, const struct hir_unit *u, const struct map *by_identity,
		       const struct unit_record *record, struct graph_unit *out)
{
	if (!record)
		return;
	out->built = true;
	out->key = record->key;
	out->cost_ns = (int64_t)cost_find(store, cost_key_unit(record->name, record->target, record->made.opt), (struct cost){0, 0}).ns;
	out->current = hash_eq(record->made.code, hir_unit_hash(u)) && parts_hold(p, by_identity, record);
}

static uint32_t def_of(const struct maker *m, const struct model_job *job, const struct hir_unit *u)
{
	const struct model_defs *d = &m->models[job->index];
	uint32_t at = u->at.source == SPAN_NO_SOURCE ? UINT32_MAX : def_graph_at(d->graph, u->at.source, u->at.start);
	return at == UINT32_MAX ? GRAPH_NONE : d->number[at];
}

static void graph_add_units(struct maker *m, const struct model_job *job, const struct history *history, struct graph_model *model)
{
	const struct hir_program *p = job->program;
	const char *backend = job->variants[0].backend->name;
	struct map by_identity = {0};
	uint64_t at;
	model->first_unit = m->units.len;
	model->n_units = p->n_units;
	for (uint32_t i = 0; i < p->n_units; i++)
		map_put(&by_identity, p->units[i]->identity, i);
	for (uint32_t i = 0; i < p->n_units; i++) {
		const struct hir_unit *u = p->units[i];
		struct graph_unit out = {.name = u->name, .file = u->file, .model = job->index, .def = def_of(m, job, u)};
		out.signature = signature_of(m->a, u);
		out.line = u->at.source == SPAN_NO_SOURCE ? 0 : source_position(m->c->sources, u->at.source, u->at.start).line;
		out.definition = out.def == GRAPH_NONE ? u->name : m->g->defs[out.def].name;
		graph_add_uses(m, u, &by_identity, model->first_unit, &out);
		out.flow = data_flow_of(m->a, u, m->c->sources, &by_identity, model->first_unit);
		add_record(m->c->stores.project, p, u, &by_identity, history_find(history, u->identity, backend), &out);
		vec_push(&m->units, out);
	}
	model->entries = ARENA_ARRAY(m->a, struct graph_entry, p->n_entries + 1);
	for (uint32_t i = 0; i < p->n_entries; i++)
		if (map_get(&by_identity, p->entries[i].unit->identity, &at))
			model->entries[model->n_entries++] = (struct graph_entry){p->entries[i].name, model->first_unit + (uint32_t)at};
	map_free(&by_identity);
}

static void add_files(struct maker *m, const struct model_job *job, struct graph_model *model)
{
	const char **files = ARENA_ARRAY(m->a, const char *, frontend_files(job->frontend) + 1);
	for (uint32_t i = 0; i < frontend_files(job->frontend); i++)
		files[i] = frontend_file_path(job->frontend, i);
	model->files = files;
	model->n_files = frontend_files(job->frontend);
}

struct graph *graph_new(const struct build_context *c, const struct project *p)
{
	struct maker m = {.c = c, .a = c->arena, .g = ARENA_NEW(c->arena, struct graph)};
	struct graph *g = m.g;
	m.models = ARENA_ARRAY(m.a, struct model_defs, p->n_models + 1);
	for (uint32_t i = 0; i < p->n_models; i++)
		graph_add_definitions(&m, &p->models[i]);
	finish_definitions(&m);
	g->n_models = p->n_models;
	g->models = ARENA_ARRAY(m.a, struct graph_model, g->n_models + 1);
	for (uint32_t i = 0; i < p->n_models; i++) {
		struct history *h = history_load(m.a, c->stores.project, p->models[i].spec->name);
		g->models[i].name = p->models[i].spec->name;
		add_files(&m, &p->models[i], &g->models[i]);
		graph_add_units(&m, &p->models[i], h, &g->models[i]);
		history_free(h);
	}
	g->n_units = m.units.len;
	g->units = ARENA_ARRAY(m.a, struct graph_unit, g->n_units + 1);
	if (g->n_units)
		memcpy(g->units, m.units.at, g->n_units * sizeof *g->units);
	struct graph_links **links = ARENA_ARRAY(m.a, struct graph_links *, g->n_units + 1);
	for (uint32_t i = 0; i < g->n_units; i++)
		links[i] = &g->units[i].links;
	link_back(m.a, links, g->n_units);
	vec_free(&m.units);
	return g;
}
