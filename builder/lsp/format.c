/* Formatting: the canonical layout as one edit of the lines that change. Text with syntax errors stays as it is. */
#include "frontend/format.h"
#include <string.h>
#include "base/diag.h"
#include "builder/lsp/call.h"

/* How many bytes of whole lines two texts have in common at their start. */
static uint32_t common_start(const char *a, size_t na, const char *b, size_t nb)
{
	uint32_t line = 0;
	for (uint32_t i = 0; i < na && i < nb && a[i] == b[i]; i++)
		if (a[i] == '\n')
			line = i + 1;
	return line;
}

/* The same at their end, of what lies behind the start. */
static uint32_t common_end(const char *a, size_t na, const char *b, size_t nb)
{
	uint32_t line = 0;
	for (uint32_t i = 0; i < na && i < nb && a[na - 1 - i] == b[nb - 1 - i]; i++)
		if (a[na - 1 - i] == '\n')
			line = i;
	return line;
}

void request_formatting(struct call *c)
{
	struct place p;
	struct buf text = {0};
	if (!call_document(c, &p))
		return;
	struct diags *d = diags_new(1);
	bool ok = format_source(p.source, &text, d);
	const char *old = p.source->text, *new = text.at ? text.at : "";
	size_t n_old = p.source->len, n_new = text.len;
	if (ok)
		json_open(c->out, '[');
	if (ok && (n_old != n_new || memcmp(old, new, n_old) != 0)) {
		uint32_t start = common_start(old, n_old, new, n_new);
		uint32_t end = common_end(old + start, n_old - start, new + start, n_new - start);
		json_open(c->out, '{');
		put_range(c, p.a, "range", (span){p.source->id, start, (uint32_t)n_old - end});
		json_key(c->out, "newText");
		json_strn(c->out, new + start, n_new - end - start);
		json_close(c->out, '}');
	}
	if (ok)
		json_close(c->out, ']');
	diags_free(d);
	buf_free(&text);
}
