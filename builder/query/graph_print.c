/* A graph as Graphviz's dot, as JSON, and as a page. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "base/buf.h"
#include "base/json.h"
#include "builder/query/graph.h"

static void quote(const char *s, struct buf *out)
{
	buf_putc(out, '"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			buf_putc(out, '\\');
		buf_putc(out, *s);
	}
	buf_putc(out, '"');
}

static int64_t longest_compile(const struct graph *g)
{
	int64_t most = 1;
	for (uint32_t i = 0; i < g->n_units; i++)
		most = g->units[i].cost_ns > most ? g->units[i].cost_ns : most;
	return most;
}

/* A colour from white (no cost) to red (highest cost), on a logarithmic scale, as hue, saturation, value. */
static void put_colour(int64_t ns, int64_t most, struct buf *out)
{
	double share = ns > 0 ? 1 - log((double)most / (double)ns) / log(1000) : 0;
	share = share < 0.05 ? 0.05 : share;
	buf_printf(out, "\"%.3f %.2f 1\"", ns > 0 ? 0.16 * (1 - share) : 0.6, ns > 0 ? share : 0.05);
}

void graph_print_dot(const struct graph *g, struct buf *out)
{
	int64_t most = longest_compile(g);
	buf_puts(out, "digraph trib {\n    rankdir=LR\n    node [shape=box, style=\"filled,rounded\", fontname=sans]\n");
	for (uint32_t m = 0; m < g->n_models; m++) {
		const struct graph_model *k = &g->models[m];
		buf_printf(out, "    subgraph cluster_%" PRIu32 " {\n        label=", m);
		quote(k->name, out);
		buf_putc(out, '\n');
		for (uint32_t i = k->first_unit; i < k->first_unit + k->n_units; i++) {
			const struct graph_unit *u = &g->units[i];
			buf_printf(out, "        u%" PRIu32 " [label=", i);
			quote(u->name, out);
			buf_puts(out, ", tooltip=");
			quote(u->signature, out);
			buf_puts(out, ", fillcolor=");
			put_colour(u->cost_ns, most, out);
			buf_puts(out, u->built ? "]\n" : ", style=\"dashed,rounded\"]\n");
		}
		buf_puts(out, "    }\n");
	}
	for (uint32_t i = 0; i < g->n_units; i++)
		for (uint32_t k = 0; k < g->units[i].links.n_uses; k++)
			buf_printf(out, "    u%" PRIu32 " -> u%" PRIu32 "\n", i, g->units[i].links.uses[k]);
	buf_puts(out, "}\n");
}

/* ---- JSON ---- */

static void numbers(struct json_writer *w, const char *key, const uint32_t *v, uint32_t n)
{
	json_member_open(w, key, '[');
	for (uint32_t i = 0; i < n; i++)
		json_int(w, v[i]);
	json_close(w, ']');
}

void graph_put_def(const struct graph *g, const struct graph_def *d, struct json_writer *w)
{
	json_open(w, '{');
	json_member_int(w, "id", d - g->defs);
	json_member_str(w, "name", d->name);
	json_member_str(w, "kind", d->kind);
	json_member_str(w, "file", d->file);
	json_member_int(w, "line", d->line);
	json_member_bool(w, "std", d->std);
	json_member_str(w, "signature", d->signature);
	json_member_str(w, "type", d->type);
	json_member_open(w, "types", '[');
	for (uint32_t i = 0; i < d->n_types; i++) {
		json_open(w, '{');
		json_member_str(w, "kind", d->types[i].kind);
		json_member_str(w, "name", d->types[i].name);
		json_member_str(w, "type", d->types[i].type);
		json_close(w, '}');
	}
	json_close(w, ']');
	numbers(w, "uses", d->links.uses, d->links.n_uses);
	numbers(w, "used_by", d->links.used_by, d->links.n_used_by);
	json_close(w, '}');
}

void graph_put_unit(const struct graph *g, const struct graph_unit *u, struct json_writer *w)
{
	char key[33];
	hash_hex(u->key, key);
	json_open(w, '{');
	json_member_int(w, "id", u - g->units);
	json_member_str(w, "model", g->models[u->model].name);
	json_member_str(w, "name", u->name);
	json_member_str(w, "signature", u->signature);
	json_member_str(w, "definition", u->definition);
	json_key(w, "definition_id");
	if (u->def == GRAPH_NONE)
		json_none(w);
	else
		json_int(w, u->def);
	json_member_str(w, "file", u->file);
	json_member_int(w, "line", u->line);
	json_member_bool(w, "built", u->built);
	json_member_bool(w, "current", u->current);
	json_member_str(w, "key", u->built ? key : NULL);
	json_key(w, "compile_ms");
	if (u->cost_ns > 0)
		json_num(w, (double)u->cost_ns / 1e6);
	else
		json_none(w);
	numbers(w, "uses", u->links.uses, u->links.n_uses);
	numbers(w, "used_by", u->links.used_by, u->links.n_used_by);
	json_close(w, '}');
}

void graph_print_json(const struct graph *g, struct buf *out)
{
	struct json_writer w = {.out = out};
	json_open(&w, '{');
	json_member_open(&w, "models", '[');
	for (uint32_t i = 0; i < g->n_models; i++) {
		const struct graph_model *m = &g->models[i];
		json_open(&w, '{');
		json_member_str(&w, "name", m->name);
		json_member_open(&w, "files", '[');
		for (uint32_t k = 0; k < m->n_files; k++)
			json_str(&w, m->files[k]);
		json_close(&w, ']');
		json_member_int(&w, "first_unit", m->first_unit);
		json_member_int(&w, "units", m->n_units);
		json_close(&w, '}');
	}
	json_close(&w, ']');
	json_member_open(&w, "definitions", '[');
	for (uint32_t i = 0; i < g->n_defs; i++)
		graph_put_def(g, &g->defs[i], &w);
	json_close(&w, ']');
	json_member_open(&w, "units", '[');
	for (uint32_t i = 0; i < g->n_units; i++)
		graph_put_unit(g, &g->units[i], &w);
	json_close(&w, ']');
	json_close(&w, '}');
	buf_putc(out, '\n');
}

/* ---- the page ---- */

/* Escapes `<` in JSON: otherwise a string could end the script element. */
static void put_in_script(const struct buf *json, struct buf *out)
{
	for (size_t i = 0; i < json->len; i++) {
		if (json->at[i] == '<')
			buf_puts(out, "\\u003c");
		else
			buf_putc(out, json->at[i]);
	}
}

void graph_print_html(const struct graph *g, struct buf *out)
{
	static const char mark[] = "/*GRAPH*/";
	struct buf json = {0};
	const char *page = graph_page(), *at = strstr(page, mark);
	graph_print_json(g, &json);
	buf_put(out, page, (size_t)(at - page));
	put_in_script(&json, out);
	buf_puts(out, at + sizeof mark - 1);
	buf_free(&json);
}
