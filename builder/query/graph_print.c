/* A graph as Graphviz's dot and as JSON. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "base/buf.h"
#include "base/foreign.h"
#include "base/json.h"
#include "builder/query/graph.h"

static void quote(const char *s, struct buf *out) { foreign_printf(out, FOREIGN_DOT, "\"%s\"", s); }

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

static bool graph_print_is_shown(const struct data_flow *flow, uint32_t step) { return flow->steps[step].kind != FLOW_PARAMETER; }

/* The statements of a unit, and the values between them. Parameters are left out. */
static void put_flow(const struct graph_unit *unit, uint32_t number, struct buf *out)
{
	for (uint32_t i = 0; i < unit->flow.n_steps; i++) {
		const struct flow_step *s = &unit->flow.steps[i];
		if (!graph_print_is_shown(&unit->flow, i))
			continue;
		buf_printf(out, "            u%" PRIu32 "_%" PRIu32 " [shape=%s, label=", number, i,
			   s->kind == FLOW_INPUT || s->kind == FLOW_OUTPUT ? "plain" : "box");
		quote(s->layer && *s->layer ? s->layer : s->name, out);
		buf_puts(out, "]\n");
	}
	for (uint32_t i = 0; i < unit->flow.n_values; i++) {
		const struct flow_value *v = &unit->flow.values[i];
		if (!graph_print_is_shown(&unit->flow, v->from))
			continue;
		buf_printf(out, "            u%" PRIu32 "_%" PRIu32 " -> u%" PRIu32 "_%" PRIu32 " [label=", number, v->from, number, v->to);
		quote(v->type, out);
		buf_puts(out, "]\n");
	}
}

static void graph_print_put_unit(const struct graph_unit *unit, uint32_t number, int64_t most, struct buf *out)
{
	buf_printf(out, "        subgraph cluster_u%" PRIu32 " {\n            label=\"\"\n            u%" PRIu32 " [label=", number,
		   number);
	quote(unit->name, out);
	buf_puts(out, ", tooltip=");
	quote(unit->signature, out);
	buf_puts(out, ", fillcolor=");
	put_colour(unit->cost_ns, most, out);
	buf_puts(out, unit->built ? "]\n" : ", style=\"dashed,rounded\"]\n");
	put_flow(unit, number, out);
	buf_puts(out, "        }\n");
}

void graph_print_dot(const struct graph *g, struct buf *out)
{
	int64_t most = longest_compile(g);
	buf_puts(out, "digraph trib {\n    rankdir=LR\n    node [shape=box, style=\"filled,rounded\", fillcolor=white, fontname=sans]\n"
		      "    edge [fontname=sans, fontsize=9]\n");
	for (uint32_t m = 0; m < g->n_models; m++) {
		const struct graph_model *k = &g->models[m];
		buf_printf(out, "    subgraph cluster_%" PRIu32 " {\n        label=", m);
		quote(k->name, out);
		buf_putc(out, '\n');
		for (uint32_t i = k->first_unit; i < k->first_unit + k->n_units; i++)
			graph_print_put_unit(&g->units[i], i, most, out);
		buf_puts(out, "    }\n");
	}
	for (uint32_t i = 0; i < g->n_units; i++)
		for (uint32_t k = 0; k < g->units[i].links.n_uses; k++)
			buf_printf(out, "    u%" PRIu32 " -> u%" PRIu32 " [style=dashed]\n", i, g->units[i].links.uses[k]);
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

void graph_put_def(const struct graph *g, const struct graph_def *def, struct json_writer *w)
{
	json_open(w, '{');
	json_member_int(w, "id", def - g->defs);
	json_member_str(w, "name", def->name);
	json_member_str(w, "kind", def->kind);
	json_member_str(w, "file", def->file);
	json_member_int(w, "line", def->line);
	json_member_bool(w, "std", def->std);
	json_member_str(w, "signature", def->signature);
	json_member_str(w, "type", def->type);
	json_member_open(w, "types", '[');
	for (uint32_t i = 0; i < def->n_types; i++) {
		json_open(w, '{');
		json_member_str(w, "kind", def->types[i].kind);
		json_member_str(w, "name", def->types[i].name);
		json_member_str(w, "type", def->types[i].type);
		json_close(w, '}');
	}
	json_close(w, ']');
	numbers(w, "uses", def->links.uses, def->links.n_uses);
	numbers(w, "used_by", def->links.used_by, def->links.n_used_by);
	json_close(w, '}');
}

static void graph_print_put_number(struct json_writer *w, const char *key, uint32_t v)
{
	json_key(w, key);
	if (v == GRAPH_NONE)
		json_none(w);
	else
		json_int(w, v);
}

static void put_step(const struct flow_step *step, struct json_writer *w)
{
	json_open(w, '{');
	json_member_str(w, "kind", step_kind_text(step->kind));
	json_member_str(w, "name", step->name);
	if (step->layer)
		json_member_str(w, "layer", step->layer);
	if (step->line)
		json_member_int(w, "line", step->line);
	if (step->unit != GRAPH_NONE)
		json_member_int(w, "unit", step->unit);
	if (step->other != GRAPH_NONE)
		json_member_int(w, "other", step->other);
	json_close(w, '}');
}

static void put_data_flow(const struct data_flow *flow, struct json_writer *w)
{
	json_member_open(w, "steps", '[');
	for (uint32_t i = 0; i < flow->n_steps; i++)
		put_step(&flow->steps[i], w);
	json_close(w, ']');
	json_member_open(w, "values", '[');
	for (uint32_t i = 0; i < flow->n_values; i++) {
		json_open(w, '{');
		json_member_int(w, "from", flow->values[i].from);
		json_member_int(w, "to", flow->values[i].to);
		json_member_str(w, "type", flow->values[i].type);
		json_close(w, '}');
	}
	json_close(w, ']');
}

void graph_put_unit(const struct graph *g, const struct graph_unit *unit, struct json_writer *w)
{
	char key[33];
	hash_hex(unit->key, key);
	json_open(w, '{');
	json_member_int(w, "id", unit - g->units);
	json_member_str(w, "model", g->models[unit->model].name);
	json_member_str(w, "name", unit->name);
	json_member_str(w, "signature", unit->signature);
	json_member_str(w, "definition", unit->definition);
	graph_print_put_number(w, "definition_id", unit->def);
	json_member_str(w, "file", unit->file);
	json_member_int(w, "line", unit->line);
	json_member_bool(w, "built", unit->built);
	json_member_bool(w, "current", unit->current);
	json_member_str(w, "key", unit->built ? key : NULL);
	json_key(w, "compile_ms");
	if (unit->cost_ns > 0)
		json_num(w, (double)unit->cost_ns / 1e6);
	else
		json_none(w);
	numbers(w, "uses", unit->links.uses, unit->links.n_uses);
	numbers(w, "used_by", unit->links.used_by, unit->links.n_used_by);
	put_data_flow(&unit->flow, w);
	json_close(w, '}');
}

void graph_print_json(const struct graph *g, struct buf *out)
{
	struct json_writer w = {.out = out};
	json_open(&w, '{');
	json_member_str(&w, "type", "graph");
	json_member_open(&w, "models", '[');
	for (uint32_t i = 0; i < g->n_models; i++) {
		const struct graph_model *m = &g->models[i];
		json_open(&w, '{');
		json_member_str(&w, "name", m->name);
		json_member_open(&w, "files", '[');
		for (uint32_t k = 0; k < m->n_files; k++)
			json_str(&w, m->files[k]);
		json_close(&w, ']');
		json_member_open(&w, "entries", '[');
		for (uint32_t k = 0; k < m->n_entries; k++) {
			json_open(&w, '{');
			json_member_str(&w, "name", m->entries[k].name);
			json_member_int(&w, "unit", m->entries[k].unit);
			json_close(&w, '}');
		}
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
