#include <stdio.h>
#include <string.h>
#include "backend/loops/loops.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/json.h"
#include "base/os.h"
#include "builder/build/fragments.h"
#include "builder/build/progress.h"
#include "builder/build/session.h"
#include "builder/build/state.h"
#include "builder/build/timing.h"
#include "builder/cache/cache.h"
#include "builder/manifest/manifest.h"
#include "builder/manifest/options.h"
#include "builder/store/key.h"
#include "frontend/hir/hir.h"

static const char *definition_name(struct arena *a, const struct hir_unit *u)
{
	/* the symbol is the definition's name, an underscore and 16 hex digits */
	size_t n = strlen(u->symbol);
	return arena_strndup(a, u->symbol, n > 17 ? n - 17 : n);
}

static struct unit_record *record_of(struct unit_job *j)
{
	struct arena *a = j->model->build->session;
	if (j->now)
		return j->now;
	j->now = ARENA_NEW(a, struct unit_record);
	*j->now = (struct unit_record){.name = j->unit->name,
				       .file = j->unit->file,
				       .definition = definition_name(a, j->unit),
				       .tokens = j->unit->definition,
				       .key = j->key,
				       .target = j->model->platform.id,
				       .cpu = j->model->platform.name,
				       .made = *j->made};
	return j->now;
}

/* The record of the last build, if it says the same. */
static const struct unit_record *keep_record(struct unit_job *j)
{
	const struct unit_record *then = j->then;
	const struct hir_unit *u = j->unit;
	if (then && j->made == &then->made && hash_eq(then->key, j->key) && hash_eq(then->tokens, u->definition) &&
	    hash_eq(then->target, j->model->platform.id) && strcmp(then->name, u->name) == 0 && strcmp(then->file, u->file) == 0)
		return then;
	return record_of(j);
}

static uint32_t line_of(const struct build *b, span at)
{
	return at.source == SPAN_NO_SOURCE ? 0 : source_position(b->sources, at.source, at.start).line;
}

static const char *why_compiled(struct build *b, struct unit_job *j)
{
	const struct unit_record *now = record_of(j);
	const struct unit_record *kin = history_of_definition(j->model->history, now->file, now->definition);
	struct why why = history_explain(b->session, j->then, kin, now, line_of(b, j->unit->at));
	if (!b->options->dry_run)
		cache_count_compile(b->cache, why.reason);
	return why.text;
}

static struct compile *fragment_for(struct build *b, struct unit_job *j)
{
	uint64_t at;
	if (map_get(&b->compile_index, j->key, &at)) {
		b->reused++;
		return b->compiles.at[at];
	}
	struct compile *c = ARENA_NEW(b->session, struct compile);
	*c = (struct compile){.key = j->key, .job = j};
	c->label = arena_printf(b->session, "compile %s", j->unit->name);
	bool lazy = b->options->lazy;
	if (!lazy)
		c->object = fragments_find(b->lasting->fragments, j->key, &c->len);
	if (!c->object)
		c->object = cache_get(b->cache, lazy ? CACHE_LOOPS : CACHE_FRAGMENT, j->key, &c->len);
	if (c->object)
		b->hits++;
	else
		b->misses++;
	if (lazy && !cache_has(b->cache, CACHE_FRAGMENT, j->key))
		b->later++;
	else if (lazy || c->object)
		b->reused++;
	else
		c->why = why_compiled(b, j);
	map_put(&b->compile_index, j->key, b->compiles.len);
	vec_push(&b->compiles, c);
	return c;
}

/* The code of a plan waits for what compiles it, and its record is shared when the fragment is. */
static void settle(struct unit_job *j)
{
	if (j->fragment && j->fragment->job == j && !j->fragment->object)
		return;
	if (j->planned && j->fragment)
		build_share_plan(j);
	build_drop_code(j);
}

bool build_find_fragments(struct build *b)
{
	for (uint32_t i = 0; i < b->n_models; i++) {
		struct model_job *m = &b->models[i];
		if (m->failed)
			continue;
		build_link_digest(m);
		for (uint32_t k = 0; k < m->program->n_units; k++) {
			struct unit_job *j = &m->units[k];
			if (!j->plan)
				continue;
			if (m->current || !m->library)
				b->reused++;
			else
				j->fragment = fragment_for(b, j);
			settle(j);
		}
	}
	return true;
}

/* One object a line, as all that programs read. */
static void explain_json(struct build *b, const char *type, const char *name, const char *why)
{
	struct buf line = {0};
	struct json_writer w = {.out = &line};
	json_open(&w, '{');
	json_member_str(&w, "type", type);
	json_member_str(&w, "name", name);
	if (why)
		json_member_str(&w, "reason", why);
	json_close(&w, '}');
	fprintf(b->out, "%s\n", line.at);
	buf_free(&line);
}

static void explain_unit(struct build *b, const struct compile *c)
{
	const char *name = c->job->unit->name;
	if (b->options->json > 0)
		explain_json(b, "compile", name, c->why);
	else
		fprintf(b->out, "%s %s: %s\n", b->options->dry_run ? "would compile" : "compile", name, c->why);
}

static void explain_link(struct build *b, const struct model_job *m)
{
	const char *name = m->library ? m->library : m->spec->name;
	if (b->options->json > 0)
		explain_json(b, "link", name, NULL);
	else
		fprintf(b->out, "would link %s\n", name);
}

void build_explain(struct build *b)
{
	for (uint32_t i = 0; i < b->compiles.len && !b->options->lazy; i++)
		if (!b->compiles.at[i]->object)
			explain_unit(b, b->compiles.at[i]);
	for (uint32_t i = 0; b->options->dry_run && i < b->n_models; i++)
		if (!b->models[i].failed && !b->models[i].current)
			explain_link(b, &b->models[i]);
}

void build_save_history(struct build *b)
{
	for (uint32_t i = 0; i < b->n_models; i++) {
		struct model_job *m = &b->models[i];
		uint32_t n = 0;
		if (m->failed || m->current || !m->units)
			continue;
		const struct unit_record **now = ARENA_ARRAY(b->session, const struct unit_record *, m->program->n_units + 1);
		for (uint32_t k = 0; k < m->program->n_units; k++) {
			struct unit_job *j = &m->units[k];
			if (j->plan && j->fragment && j->fragment->object)
				now[n++] = keep_record(j);
		}
		history_save(b->project, m->spec->name, m->history, now, n);
	}
}
