#include "builder/weights/weights_file.h"
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "frontend/hir/hir.h"

enum {
	SHOWN_UNUSED = 8,
	SHOWN_DECLARATIONS = 4,
	MOST_COMPARED = 200, /* no nearest names for more missing ones: the search is quadratic */
};

static const char *missing_name(const struct weights_missing *m, uint32_t i) { return m->program->params[m->params[i]].name; }

static int compare_names(const void *x, const void *y) { return strcmp(*(const char *const *)x, *(const char *const *)y); }

static const char *weights_missing_find_name(const char *const *names, uint32_t n, const char *name)
{
	const char *const *found = n ? bsearch(&name, names, n, sizeof *names, compare_names) : NULL;
	return found ? *found : NULL;
}

/* Names in the file that no parameter has; sorted. */
static uint32_t unused_names(struct arena *a, const struct weights_missing *m, const char *const **unused)
{
	const struct hir_program *p = m->program;
	uint32_t n = 0, n_taken = 0, most = 0;
	for (uint32_t i = 0; i < p->n_params; i++)
		most += 1 + p->params[i].n_aliases;
	const char **list = ARENA_ARRAY(a, const char *, m->n_names + 1), **taken = ARENA_ARRAY(a, const char *, most + 1);
	for (uint32_t i = 0; i < p->n_params; i++) {
		taken[n_taken++] = p->params[i].name;
		for (uint32_t k = 0; k < p->params[i].n_aliases; k++)
			taken[n_taken++] = p->params[i].aliases[k];
	}
	if (n_taken)
		qsort(taken, n_taken, sizeof *taken, compare_names);
	for (uint32_t i = 0; i < m->n_names; i++)
		if (!weights_missing_find_name(taken, n_taken, m->names[i]))
			list[n++] = m->names[i];
	*unused = list;
	return n;
}

/* "a." of "a.b.c" and "b.c"; 0: `whole` does not end with `.tail`. */
static size_t prefix_before(const char *whole, const char *tail)
{
	size_t n = strlen(whole), k = strlen(tail);
	return n > k + 1 && whole[n - k - 1] == '.' && strcmp(whole + n - k, tail) == 0 ? n - k : 0;
}

struct prefix {
	const char *text;
	size_t len;
	uint32_t n; /* missing names that the file has with it, or without it */
};

static uint32_t count_with_prefix(struct arena *a, const struct weights_missing *m, const char *const *unused, uint32_t n_unused,
				  const char *prefix)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < m->n; i++)
		n += weights_missing_find_name(unused, n_unused, arena_printf(a, "%s%s", prefix, missing_name(m, i))) != NULL;
	return n;
}

/* The prefix with which the file has most missing names. A few names suggest it, because it is common to all. */
static struct prefix find_prefix(struct arena *a, const struct weights_missing *m, const char *const *unused, uint32_t n_unused)
{
	struct prefix best = {0};
	for (uint32_t i = 0; i < m->n && i < 16; i++)
		for (uint32_t k = 0; k < n_unused; k++) {
			size_t len = prefix_before(unused[k], missing_name(m, i));
			if (!len || (best.len == len && strncmp(best.text, unused[k], len) == 0))
				continue;
			struct prefix p = {arena_strndup(a, unused[k], len), len, 0};
			p.n = count_with_prefix(a, m, unused, n_unused, p.text);
			if (p.n > best.n)
				best = p;
		}
	return best;
}

/* The prefix without which the file has most missing names. */
static struct prefix find_superfluous(struct arena *a, const struct weights_missing *m, const char *const *unused, uint32_t n_unused)
{
	struct prefix best = {0};
	for (uint32_t i = 0; i < m->n && i < 16; i++)
		for (uint32_t k = 0; k < n_unused; k++) {
			const char *name = missing_name(m, i);
			size_t len = prefix_before(name, unused[k]);
			if (!len || len <= best.len)
				continue;
			struct prefix p = {arena_strndup(a, name, len), len, 0};
			for (uint32_t j = 0; j < m->n; j++)
				p.n += strncmp(missing_name(m, j), p.text, len) == 0 &&
				       weights_missing_find_name(unused, n_unused, missing_name(m, j) + len);
			if (p.n > best.n)
				best = p;
		}
	return best;
}

static const char *weights_missing_nearest(struct arena *a, const struct weights_missing *m, const char *const *unused, uint32_t n_unused,
					   const char *name, const struct prefix *p, const struct prefix *superfluous)
{
	const char *near = p->n ? weights_missing_find_name(unused, n_unused, arena_printf(a, "%s%s", p->text, name)) : NULL;
	if (!near && superfluous->n && strncmp(name, superfluous->text, superfluous->len) == 0)
		near = weights_missing_find_name(unused, n_unused, name + superfluous->len);
	if (!near && m->n <= MOST_COMPARED)
		near = diag_nearest(name, unused, n_unused);
	if (!near && m->n <= MOST_COMPARED)
		near = diag_nearest(name, m->names, m->n_names);
	return near;
}

static const char *weights_missing_type_text(struct arena *a, const struct hir_param *p)
{
	struct buf b = {0};
	buf_printf(&b, "%s[", dtype_text(p->type.elem));
	for (uint32_t k = 0; k < p->type.rank; k++)
		buf_printf(&b, "%s%lld", k ? ", " : "", (long long)dim_eval(p->dims, p->type.dims[k], NULL));
	const char *text = arena_printf(a, "%s]", b.at);
	buf_free(&b);
	return text;
}

static void weights_missing_list_unused(const char *const *unused, uint32_t n, struct diag *g, struct diags *diags)
{
	struct buf b = {0};
	for (uint32_t i = 0; i < n && i < SHOWN_UNUSED; i++)
		buf_printf(&b, "%s`%s`", i ? ", " : "", unused[i]);
	if (n)
		diag_note(diags, g, "in the file but not used: %s%s", b.at, n > SHOWN_UNUSED ? ", …" : "");
	buf_free(&b);
}

static struct diag *weights_missing_begin(const struct weights_missing *m, struct diags *diags)
{
	bool one = m->n == 1;
	if (m->initialized)
		return diag_add(diags, DIAG_WEIGHTS_DEFAULT, m->at, "%u parameter%s not in `%s` and take%s the initial value", m->n,
				one ? " is" : "s are", m->path, one ? "s" : "");
	if (m->path)
		return diag_add(diags, DIAG_WEIGHTS_MISSING, m->at, "%u parameter%s not in `%s`", m->n, one ? " is" : "s are", m->path);
	return diag_add(diags, DIAG_WEIGHTS_MISSING, m->at, "%u parameter%s no initial value, and the model names no weights file", m->n,
			one ? " has" : "s have");
}

static void weights_missing_help(const struct weights_missing *m, const struct prefix *p, const struct prefix *superfluous, struct diag *g,
				 struct diags *diags)
{
	if (p->n) {
		diag_note(diags, g, "the file has %u of %u with the prefix `%s`", p->n, m->n, p->text);
		diag_help(diags, g, "add `weights.prefix = %s` to the model's block", p->text);
	} else if (superfluous->n) {
		diag_note(diags, g, "the file has %u of %u without the prefix `%s`", superfluous->n, m->n, superfluous->text);
		diag_help(diags, g, "use the layer that has them as the entry, or save the file with the prefix `%s`", superfluous->text);
	} else if (!m->path && m->at.source == SPAN_NO_SOURCE) { /* of a main block */
		diag_help(diags, g, "give it an initial value: `param w: Tensor<float32, [4]> = zeros([4])`");
	} else if (!m->path) {
		diag_help(diags, g, "add `weights = FILE.safetensors` to the model");
	} else if (!m->initialized && !m->n_without) {
		diag_help(
			diags, g,
			"rename them in the file or the source; `weights.missing = initialize` in the model's block takes initial values");
	}
}

void weights_report_missing(struct arena *a, const struct weights_missing *m, struct diags *diags)
{
	const char *const *unused;
	uint32_t n_unused = unused_names(a, m, &unused);
	struct prefix p = find_prefix(a, m, unused, n_unused), superfluous = {0};
	struct diag *g = weights_missing_begin(m, diags);
	if (!p.n)
		superfluous = find_superfluous(a, m, unused, n_unused);
	for (uint32_t i = 0; i < m->n; i++) {
		const struct hir_param *one = &m->program->params[m->params[i]];
		const char *near = m->path ? weights_missing_nearest(a, m, unused, n_unused, one->name, &p, &superfluous) : NULL;
		const char *more = m->path && !one->init && m->n_without < m->n ? "; it has no initial value" : "";
		if (near)
			diag_note(diags, g, "missing: `%s` %s; the file has `%s`%s", one->name, weights_missing_type_text(a, one), near,
				  more);
		else
			diag_note(diags, g, "missing: `%s` %s%s", one->name, weights_missing_type_text(a, one), more);
		if (i < SHOWN_DECLARATIONS)
			diag_secondary(diags, g, one->at, "`%s` is declared here", one->name);
	}
	weights_missing_list_unused(unused, n_unused, g, diags);
	weights_missing_help(m, &p, &superfluous, g, diags);
}
