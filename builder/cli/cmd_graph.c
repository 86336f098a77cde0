/* trib graph: the units of the project's models, and what each cost. */
#include <stdio.h>
#include <string.h>
#include "base/buf.h"
#include "base/diag.h"
#include "builder/build/load.h"
#include "builder/cli/command.h"
#include "builder/cli/print.h"
#include "builder/query/graph.h"

static const struct {
	const char *text;
	void (*print)(const struct graph *, struct buf *);
} formats[] = {{"dot", graph_print_dot}, {"json", graph_print_json}, {"html", graph_print_html}};
enum { N_FORMATS = sizeof formats / sizeof *formats };

enum status cmd_graph(const struct options *o)
{
	const char *names[N_FORMATS];
	uint32_t format = 0;
	for (uint32_t i = 0; i < N_FORMATS; i++)
		names[i] = formats[i].text;
	while (o->format && format < N_FORMATS && strcmp(o->format, names[format]) != 0)
		format++;
	if (format == N_FORMATS) {
		const char *near = diag_nearest(o->format, names, N_FORMATS);
		return say_usage("--format wants dot, json or html, not `%s`%s%s%s", o->format, near ? "; did you mean `" : "",
				 near ? near : "", near ? "`?" : "");
	}
	struct loaded_project l;
	struct buf out = {0};
	enum status s = project_load(&l, o, LOAD_INDEXED);
	if (s == STATUS_OK) {
		formats[format].print(graph_new(&l.context, &l.project), &out);
		fwrite(out.at, 1, out.len, stdout);
	}
	buf_free(&out);
	return project_unload(&l, s);
}
