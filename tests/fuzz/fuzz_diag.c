/* Diagnostics about any text at any spans: the first bytes choose the spans, the rest is the source. */
#include "base/diag.h"
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t offset(const uint8_t *p) { return (uint32_t)p[0] | (uint32_t)p[1] << 8; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { HEAD = 16 }; /* three spans and an edit */
	struct sources *s;
	struct diags *d;
	struct diag *g;
	char *text = NULL;
	size_t len;
	FILE *out;

	if (size < HEAD || !(out = open_memstream(&text, &len)))
		return 0;
	s = sources_new();
	d = diags_new(0);
	sources_add(s, "fuzz.tri", (const char *)data + HEAD, size - HEAD);
	g = diag_add(d, DIAG_NOT_UTF8, (span){0, offset(data), offset(data + 2)}, "%s", sources_get(s, 0)->text);
	diag_label_primary(d, g, "primary");
	diag_secondary(d, g, (span){0, offset(data + 4), offset(data + 6)}, "first");
	diag_secondary(d, g, (span){0, offset(data + 8), offset(data + 10)}, "second");
	diag_edit(d, g, (span){0, offset(data + 12), offset(data + 14)}, "new\ntext");
	diags_print(d, s, out, data[0] & 1);
	diags_print_json(d, s, out);
	fclose(out);
	free(text);
	diags_free(d);
	sources_free(s);
	return 0;
}
