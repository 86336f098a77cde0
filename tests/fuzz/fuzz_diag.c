/* Diagnostics of every kind about any text at any spans: sorted, merged, rendered in both forms, with their edits applied. The first
 * byte is the number of steps, of STEP bytes each (what to add, at which span). The rest is the source; its halves are two files. */
#include "base/diag.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/bug.h"
#include "base/utf8.h"
#include "tests/fuzz/fuzz.h"

enum { STEP = 6, MAX_STEPS = 40 };
enum action { ADD, LABEL, SECONDARY, NOTE, HELP, EDIT, GUESS, NEAREST, N_ACTIONS };

struct story {
	struct sources *sources;
	struct diags *diags;
	struct diag *last;
};

static uint32_t offset(const uint8_t *p) { return (uint32_t)p[0] | (uint32_t)p[1] << 8; }

/* The first file's text at the span, as far as it is there. */
static char *words(const struct sources *s, span at)
{
	const struct source *file = sources_get(s, 0);
	uint32_t from = at.start < file->len ? at.start : (uint32_t)file->len, to = at.end < file->len ? at.end : (uint32_t)file->len;
	char *text = malloc(file->len + 1);
	BUG_ON(!text);
	size_t n = to > from ? to - from : 0;
	memcpy(text, file->text + from, n);
	text[n] = 0;
	return text;
}

static void act(struct story *t, const uint8_t *p)
{
	static const char *const names[] = {"forward", "reshape", "transpose", "matmul", "x", ""};
	span at = {p[1] & 0x40 ? SPAN_NO_SOURCE : p[1] & 1, offset(p + 2), offset(p + 4)};
	char *text = words(t->sources, at);
	enum action what = t->last ? p[0] % N_ACTIONS : ADD;
	switch (what) {
	case LABEL: diag_label_primary(t->diags, t->last, "%s", text); break;
	case SECONDARY: diag_secondary(t->diags, t->last, at, "%s", text); break;
	case NOTE: diag_note(t->diags, t->last, "%s", text); break;
	case HELP: diag_help(t->diags, t->last, "%s", text); break;
	case EDIT: diag_edit(t->diags, t->last, at, text); break;
	case GUESS: diag_guess(t->diags, t->last, at, text); break;
	case NEAREST: diag_did_you_mean(t->diags, t->last, at, text, names, sizeof names / sizeof *names); break;
	default: t->last = diag_add(t->diags, (enum diag_code)(p[1] % DIAG_COUNT), at, "%s", text); break;
	}
	free(text);
}

static void print(const struct diags *d, const struct sources *s, bool colour)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	BUG_ON(!out);
	diags_print(d, s, out, colour);
	fclose(out);
	free(text);
}

/* One object a line, in sound UTF-8 whatever the source's bytes are. */
static void print_json(const struct diags *d, const struct sources *s)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	BUG_ON(!out);
	diags_print_json(d, s, out);
	fclose(out);
	BUG_ON(utf8_valid_prefix(text, len) != len);
	for (const char *line = text, *end; line < text + len; line = end + 1) {
		end = strchr(line, '\n');
		BUG_ON(!end || *line != '{' || end[-1] != '}');
	}
	free(text);
}

static void use(struct story *t)
{
	struct diags *all = diags_new(0);
	struct buf fixed = {0};
	diags_merge(all, t->diags);
	diags_merge(all, t->diags);
	diags_sort(t->diags);
	diags_sort(all);
	BUG_ON(diags_count(all) != diags_count(t->diags)); /* duplicates go */
	print(all, t->sources, false);
	print(all, t->sources, true);
	print_json(all, t->sources);
	for (uint32_t i = 0; i < 2; i++)
		diags_fix(all, sources_get(t->sources, i), &fixed);
	buf_free(&fixed);
	diags_free(all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size || size < 1 + (size_t)(data[0] % MAX_STEPS) * STEP)
		return 0;
	const uint8_t *steps = data + 1, *text = steps + (size_t)(data[0] % MAX_STEPS) * STEP;
	size_t len = (size_t)(data + size - text);
	struct story t = {sources_new(), diags_new(12), NULL};
	sources_add(t.sources, "fuzz.tri", (const char *)text, len / 2);
	sources_add(t.sources, "lib/other.tri", (const char *)text + len / 2, len - len / 2);
	for (; steps < text; steps += STEP)
		act(&t, steps);
	use(&t);
	diags_free(t.diags);
	sources_free(t.sources);
	return 0;
}
