#include "builder/query/affected.h"
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/json.h"
#include "base/print.h"
#include "base/vec.h"
#include "builder/git/git.h"
#include "builder/manifest/manifest.h"
#include "builder/manifest/options.h"
#include "builder/module.h"

/* ---- opening ---- */

static enum status since_refuse(const struct git_failure *failure, const char *rev, FILE *err)
{
	const char *colon = *failure->text ? ": " : "";
	switch (failure->problem) {
	case GIT_PROBLEM_NO_REPOSITORY:
		print(err,
		      "trib: this folder is in no git repository that can be read%s%s\n  help: `--since` compares with a commit; `git init` starts a repository\n",
		      colon, failure->text);
		return STATUS_ENVIRONMENT;
	case GIT_PROBLEM_OWNER:
		print(err,
		      "trib: %s\n  help: `git config --global --add safe.directory \"$(pwd)\"` in the repository's top folder says that it is trusted\n",
		      failure->text);
		return STATUS_ENVIRONMENT;
	case GIT_PROBLEM_BARE:
		print(err,
		      "trib: the repository `%s` is bare: it has no working tree that could be compared\n"
		      "  help: work in a clone of it, or in a folder made by `git worktree add`\n",
		      failure->text);
		return STATUS_ENVIRONMENT;
	case GIT_PROBLEM_SHALLOW:
		print(err,
		      "trib: this clone is shallow and does not hold the revision `%s`%s%s\n"
		      "  help: `git fetch --unshallow` brings the whole history, `git fetch --deepen=N` a part of it\n",
		      rev, colon, failure->text);
		return STATUS_USAGE;
	default:
		print(err,
		      "trib: there is no revision `%s` that is a commit%s%s\n"
		      "  help: a commit, branch, tag, `HEAD~3` or `main...` (where this branch left main) is one; `git fetch` brings what only the remote has\n",
		      rev, colon, failure->text);
		return STATUS_USAGE;
	}
}

/* A file with syntax errors has no definitions to compare. */
static enum status judge_now(const struct since *s, const struct options *o, FILE *err)
{
	const struct diags *found = s->new->diags;
	if (s->new->sound_manifest && !diags_errors(found))
		return STATUS_OK;
	diags_print(found, s->new->sources, err, terminal_has_color(fileno(err), o->color));
	for (uint32_t i = 0; i < diags_count(found); i++)
		if (diags_at(found, i)->code == DIAG_FETCH)
			return STATUS_ENVIRONMENT;
	return STATUS_FAILED;
}

static void take_notes(struct since *s, const char *rev)
{
	VEC(const char *) notes = {0};
	const char *submodule = s->git->view_missing_submodule(s->view);
	if (!s->old->has_manifest)
		vec_push(&notes, arena_printf(s->arena, "there is no tri.build in %s: everything counts as new", rev));
	else if (!s->old->sound_manifest)
		vec_push(&notes, arena_printf(s->arena, "tri.build of %s has errors: everything counts as new", rev));
	else if (!s->old->has_dependencies)
		vec_push(&notes, arena_printf(s->arena, "the dependencies of %s cannot be fetched: their definitions count as new", rev));
	for (uint32_t i = 0; i < s->old->n_broken; i++)
		vec_push(&notes, arena_printf(s->arena, "%s of %s has syntax errors: all its definitions count as changed",
					      s->old->broken[i], rev));
	if (submodule)
		vec_push(
			&notes,
			arena_printf(
				s->arena,
				"the submodule %.*s lacks the commit that %s uses: its definitions count as new; run `git submodule update --init`, or `git fetch` in it",
				(int)(strlen(submodule) - 1), submodule, rev));
	const char **list = ARENA_ARRAY(s->arena, const char *, notes.len + 1);
	for (uint32_t i = 0; i < notes.len; i++)
		list[i] = notes.at[i];
	s->notes = list;
	s->n_notes = notes.len;
	vec_free(&notes);
}

static bool known_models(const struct since *s, const struct options *o, FILE *err)
{
	const char **names = ARENA_ARRAY(s->arena, const char *, s->new->n_models + 1);
	for (uint32_t i = 0; i < s->new->n_models; i++)
		names[i] = s->new->models[i].spec->name;
	for (uint32_t i = 0; i < o->n_operands; i++) {
		bool known = false;
		for (uint32_t k = 0; k < s->new->n_models && !known; k++)
			known = strcmp(o->operands[i], names[k]) == 0;
		const char *near = known ? NULL : diag_nearest(o->operands[i], names, s->new->n_models);
		if (!known) {
			print(err, "trib: there is no model `%s`%s%s%s\n", o->operands[i], near ? "; did you mean `" : "", near ? near : "",
			      near ? "`?" : "");
			return false;
		}
	}
	return true;
}

/* Marks the definitions of the named models. */
static bool *reached_from(struct since *s, const struct options *o)
{
	const struct project_snapshot *w = s->new;
	bool *seen = ARENA_ARRAY(s->arena, bool, w->n_defs + 1);
	VEC(uint32_t) stack = {0};
	for (uint32_t i = 0; i < w->n_models; i++)
		for (uint32_t k = 0; since_wants(o, w->models[i].spec->name) && k < w->models[i].spec->n_entries; k++)
			if (w->models[i].entries[k] != SNAPSHOT_NO_DEF)
				vec_push(&stack, w->models[i].entries[k]);
	while (stack.len) {
		uint32_t at = stack.at[--stack.len];
		const struct snapshot_def *d = &w->defs[at];
		for (uint32_t k = 0; !seen[at] && k < d->n_uses; k++)
			vec_push(&stack, d->uses[k]);
		seen[at] = true;
	}
	vec_free(&stack);
	return seen;
}

enum status since_open(struct since *s, const struct options *o, FILE *err)
{
	struct options all = *o;
	struct git_failure failure;
	const char *error;
	*s = (struct since){.arena = arena_new(0)};
	all.n_operands = 0;
	s->git = module_open(s->arena, "git", GIT_ENTRY, GIT_ABI, &error);
	if (!s->git) {
		print(err, "trib: %s\n  help: this module reads git repositories; it is built if libgit2 is installed\n", error);
		return STATUS_ENVIRONMENT;
	}
	s->view = s->git->view_open(".", o->since, s->commit, &failure);
	if (!s->view)
		return since_refuse(&failure, o->since, err);
	s->new = snapshot_new(&all, s->git, NULL);
	enum status judged = judge_now(s, o, err);
	if (judged != STATUS_OK)
		return judged;
	if (!known_models(s, o, err))
		return STATUS_USAGE;
	s->old = snapshot_new(&all, s->git, s->view);
	s->affected = affected_new(s->arena, s->old, s->new, s->git, s->view);
	s->reached = o->n_operands ? reached_from(s, o) : NULL;
	take_notes(s, o->since);
	return STATUS_OK;
}

void since_close(struct since *s)
{
	snapshot_free(s->old);
	snapshot_free(s->new);
	if (s->git)
		s->git->view_close(s->view);
	arena_free(s->arena);
}

/* ---- texts ---- */

bool since_wants(const struct options *o, const char *model)
{
	for (uint32_t i = 0; i < o->n_operands; i++)
		if (strcmp(o->operands[i], model) == 0)
			return true;
	return o->n_operands == 0;
}

bool since_shows(const struct since *s, uint32_t def)
{
	const struct affected_def *d = &s->affected->defs[def];
	return !d->def->std && (d->change != DEF_SAME || d->moved) && (!s->reached || (d->change != DEF_REMOVED && s->reached[def]));
}

const char *since_path(const struct since *s, uint32_t def)
{
	struct buf text = {0};
	for (uint32_t at = s->affected->defs[def].next; at != SNAPSHOT_NO_DEF; at = s->affected->defs[at].next)
		buf_printf(&text, " → %s", s->affected->defs[at].def->name);
	const char *copy = arena_strdup(s->arena, text.at ? text.at : "");
	buf_free(&text);
	return copy;
}

const char *since_reason(const struct since *s, const struct model_why *why)
{
	switch (why->reason) {
	case MODEL_NEW: return "it is new";
	case MODEL_SETTING: return arena_printf(s->arena, "`%s` of tri.build changed", why->text);
	case MODEL_WEIGHTS: return arena_printf(s->arena, "%s changed", why->text);
	case MODEL_WEIGHTS_UNKNOWN: return arena_printf(s->arena, "%s is not in that commit, so it may have changed", why->text);
	default: break;
	}
	if (why->def == SNAPSHOT_NO_DEF)
		return arena_printf(s->arena, "the entry %s was not found", why->text);
	const struct affected_def *d = &s->affected->defs[why->def];
	if (d->change == DEF_AFFECTED)
		return arena_printf(s->arena, "%s%s changed", why->text, since_path(s, why->def));
	return arena_printf(s->arena, "%s %s", why->text,
			    d->change == DEF_ADDED  ? "is new"
			    : d->change == DEF_SAME ? "is another definition now"
						    : "changed");
}

/* ---- JSON ---- */

static void since_put_path(const struct since *s, struct json_writer *w, uint32_t def)
{
	json_member_open(w, "path", '[');
	for (uint32_t at = def; at != SNAPSHOT_NO_DEF; at = s->affected->defs[at].next)
		json_str(w, s->affected->defs[at].def->name);
	json_close(w, ']');
}

static void put_def(const struct since *s, struct json_writer *w, uint32_t i)
{
	const struct affected_def *d = &s->affected->defs[i];
	json_open(w, '{');
	json_member_str(w, "file", d->def->file);
	json_member_str(w, "name", d->def->name);
	json_member_int(w, "line", d->def->line);
	json_member_str(w, "change", d->change == DEF_SAME ? "moved" : def_change_text(d->change));
	if (d->moved)
		json_member_str(w, "was_in", d->old->file);
	if (d->change == DEF_AFFECTED)
		since_put_path(s, w, i);
	json_close(w, '}');
}

static void put_model(const struct since *s, struct json_writer *w, const struct affected_model *model)
{
	json_open(w, '{');
	json_member_str(w, "name", model->name);
	json_member_bool(w, "affected", model->n_why != 0);
	json_member_open(w, "reasons", '[');
	for (uint32_t k = 0; k < model->n_why; k++) {
		json_open(w, '{');
		json_member_str(w, "reason", model_reason_text(model->why[k].reason));
		json_member_str(w, "of", model->why[k].text);
		if (model->why[k].def != SNAPSHOT_NO_DEF)
			since_put_path(s, w, model->why[k].def);
		json_close(w, '}');
	}
	json_close(w, ']');
	json_close(w, '}');
}

void since_print_json(const struct since *s, const struct options *o, FILE *out)
{
	struct buf text = {0};
	struct json_writer w = {.out = &text};
	json_open(&w, '{');
	json_member_str(&w, "type", "affected");
	json_member_str(&w, "since", o->since);
	json_member_str(&w, "commit", s->commit);
	json_member_open(&w, "definitions", '[');
	for (uint32_t i = 0; i < s->affected->n_defs; i++)
		if (since_shows(s, i))
			put_def(s, &w, i);
	json_close(&w, ']');
	json_member_open(&w, "models", '[');
	for (uint32_t i = 0; i < s->affected->n_models; i++)
		if (since_wants(o, s->affected->models[i].name))
			put_model(s, &w, &s->affected->models[i]);
	json_close(&w, ']');
	json_member_open(&w, "removed_models", '[');
	for (uint32_t i = 0; i < s->affected->n_removed && !o->n_operands; i++)
		json_str(&w, s->affected->removed[i]);
	json_close(&w, ']');
	json_member_open(&w, "notes", '[');
	for (uint32_t i = 0; i < s->n_notes; i++)
		json_str(&w, s->notes[i]);
	json_close(&w, ']');
	json_close(&w, '}');
	print(out, "%s\n", text.at);
	buf_free(&text);
}
