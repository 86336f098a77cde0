#include "base/diag.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/arena.h"
#include "base/bug.h"
#include "base/vec.h"

#define DEFAULT_LIMIT 1000

static const struct {
	const char *code, *title;
	enum diag_class class;
	enum diag_severity severity;
} table[] = {
#define DIAG(id, code, class, severity, title) [DIAG_##id] = {code, title, DIAG_CLASS_##class, severity},
#include "base/diags.def"
#undef DIAG
};

struct diags {
	struct arena *memory;
	VEC(struct diag *) all;
	uint32_t limit, errors, warnings; /* these include diagnostics beyond the limit */
	uint32_t dropped, dropped_warnings;
	struct diag overflow; /* returned, and ignored, beyond the limit */
};

struct diags *diags_new(uint32_t limit)
{
	struct diags *d = calloc(1, sizeof *d);

	if (!d)
		bug_no_memory();
	d->memory = arena_new(0);
	d->limit = limit ? limit : DEFAULT_LIMIT;
	return d;
}

void diags_free(struct diags *d)
{
	if (!d)
		return;
	arena_free(d->memory);
	vec_free(&d->all);
	free(d);
}

const char *diag_code_text(enum diag_code code) { return table[code].code; }

enum diag_severity diag_severity_of(enum diag_code code) { return table[code].severity; }

const char *diag_title(enum diag_code code) { return table[code].title; }

bool diag_is_syntax_error(enum diag_code code)
{
	return diag_severity_of(code) == SEV_ERROR && (table[code].class == DIAG_CLASS_TEXT || table[code].class == DIAG_CLASS_SYNTAX);
}

enum diag_code diag_code_find(const char *text)
{
	enum diag_code code = 0;

	while (code < DIAG_COUNT && strcasecmp(text, table[code].code) != 0)
		code++;
	return code;
}

/* Adds an empty diagnostic, or returns `overflow` beyond the limit. */
static struct diag *base_diag_add(struct diags *d, enum diag_code code)
{
	bool is_error = diag_severity_of(code) == SEV_ERROR;
	struct diag *g;

	if ((is_error ? ++d->errors : ++d->warnings) > d->limit) {
		++*(is_error ? &d->dropped : &d->dropped_warnings);
		d->overflow = (struct diag){.code = code, .message = "", .primary = {SPAN_NONE, ""}, .edit = SPAN_NONE};
		return &d->overflow;
	}
	g = ARENA_NEW(d->memory, struct diag);
	*g = (struct diag){.code = code, .message = "", .primary = {SPAN_NONE, ""}, .edit = SPAN_NONE};
	vec_push(&d->all, g);
	return g;
}

struct diag *diag_add(struct diags *d, enum diag_code code, span at, const char *fmt, ...)
{
	struct diag *g = base_diag_add(d, code);
	va_list ap;

	if (g == &d->overflow)
		return g;
	g->primary.at = at;
	va_start(ap, fmt);
	g->message = arena_vprintf(d->memory, fmt, ap);
	va_end(ap);
	return g;
}

void diag_label_primary(struct diags *d, struct diag *g, const char *fmt, ...)
{
	va_list ap;

	if (g == &d->overflow)
		return;
	va_start(ap, fmt);
	g->primary.text = arena_vprintf(d->memory, fmt, ap);
	va_end(ap);
}

/* The array with room for one more element: a copy if n is zero or a power of two, because its capacity is used up then. */
static void *diag_make_room(struct arena *memory, void *at, uint32_t n, size_t elem_size)
{
	void *more;

	if (n & (n - 1))
		return at;
	more = arena_alloc(memory, elem_size * (n ? 2 * (size_t)n : 1), _Alignof(max_align_t));
	if (n)
		memcpy(more, at, elem_size * n);
	return more;
}

static void add_secondary(struct diags *d, struct diag *g, span at, const char *text)
{
	g->secondary = diag_make_room(d->memory, g->secondary, g->n_secondary, sizeof *g->secondary);
	g->secondary[g->n_secondary++] = (struct diag_label){at, text};
}

static void add_note(struct diags *d, struct diag *g, const char *text)
{
	g->notes = diag_make_room(d->memory, g->notes, g->n_notes, sizeof *g->notes);
	g->notes[g->n_notes++] = text;
}

void diag_secondary(struct diags *d, struct diag *g, span at, const char *fmt, ...)
{
	va_list ap;

	if (g == &d->overflow)
		return;
	va_start(ap, fmt);
	add_secondary(d, g, at, arena_vprintf(d->memory, fmt, ap));
	va_end(ap);
}

void diag_note(struct diags *d, struct diag *g, const char *fmt, ...)
{
	va_list ap;

	if (g == &d->overflow)
		return;
	va_start(ap, fmt);
	add_note(d, g, arena_vprintf(d->memory, fmt, ap));
	va_end(ap);
}

void diag_help(struct diags *d, struct diag *g, const char *fmt, ...)
{
	va_list ap;

	if (g == &d->overflow)
		return;
	va_start(ap, fmt);
	g->help = arena_vprintf(d->memory, fmt, ap);
	va_end(ap);
}

void diag_cause(struct diags *d, struct diag *g, const char *cause)
{
	if (g && g != &d->overflow)
		g->cause = arena_strdup(d->memory, cause);
}

void diags_share_cause(struct diags *d, uint32_t from, enum diag_code code, const char *cause)
{
	uint32_t n = 0;

	for (uint32_t i = from; i < d->all.len; i++)
		n += d->all.at[i]->code == code;
	for (uint32_t i = from; i < d->all.len && n > 1; i++)
		if (d->all.at[i]->code == code)
			diag_cause(d, d->all.at[i], cause);
}

void diags_secondary(struct diags *d, uint32_t from, span at, const char *text)
{
	for (uint32_t i = from; i < d->all.len; i++)
		diag_secondary(d, d->all.at[i], at, "%s", text);
}

void diag_edit(struct diags *d, struct diag *g, span at, const char *replacement)
{
	if (g == &d->overflow)
		return;
	g->edit = at;
	g->replacement = arena_strdup(d->memory, replacement);
	g->is_guess = false;
}

void diag_guess(struct diags *d, struct diag *g, span at, const char *replacement)
{
	diag_edit(d, g, at, replacement);
	g->is_guess = true;
}

void diags_doubt_edit(struct diags *d, uint32_t i) { d->all.at[i]->is_guess = true; }

uint32_t diags_errors(const struct diags *d) { return d->errors; }

uint32_t diags_warnings(const struct diags *d) { return d->warnings; }

uint32_t diags_count(const struct diags *d) { return d->all.len; }

uint32_t diags_dropped(const struct diags *d) { return d->dropped; }

uint32_t diags_dropped_warnings(const struct diags *d) { return d->dropped_warnings; }

const struct diag *diags_at(const struct diags *d, uint32_t i)
{
	BUG_ON(i >= d->all.len);
	return d->all.at[i];
}

void diags_add_copy(struct diags *d, const struct diag *from)
{
	struct diag *g = base_diag_add(d, from->code);

	if (g == &d->overflow)
		return;
	g->message = arena_strdup(d->memory, from->message);
	g->primary = (struct diag_label){from->primary.at, arena_strdup(d->memory, from->primary.text)};
	for (uint32_t i = 0; i < from->n_secondary; i++)
		add_secondary(d, g, from->secondary[i].at, arena_strdup(d->memory, from->secondary[i].text));
	for (uint32_t i = 0; i < from->n_notes; i++)
		add_note(d, g, arena_strdup(d->memory, from->notes[i]));
	if (from->cause)
		g->cause = arena_strdup(d->memory, from->cause);
	if (from->help)
		g->help = arena_strdup(d->memory, from->help);
	if (from->replacement)
		diag_edit(d, g, from->edit, from->replacement);
	g->is_guess = from->is_guess;
	g->is_recovered = from->is_recovered;
}

void diags_merge(struct diags *d, const struct diags *from)
{
	uint32_t n = from->all.len; /* `from` may be `d` */

	for (uint32_t i = 0; i < n; i++)
		diags_add_copy(d, from->all.at[i]);
	d->errors += from->dropped;
	d->dropped += from->dropped;
	d->warnings += from->dropped_warnings;
	d->dropped_warnings += from->dropped_warnings;
}

void diags_merge_class(struct diags *d, const struct diags *from, enum diag_class only)
{
	for (uint32_t i = 0; i < from->all.len; i++)
		if (table[from->all.at[i]->code].class == only)
			diags_add_copy(d, from->all.at[i]);
}

static bool same_span(span a, span b) { return a.source == b.source && a.start == b.start && a.end == b.end; }

static bool diag_same_text(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

static bool same_label(const struct diag_label *a, const struct diag_label *b)
{
	return same_span(a->at, b->at) && diag_same_text(a->text, b->text);
}

static bool diag_same(const struct diag *a, const struct diag *b)
{
	if (a->code != b->code || !same_label(&a->primary, &b->primary) || !diag_same_text(a->message, b->message) ||
	    !diag_same_text(a->help, b->help))
		return false;
	if (!same_span(a->edit, b->edit) || !diag_same_text(a->replacement, b->replacement))
		return false;
	if (a->n_secondary != b->n_secondary || a->n_notes != b->n_notes)
		return false;
	for (uint32_t i = 0; i < a->n_secondary; i++)
		if (!same_label(&a->secondary[i], &b->secondary[i]))
			return false;
	for (uint32_t i = 0; i < a->n_notes; i++)
		if (!diag_same_text(a->notes[i], b->notes[i]))
			return false;
	return true;
}

/* A diagnostic and its index before sorting, which makes qsort stable. */
struct ranked {
	struct diag *g;
	uint32_t file, rank;
};

static int order_places(span a, span b)
{
	if (a.source != b.source)
		return a.source < b.source ? -1 : 1;
	return (a.start > b.start) - (a.start < b.start);
}

static int diag_order(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	int c = order_places(a->g->primary.at, b->g->primary.at);

	return c ? c : (a->rank > b->rank) - (a->rank < b->rank);
}

/* Skips numbers and shapes in brackets. */
static const char *skip_sizes(const char *s)
{
	for (;;) {
		const char *close = *s == '[' ? strchr(s, ']') : NULL;
		if (close)
			s = close + 1;
		else if (*s >= '0' && *s <= '9')
			s++;
		else
			return s;
	}
}

/* True if two messages differ only in numbers and shapes. */
static bool diag_same_words(const char *a, const char *b)
{
	for (;;) {
		a = skip_sizes(a);
		b = skip_sizes(b);
		if (*a != *b || !*a)
			return *a == *b;
		a++;
		b++;
	}
}

/* True for the same error at the same place, for example in another instance of a layer. */
static bool same_error(const struct diag *a, const struct diag *b)
{
	span at = a->primary.at;
	return a->code == b->code && diag_severity_of(a->code) == SEV_ERROR && same_span(at, b->primary.at) &&
	       at.source != SPAN_NO_SOURCE && at.end > at.start && diag_same_words(a->message, b->message);
}

/* True if both insert the same text at the same other place: a missing import is reported once. */
static bool same_insertion(const struct diag *a, const struct diag *b)
{
	bool insertion = a->replacement && b->replacement && a->edit.start == a->edit.end && a->edit.start != a->primary.at.start;
	return insertion && a->code == b->code && same_span(a->edit, b->edit) && diag_same_text(a->message, b->message) &&
	       diag_same_text(a->replacement, b->replacement);
}

/* True if an earlier diagnostic says the same. */
static bool diag_is_repeated(const struct diags *d, const struct diag *g)
{
	for (uint32_t i = d->all.len; i > 0 && order_places(d->all.at[i - 1]->primary.at, g->primary.at) == 0; i--)
		if (diag_same(d->all.at[i - 1], g) || same_error(d->all.at[i - 1], g))
			return true;
	for (uint32_t i = 0; g->replacement && g->edit.start == g->edit.end && i < d->all.len; i++)
		if (same_insertion(d->all.at[i], g))
			return true;
	return false;
}

static uint32_t file_rank(const struct sources *s, span at)
{
	return s && at.source != SPAN_NO_SOURCE ? sources_use_order(s, at.source) : at.source;
}

void diags_sort(struct diags *d) { diags_sort_by_use(d, NULL); }

void diags_sort_by_use(struct diags *d, const struct sources *s)
{
	uint32_t n = d->all.len;
	struct ranked *ranked;

	if (n < 2)
		return;
	ranked = malloc(n * sizeof *ranked);
	if (!ranked)
		bug_no_memory();
	for (uint32_t i = 0; i < n; i++)
		ranked[i] = (struct ranked){d->all.at[i], file_rank(s, d->all.at[i]->primary.at), i};
	qsort(ranked, n, sizeof *ranked, diag_order);
	d->all.len = 0;
	for (uint32_t i = 0; i < n; i++)
		if (!diag_is_repeated(d, ranked[i].g))
			d->all.at[d->all.len++] = ranked[i].g;
		else
			--*(diag_severity_of(ranked[i].g->code) == SEV_ERROR ? &d->errors : &d->warnings);
	free(ranked);
}
