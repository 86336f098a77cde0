/* Checks what certain edits make of the loaded files, in front ends of their own. A trial makes some edits, checks the result, makes the
 * edits that the check finds certain, and so on: one mistake may need several, of which each uncovers the next. All edits are tried at once;
 * if the result is worse than before, halves of them are, so that a few wrong edits among many cost a few trials each. */
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/vec.h"
#include "frontend/frontend.h"
#include "frontend/names/module.h"

enum { MOST_TRIALS = 60, MOST_ROUNDS = 30 };

/* A place in the draft of a file. */
struct place {
	uint32_t file, start, end;
	const char *pending; /* the replacement of an edit that this trial must not make; NULL: an edit was made here */
};
struct draft {
	const char *path;
	struct buf text;
};
struct findings {
	uint32_t errors, syntax_errors;
	bool at_edit; /* an error starts where an edit was made */
};
struct verification {
	const struct frontend *f;
	struct diags *diags;
	uint32_t *edits; /* diagnostics with certain edits */
	uint32_t n_edits, trials;
	bool *chosen; /* by diagnostic: its edit is accepted, or tried */
	/* the trial */
	struct sources *sources;
	VEC(struct draft) drafts;
	VEC(struct place) places;
};

/* ---- drafts ---- */

static uint32_t draft_of(const struct verification *v, const char *path)
{
	uint32_t i = 0;
	while (i < v->drafts.len && strcmp(v->drafts.at[i].path, path) != 0)
		i++;
	return i;
}

/* The number of the loaded file that a source is; the number of drafts: it is none. */
static uint32_t file_of(const struct verification *v, const struct sources *sources, uint32_t source)
{
	return source == SPAN_NO_SOURCE ? v->drafts.len : draft_of(v, sources_get(sources, source)->path);
}

static const struct source *load_draft(void *ctx, const char *path)
{
	struct verification *v = ctx;
	uint32_t i = draft_of(v, path);
	return i == v->drafts.len ? NULL : sources_add(v->sources, path, v->drafts.at[i].text.at, v->drafts.at[i].text.len);
}

static void open_drafts(struct verification *v)
{
	for (uint32_t i = 0; i < v->f->modules.len; i++) {
		const struct module *m = v->f->modules.at[i];
		struct draft d = {.path = m->path};
		if (m->std)
			continue;
		buf_put(&d.text, m->ast.tokens.src->text, m->ast.tokens.src->len);
		vec_push(&v->drafts, d);
	}
	v->places.len = 0;
}

static void close_drafts(struct verification *v)
{
	for (uint32_t i = 0; i < v->drafts.len; i++)
		buf_free(&v->drafts.at[i].text);
	v->drafts.len = 0;
}

/* ---- places ---- */

/* Moves a position over the edits of one file; one inside an edit moves to its start, or to its end. */
static uint32_t moved(const struct diags *d, const struct source *s, const span *made, uint32_t at, bool to_end)
{
	int64_t shift = 0;
	for (uint32_t i = 0; i < diags_count(d); i++) {
		span old = diags_at(d, i)->edit;
		if (made[i].source != s->id)
			continue;
		if (at > old.start && at < old.end)
			return to_end ? made[i].end : made[i].start;
		if (at >= old.end && !(at == old.start && !to_end))
			shift += (int64_t)(made[i].end - made[i].start) - (int64_t)(old.end - old.start);
	}
	return (uint32_t)(at + shift);
}

static bool is_pending(const struct verification *v, const struct diag *g, uint32_t file)
{
	for (uint32_t i = 0; i < v->places.len; i++) {
		const struct place *p = &v->places.at[i];
		if (p->pending && p->file == file && p->start == g->edit.start && !strcmp(p->pending, g->replacement))
			return true;
	}
	return false;
}

/* Makes the chosen edits of `d` in the drafts. Returns their number. */
static uint32_t edit_drafts(struct verification *v, const struct diags *d, const struct sources *sources, const bool *chosen)
{
	uint32_t n = diags_count(d), done = 0;
	struct arena *a = arena_new(4096);
	span *made = ARENA_ARRAY(a, span, n + 1);
	for (uint32_t i = 0; i < n; i++)
		made[i] = SPAN_NONE;
	for (uint32_t id = 0; id < sources_count(sources); id++) {
		const struct source *s = sources_get(sources, id);
		uint32_t file = draft_of(v, s->path);
		struct buf text = {0};
		if (file == v->drafts.len)
			continue;
		done += diags_fix_some(d, s, chosen, made, &text);
		buf_free(&v->drafts.at[file].text);
		v->drafts.at[file].text = text;
		for (uint32_t i = 0; i < v->places.len; i++) {
			struct place *p = &v->places.at[i];
			if (p->file == file)
				*p = (struct place){file, moved(d, s, made, p->start, false), moved(d, s, made, p->end, true), p->pending};
		}
		for (uint32_t i = 0; i < n; i++)
			if (made[i].source == s->id)
				vec_push(&v->places, ((struct place){file, made[i].start, made[i].end, NULL}));
	}
	arena_free(a);
	return done;
}

/* ---- one trial ---- */

static struct findings count_errors(const struct verification *v, const struct diags *found)
{
	struct findings out = {.errors = diags_errors(found)};
	for (uint32_t i = 0; i < diags_count(found); i++) {
		const struct diag *g = diags_at(found, i);
		if (diag_severity_of(g->code) != SEV_ERROR)
			continue;
		uint32_t file = file_of(v, v->sources, g->primary.at.source), at = g->primary.at.start;
		out.syntax_errors += diag_is_syntax_error(g->code);
		for (uint32_t k = 0; k < v->places.len && !out.at_edit; k++) {
			const struct place *p = &v->places.at[k];
			out.at_edit = !p->pending && p->file == file && p->start <= at && at <= p->end;
		}
	}
	return out;
}

/* Checks the drafts, and makes the edits that are certain and not pending. Returns their number. */
static uint32_t check_drafts(struct verification *v, struct findings *out)
{
	struct diags *found = diags_new(0);
	struct arena *a = arena_new(4096);
	v->sources = sources_new();
	struct frontend *f = frontend_new(v->sources, (struct frontend_host){load_draft, v}, found);
	frontend_set_dependencies(f, v->f->dependencies, v->f->n_dependencies);
	for (uint32_t i = 0; i < v->drafts.len; i++)
		frontend_add_file(f, v->drafts.at[i].path);
	frontend_check(f);
	*out = count_errors(v, found);
	uint32_t n = diags_count(found);
	bool *chosen = ARENA_ARRAY(a, bool, n + 1);
	for (uint32_t i = 0; i < n; i++) {
		const struct diag *g = diags_at(found, i);
		chosen[i] = diag_is_fixable(g) && !is_pending(v, g, file_of(v, v->sources, g->edit.source));
	}
	uint32_t made = edit_drafts(v, found, v->sources, chosen);
	frontend_free(f);
	sources_free(v->sources);
	diags_free(found);
	arena_free(a);
	return made;
}

/* What is left after the chosen edits and those that follow from them. */
static struct findings try_chosen(struct verification *v)
{
	struct findings out = {0};
	v->trials++;
	open_drafts(v);
	for (uint32_t i = 0; i < v->n_edits; i++) {
		const struct diag *g = diags_at(v->diags, v->edits[i]);
		uint32_t file = file_of(v, v->f->sources, g->edit.source);
		if (!v->chosen[v->edits[i]])
			vec_push(&v->places, ((struct place){file, g->edit.start, g->edit.end, g->replacement}));
	}
	edit_drafts(v, v->diags, v->f->sources, v->chosen);
	for (uint32_t round = 0, made = 1; made && round < MOST_ROUNDS; round++)
		made = check_drafts(v, &out);
	close_drafts(v);
	return out;
}

/* ---- all edits ---- */

static void verify_edits_choose(struct verification *v, uint32_t first, uint32_t last, bool yes)
{
	for (uint32_t i = first; i < last; i++)
		v->chosen[v->edits[i]] = yes;
}

/* Accepts the edits first … last - 1 that do not make the text worse than `before`, and doubts the others. */
static void try_edits(struct verification *v, uint32_t first, uint32_t last, struct findings *before)
{
	if (first == last)
		return;
	verify_edits_choose(v, first, last, true);
	struct findings now = v->trials < MOST_TRIALS ? try_chosen(v) : (struct findings){.at_edit = true};
	if (!now.at_edit && now.errors <= before->errors && now.syntax_errors <= before->syntax_errors) {
		*before = now;
		return;
	}
	verify_edits_choose(v, first, last, false);
	if (last - first == 1) {
		diags_doubt_edit(v->diags, v->edits[first]);
		return;
	}
	uint32_t middle = first + (last - first) / 2;
	try_edits(v, first, middle, before);
	try_edits(v, middle, last, before);
}

static bool has_certain_edit(const struct diags *d)
{
	for (uint32_t i = 0; i < diags_count(d); i++)
		if (diag_is_fixable(diags_at(d, i)))
			return true;
	return false;
}

void frontend_verify_edits(const struct frontend *f, struct diags *diags)
{
	uint32_t n = diags_count(diags);
	if (!has_certain_edit(diags))
		return;
	struct arena *a = arena_new(4096);
	struct verification v = {.f = f, .diags = diags};
	v.chosen = ARENA_ARRAY(a, bool, n + 1);
	v.edits = ARENA_ARRAY(a, uint32_t, n + 1);
	memset(v.chosen, 0, n + 1);
	open_drafts(&v);
	for (uint32_t i = 0; i < n; i++)
		if (diag_is_fixable(diags_at(diags, i)) && file_of(&v, f->sources, diags_at(diags, i)->edit.source) < v.drafts.len)
			v.edits[v.n_edits++] = i;
	close_drafts(&v);
	if (v.n_edits) {
		struct findings before = try_chosen(&v);
		try_edits(&v, 0, v.n_edits, &before);
	}
	vec_free(&v.drafts);
	vec_free(&v.places);
	arena_free(a);
}
