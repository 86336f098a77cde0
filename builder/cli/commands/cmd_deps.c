/* trib deps: what a definition, file or model uses, and what uses it, with inferred types, keys and compile times. */
#include <stdio.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/print.h"
#include "builder/build/load.h"
#include "builder/cli/command.h"
#include "builder/cli/print.h"
#include "builder/query/graph.h"

static enum status unknown(struct arena *a, const struct graph *g, const char *word)
{
	uint32_t n = 0, most = g->n_defs + g->n_models;
	const char **names = ARENA_ARRAY(a, const char *, most + 1);
	for (uint32_t i = 0; i < g->n_defs; i++)
		names[n++] = g->defs[i].name;
	for (uint32_t i = 0; i < g->n_models; i++)
		names[n++] = g->models[i].name;
	const char *near = diag_nearest(word, names, n);
	if (near)
		return fail_usage("there is no definition, file or model `%s`; did you mean `%s`?", word, near);
	return fail_usage("there is no definition, file or model `%s`; `trib deps` lists the definitions", word);
}

/* ---- text ---- */

static void print_list(const struct graph *g, const char *title, const uint32_t *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct graph_def *d = &g->defs[v[i]];
		print(stdout, "  %-8s %s (%s:%u)\n", i ? "" : title, d->name, d->file, d->line);
	}
}

static void deps_print_unit(const struct graph *g, const struct graph_unit *unit)
{
	char key[33];
	hash_hex(unit->key, key);
	print(stdout, "  unit     %s%s%s\n           %s\n", unit->name, g->n_models > 1 ? " of " : "",
	      g->n_models > 1 ? g->models[unit->model].name : "", unit->signature);
	if (!unit->built)
		return;
	print(stdout, "           key %s", key);
	if (unit->cost_ns > 0)
		print(stdout, ", compiled in %.1f ms", (double)unit->cost_ns / 1e6);
	print(stdout, "%s\n", unit->current ? "" : ", changed since");
}

static void print_def(const struct graph *g, const struct graph_def *def)
{
	print(stdout, "%s  %s:%u\n  %s%s%s\n", def->name, def->file, def->line, def->signature,
	      def->type && !strstr(def->signature, "->") ? " -> " : "", def->type && !strstr(def->signature, "->") ? def->type : "");
	for (uint32_t i = 0; i < def->n_types; i++)
		print(stdout, "  %-8s %s: %s\n", i ? "" : "types", def->types[i].name,
		      def->types[i].type ? def->types[i].type : "differs between uses");
	print_list(g, "uses", def->links.uses, def->links.n_uses);
	print_list(g, "used by", def->links.used_by, def->links.n_used_by);
	for (uint32_t i = 0; i < g->n_units; i++)
		if (g->units[i].def == (uint32_t)(def - g->defs))
			deps_print_unit(g, &g->units[i]);
}

static void deps_print_line(const struct graph *g, const struct graph_def *def)
{
	print(stdout, "%s:%u %s", def->file, def->line, def->name);
	for (uint32_t i = 0; i < def->links.n_uses; i++)
		print(stdout, "%s%s", i ? ", " : " -> ", g->defs[def->links.uses[i]].name);
	print(stdout, "\n");
}

/* ---- selection ---- */

static bool in_model(const struct graph *g, const struct graph_model *model, const struct graph_def *def)
{
	for (uint32_t i = model->first_unit; i < model->first_unit + model->n_units; i++)
		if (g->units[i].def == (uint32_t)(def - g->defs))
			return true;
	return false;
}

struct chosen {
	const struct graph_model *model;
	bool *defs, in_full;
	uint32_t n;
};

static struct chosen deps_choose(struct arena *a, const struct graph *g, const char *word)
{
	struct chosen c = {.defs = ARENA_ARRAY(a, bool, g->n_defs + 1), .in_full = true};
	for (uint32_t i = 0; i < g->n_defs; i++)
		c.n += c.defs[i] = word ? strcmp(g->defs[i].name, word) == 0 : !g->defs[i].std;
	c.in_full = word && c.n;
	for (uint32_t i = 0; i < g->n_defs && !c.in_full; i++)
		if (word)
			c.n += c.defs[i] = strcmp(g->defs[i].file, word) == 0;
	for (uint32_t m = 0; m < g->n_models && !c.n && word; m++)
		if (strcmp(g->models[m].name, word) == 0)
			c.model = &g->models[m];
	for (uint32_t i = 0; i < g->n_defs && c.model; i++)
		c.n += c.defs[i] = in_model(g, c.model, &g->defs[i]);
	return c;
}

static void print_chosen(const struct graph *g, const struct chosen *c)
{
	for (uint32_t i = 0; c->model && i < c->model->n_files; i++)
		print(stdout, "%s %s\n", i ? "     " : "files", c->model->files[i]);
	for (uint32_t i = 0; i < g->n_defs; i++)
		if (c->defs[i])
			(c->in_full ? print_def : deps_print_line)(g, &g->defs[i]);
	for (uint32_t i = 0; c->model && i < c->model->n_units; i++)
		deps_print_unit(g, &g->units[c->model->first_unit + i]);
}

static void deps_print_as_json(const struct graph *g, const struct chosen *c)
{
	struct buf out = {0};
	struct json_writer w = {.out = &out};
	json_open(&w, '{');
	json_member_open(&w, "definitions", '[');
	for (uint32_t i = 0; i < g->n_defs; i++)
		if (c->defs[i])
			graph_put_def(g, &g->defs[i], &w);
	json_close(&w, ']');
	json_member_open(&w, "units", '[');
	for (uint32_t i = 0; i < g->n_units; i++)
		if (g->units[i].def != GRAPH_NONE && c->defs[g->units[i].def])
			graph_put_unit(g, &g->units[i], &w);
	json_close(&w, ']');
	json_close(&w, '}');
	print_json(&out);
}

static enum status deps_show(struct arena *a, const struct graph *g, const struct options *asked)
{
	const char *word = asked->n_operands ? asked->operands[0] : NULL;
	struct chosen c = deps_choose(a, g, word);
	if (word && !c.n && !c.model)
		return unknown(a, g, word);
	if (asked->format == PRINT_JSON)
		deps_print_as_json(g, &c);
	else
		print_chosen(g, &c);
	return STATUS_OK;
}

enum status cmd_deps(const struct options *o)
{
	struct options all = *o;
	struct loaded_project l;
	if (o->n_operands > 1)
		return fail_usage("`trib deps` takes one definition, file or model, or none");
	all.n_operands = 0;
	enum status s = project_load(&l, &all, LOAD_INDEXED);
	if (s == STATUS_OK)
		s = deps_show(l.context.arena, graph_new(&l.context, &l.project), o);
	return project_unload(&l, s);
}
