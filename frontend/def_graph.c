/* The edges are the uses of names in the index. Definitions may use each other in a cycle, so the deep hash covers a strongly connected
 * component (Tarjan, "Depth-first search and linear graph algorithms", 1972): its token hashes and the deep hashes of the components
 * that it uses. */
#include "frontend/frontend.h"
#include "frontend/def_graph.h"
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"

#define NO_DEF UINT32_MAX

uint32_t def_graph_at(const struct def_graph *g, uint32_t source, uint32_t offset)
{
	uint32_t low = 0, high = g->n; /* sorted by source, then position */
	while (low < high) {
		uint32_t mid = (low + high) / 2;
		span at = g->nodes[mid].def->at;
		if (at.source < source || (at.source == source && at.end <= offset))
			low = mid + 1;
		else
			high = mid;
	}
	if (low == g->n || g->nodes[low].def->at.source != source || g->nodes[low].def->at.start > offset)
		return NO_DEF;
	return low;
}

/* ---- edges ---- */

/* The definition of a symbol, or the one that contains it. */
static uint32_t definition_of(const struct def_graph *g, const struct index *ix, uint32_t symbol)
{
	const struct symbol *s = &ix->symbols.at[symbol];
	while (s->parent != SYMBOL_NONE)
		s = &ix->symbols.at[s->parent];
	span at = s->kind == SYMBOL_ALIAS ? s->target : s->at;
	if (at.source == SPAN_NO_SOURCE || s->kind == SYMBOL_MODULE || s->kind == SYMBOL_BUILTIN)
		return NO_DEF;
	return def_graph_at(g, at.source, at.start);
}

static int def_graph_by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

static void def_graph_add_uses(struct arena *a, struct def_graph *g, const struct index *ix, uint32_t from)
{
	struct def_node *node = &g->nodes[from];
	uint32_t n, found = 0;
	const struct index_use *uses = index_uses_in(ix, node->def->at.source, &n);
	uint32_t first = 0, high = n;
	while (first < high) {
		uint32_t mid = (first + high) / 2;
		if (uses[mid].at.start < node->def->at.start)
			first = mid + 1;
		else
			high = mid;
	}
	for (high = first; high < n && uses[high].at.start < node->def->at.end; high++)
		continue;
	uint32_t *list = ARENA_ARRAY(a, uint32_t, high - first + 1);
	for (uint32_t i = first; i < high; i++) {
		if (uses[i].symbol == SYMBOL_NONE) /* a member such as `x.shape`, which has a type but no definition */
			continue;
		uint32_t to = definition_of(g, ix, uses[i].symbol);
		if (to != NO_DEF && to != from)
			list[found++] = to;
	}
	qsort(list, found, sizeof *list, def_graph_by_number);
	for (uint32_t i = 0; i < found; i++)
		if (!node->n_uses || list[node->n_uses - 1] != list[i])
			list[node->n_uses++] = list[i];
	node->uses = list;
}

/* ---- deep hashes ---- */

struct walk {
	struct def_graph *g;
	uint32_t *number, *low; /* number: 0 means not visited */
	bool *open;
	uint32_t *stack, n_stack, next;
	struct step {
		uint32_t node, use;
	} *path; /* replaces recursion */
	uint32_t n_path;
};

static int by_hash(const void *a, const void *b)
{
	const hash128 *x = a, *y = b;
	if (x->hi != y->hi)
		return x->hi < y->hi ? -1 : 1;
	return (x->lo > y->lo) - (x->lo < y->lo);
}

/* Hashes the component on top of the stack, down to `root`. Order and positions of its definitions do not count. */
static void close_component(struct walk *w, uint32_t root)
{
	uint32_t first = w->n_stack, n = 0, most = 0;
	do
		w->open[w->stack[--first]] = false;
	while (w->stack[first] != root);
	for (uint32_t i = first; i < w->n_stack; i++)
		most += 1 + w->g->nodes[w->stack[i]].n_uses;
	hash128 *parts = malloc(most * sizeof *parts);
	if (!parts)
		abort();
	for (uint32_t i = first; i < w->n_stack; i++) {
		const struct def_node *d = &w->g->nodes[w->stack[i]];
		parts[n++] = d->def->tokens;
		for (uint32_t k = 0; k < d->n_uses; k++) {
			uint32_t to = d->uses[k];
			bool inside = w->number[to] >= w->number[root] && hash_is_zero(w->g->nodes[to].deep);
			if (!inside)
				parts[n++] = w->g->nodes[to].deep;
		}
	}
	qsort(parts, n, sizeof *parts, by_hash);
	hash128 all = hash_bytes(parts, n * sizeof *parts);
	free(parts);
	for (uint32_t i = first; i < w->n_stack; i++) {
		struct def_node *d = &w->g->nodes[w->stack[i]];
		d->deep = hash_combine(d->def->tokens, all);
	}
	w->n_stack = first;
}

static void def_graph_enter(struct walk *w, uint32_t node)
{
	w->number[node] = w->low[node] = ++w->next;
	w->open[node] = true;
	w->stack[w->n_stack++] = node;
	w->path[w->n_path++] = (struct step){node, 0};
}

static void def_graph_leave(struct walk *w, uint32_t node)
{
	w->n_path--;
	if (w->low[node] == w->number[node])
		close_component(w, node);
	if (!w->n_path)
		return;
	uint32_t up = w->path[w->n_path - 1].node;
	if (w->low[node] < w->low[up])
		w->low[up] = w->low[node];
}

static void walk_from(struct walk *w, uint32_t start)
{
	if (w->number[start])
		return;
	def_graph_enter(w, start);
	while (w->n_path) {
		struct step *s = &w->path[w->n_path - 1];
		const struct def_node *d = &w->g->nodes[s->node];
		if (s->use == d->n_uses) {
			def_graph_leave(w, s->node);
			continue;
		}
		uint32_t to = d->uses[s->use++];
		if (!w->number[to])
			def_graph_enter(w, to);
		else if (w->open[to] && w->number[to] < w->low[s->node])
			w->low[s->node] = w->number[to];
	}
}

static void hash_deep(struct def_graph *g)
{
	struct arena *scratch = arena_new(0);
	struct walk w = {.g = g};
	w.number = ARENA_ARRAY(scratch, uint32_t, g->n + 1);
	w.low = ARENA_ARRAY(scratch, uint32_t, g->n + 1);
	w.open = ARENA_ARRAY(scratch, bool, g->n + 1);
	w.stack = ARENA_ARRAY(scratch, uint32_t, g->n + 1);
	w.path = ARENA_ARRAY(scratch, struct step, g->n + 1);
	for (uint32_t i = 0; i < g->n; i++)
		walk_from(&w, i);
	arena_free(scratch);
}

static int def_graph_by_place(const void *a, const void *b)
{
	span x = ((const struct def_node *)a)->def->at, y = ((const struct def_node *)b)->def->at;
	if (x.source != y.source)
		return x.source < y.source ? -1 : 1;
	return (x.start > y.start) - (x.start < y.start);
}

struct def_graph *def_graph_new(struct arena *a, const struct frontend *f, const struct index *ix)
{
	struct def_graph *g = ARENA_NEW(a, struct def_graph);
	const struct frontend_def *defs;
	g->n = frontend_defs(f, &defs);
	g->nodes = ARENA_ARRAY(a, struct def_node, g->n + 1);
	for (uint32_t i = 0; i < g->n; i++)
		g->nodes[i] = (struct def_node){.def = &defs[i], .symbol = SYMBOL_NONE, .std = strncmp(defs[i].file, "std/", 4) == 0};
	qsort(g->nodes, g->n, sizeof *g->nodes, def_graph_by_place);
	for (uint32_t i = 0; i < ix->symbols.len; i++) {
		const struct symbol *s = &ix->symbols.at[i];
		uint32_t at = s->parent == SYMBOL_NONE && s->kind != SYMBOL_ALIAS ? definition_of(g, ix, i) : NO_DEF;
		if (at != NO_DEF && g->nodes[at].symbol == SYMBOL_NONE)
			g->nodes[at].symbol = i;
	}
	for (uint32_t i = 0; i < g->n; i++)
		def_graph_add_uses(a, g, ix, i);
	hash_deep(g);
	return g;
}
