/* trib graph: definitions, units and data flow of the project's models, with compile times. */
#include <stdio.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/print.h"
#include "builder/build/load.h"
#include "builder/cli/browser.h"
#include "builder/cli/command.h"
#include "builder/cli/print.h"
#include "builder/profile/page/page.h"
#include "builder/query/graph.h"

#define DEFAULT_PAGE "graph.html"

static bool is_page_name(const char *path)
{
	size_t n = path ? strlen(path) : 0;
	return n > 5 && strcmp(path + n - 5, ".html") == 0;
}

static enum status print_page(const struct graph *g, struct arena *a, struct buf *out)
{
	struct buf json = {0};
	const char *error;
	const char *models = "";
	for (uint32_t i = 0; i < g->n_models; i++)
		models = arena_printf(a, "%s%s%s", models, i ? " " : "", g->models[i].name);
	graph_print_json(g, &json);
	bool ok = page_print(a, &(struct page_data){.title = arena_printf(a, "Graph of %s", models), .graph = json.at}, out, &error);
	buf_free(&json);
	return ok ? STATUS_OK : fail_environment("%s", error);
}

static enum status graph_show(const struct graph *g, const struct options *o, struct arena *a)
{
	const char *path = o->out ? o->out : o->open ? DEFAULT_PAGE : NULL;
	bool is_page = o->open || o->format == PRINT_HTML || (o->format == PRINT_TEXT && is_page_name(path));
	struct buf out = {0};
	enum status s = STATUS_OK;
	if (is_page)
		s = print_page(g, a, &out);
	else if (o->format == PRINT_JSON)
		graph_print_json(g, &out);
	else
		graph_print_dot(g, &out);
	if (s == STATUS_OK)
		s = print_to(path, &out);
	if (s == STATUS_OK && path && is_page && strcmp(path, "-") != 0)
		print(stdout, "trib: the page is in %s\n", path);
	fflush(stdout);
	buf_free(&out);
	return s == STATUS_OK && o->open ? browser_open(path) : s;
}

enum status cmd_graph(const struct options *o)
{
	struct loaded_project l;
	if (o->open && (o->format == PRINT_JSON || (o->out && strcmp(o->out, "-") == 0)))
		return fail_usage("`trib graph --open` opens a page, so it takes neither `--format json` nor `-o -`");
	enum status s = project_load(&l, o, LOAD_INDEXED);
	if (s == STATUS_OK)
		s = graph_show(graph_new(&l.context, &l.project), o, l.context.arena);
	return project_unload(&l, s);
}
