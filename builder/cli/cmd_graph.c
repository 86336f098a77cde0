/* trib graph: the units of the project's models, with their compile times. */
#include <stdio.h>
#include "base/buf.h"
#include "builder/build/load.h"
#include "builder/cli/command.h"
#include "builder/query/graph.h"

enum status cmd_graph(const struct options *o)
{
	static void (*const print[])(const struct graph *, struct buf *) = {
		[PRINT_TEXT] = graph_print_dot, [PRINT_JSON] = graph_print_json, [PRINT_HTML] = graph_print_html};
	struct loaded_project l;
	struct buf out = {0};
	enum status s = project_load(&l, o, LOAD_INDEXED);
	if (s == STATUS_OK) {
		print[o->format](graph_new(&l.context, &l.project), &out);
		fwrite(out.at, 1, out.len, stdout);
	}
	buf_free(&out);
	return project_unload(&l, s);
}
