#include <string.h>
#include "base/buf.h"
#include "builder/query/graph.h"
#include "builder/query/graph_page.h"

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
