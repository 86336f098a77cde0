/* A definition is identified by file and name. A definition with the same name in another file has moved; its users are unchanged, because
 * no hash contains a file name. */
#include "builder/query/affected.h"
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/map.h"
#include "base/os.h"
#include "base/vec.h"
#include "builder/git/git.h"
#include "builder/manifest/manifest.h"

const char *def_change_text(enum def_change c)
{
	static const char *const texts[DEF_CHANGES] = {"same", "affected", "changed", "added", "removed"};
	return texts[c];
}

const char *model_reason_text(enum model_reason r)
{
	static const char *const texts[MODEL_REASONS] = {"new", "setting", "entry", "weights", "weights not in git"};
	return texts[r];
}

struct comparison {
	struct arena *a;
	const struct project_snapshot *old, *new;
	uint32_t *match; /* new definition → old definition, or SNAPSHOT_NO_DEF */
	bool *matched;   /* of the old definitions */
	struct affected *out;
};

/* ---- matching ---- */

static hash128 affected_full_name(const struct snapshot_def *d)
{
	return hash_combine(hash_combine(map_key_str(d->file), map_key_str(d->name)), (hash128){d->nth, 0});
}
static hash128 bare_name(const struct snapshot_def *d) { return map_key_str(d->name); }
static hash128 name_and_tokens(const struct snapshot_def *d) { return hash_combine(map_key_str(d->name), d->tokens); }

typedef hash128 name_fn(const struct snapshot_def *d);
#define SEVERAL UINT64_MAX

/* Matches definitions of the same name that are not matched yet. `single`: only if the name is unique on both sides. */
static void match_by(struct comparison *c, name_fn *name, bool single)
{
	struct map old = {0}, new = {0};
	uint64_t at, first;
	for (uint32_t i = 0; i < c->old->n_defs; i++)
		if (!c->matched[i])
			map_put(&old, name(&c->old->defs[i]), map_get(&old, name(&c->old->defs[i]), NULL) && single ? SEVERAL : i);
	for (uint32_t i = 0; single && i < c->new->n_defs; i++)
		if (c->match[i] == SNAPSHOT_NO_DEF)
			map_put(&new, name(&c->new->defs[i]), map_get(&new, name(&c->new->defs[i]), NULL) ? SEVERAL : i);
	for (uint32_t i = 0; i < c->new->n_defs; i++) {
		hash128 key = name(&c->new->defs[i]);
		if (c->match[i] != SNAPSHOT_NO_DEF || !map_get(&old, key, &at) || at == SEVERAL || c->matched[at])
			continue;
		if (single && map_get(&new, key, &first) && first == SEVERAL)
			continue;
		c->match[i] = (uint32_t)at;
		c->matched[at] = true;
	}
	map_free(&old);
	map_free(&new);
}

/* ---- changes ---- */

static int affected_by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

/* True if its names refer to the same definitions as before. An import may change that. */
static bool same_uses(struct comparison *c, const struct snapshot_def *new, const struct snapshot_def *old)
{
	arena_mark_t mark = arena_mark(c->a);
	bool same = new->n_uses == old->n_uses;
	uint32_t *list = ARENA_ARRAY(c->a, uint32_t, new->n_uses + 1);
	for (uint32_t i = 0; same && i < new->n_uses; i++)
		list[i] = c->match[new->uses[i]];
	if (same)
		qsort(list, new->n_uses, sizeof *list, affected_by_number);
	for (uint32_t i = 0; same && i < new->n_uses; i++)
		same = list[i] == old->uses[i];
	arena_release(c->a, mark);
	return same;
}

static enum def_change change_of(struct comparison *c, const struct snapshot_def *new, const struct snapshot_def *old)
{
	if (!old)
		return DEF_ADDED;
	if (!hash_eq(new->tokens, old->tokens) || old->broken || new->broken || !same_uses(c, new, old))
		return DEF_CHANGED;
	return hash_eq(new->deep, old->deep) ? DEF_SAME : DEF_AFFECTED;
}

static void list_definitions(struct comparison *c)
{
	const struct project_snapshot *new = c->new, *old = c->old;
	struct affected *out = c->out;
	out->defs = ARENA_ARRAY(c->a, struct affected_def, new->n_defs + old->n_defs + 1);
	for (uint32_t i = 0; i < new->n_defs; i++) {
		const struct snapshot_def *d = &new->defs[i], *was = c->match[i] == SNAPSHOT_NO_DEF ? NULL : &old->defs[c->match[i]];
		bool moved = was && strcmp(was->file, d->file) != 0;
		out->defs[out->n_defs++] = (struct affected_def){d, was, change_of(c, d, was), moved, SNAPSHOT_NO_DEF};
	}
	for (uint32_t i = 0; i < old->n_defs; i++)
		if (!c->matched[i] && !old->defs[i].std)
			out->defs[out->n_defs++] = (struct affected_def){&old->defs[i], &old->defs[i], DEF_REMOVED, false, SNAPSHOT_NO_DEF};
}

/* Goes from each change to its users, breadth first, so that each gets the nearest change. A definition in a file with syntax errors
 * counts as changed, so its users are affected. */
static void lead_to_changes(struct comparison *c)
{
	uint32_t n = c->new->n_defs, total = 0, head = 0, tail = 0;
	uint32_t *first = ARENA_ARRAY(c->a, uint32_t, n + 2), *queue = ARENA_ARRAY(c->a, uint32_t, n + 1);
	bool *seen = ARENA_ARRAY(c->a, bool, n + 1);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < c->new->defs[i].n_uses; k++, total++)
			first[c->new->defs[i].uses[k] + 2]++;
	for (uint32_t i = 2; i < n + 2; i++)
		first[i] += first[i - 1];
	uint32_t *users = ARENA_ARRAY(c->a, uint32_t, total + 1);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < c->new->defs[i].n_uses; k++)
			users[first[c->new->defs[i].uses[k] + 1]++] = i;
	for (uint32_t i = 0; i < n; i++)
		if ((seen[i] = c->out->defs[i].change >= DEF_CHANGED))
			queue[tail++] = i;
	while (head < tail) {
		uint32_t at = queue[head++];
		for (uint32_t k = first[at]; k < first[at + 1]; k++) {
			if (seen[users[k]])
				continue;
			seen[users[k]] = true;
			c->out->defs[users[k]].next = at;
			c->out->defs[users[k]].change = DEF_AFFECTED;
			queue[tail++] = users[k];
		}
	}
}

/* ---- models ---- */

typedef VEC(struct model_why) why_vec;

static bool affected_same_text(const char *a, const char *b) { return strcmp(a ? a : "", b ? b : "") == 0; }

static bool affected_same_words(const char *const *a, uint32_t n, const char *const *b, uint32_t m)
{
	bool same = n == m;
	for (uint32_t i = 0; same && i < n; i++)
		same = strcmp(a[i], b[i]) == 0;
	return same;
}

static bool same_inputs(const struct model_spec *a, const struct model_spec *b)
{
	bool same = a->n_inputs == b->n_inputs;
	for (uint32_t i = 0; same && i < a->n_inputs; i++) {
		const struct elab_input *x = &a->inputs[i], *y = &b->inputs[i];
		same = strcmp(x->name, y->name) == 0 && x->elem == y->elem && x->rank == y->rank;
		for (uint8_t k = 0; same && k < x->rank; k++)
			same = x->dims[k] == y->dims[k];
	}
	return same;
}

static bool same_capacities(const struct model_spec *a, const struct model_spec *b)
{
	bool same = a->n_capacities == b->n_capacities;
	for (uint32_t i = 0; same && i < a->n_capacities; i++)
		same = strcmp(a->capacities[i].name, b->capacities[i].name) == 0 && a->capacities[i].most == b->capacities[i].most;
	return same;
}

static void compare_settings(const struct model_spec *a, const struct model_spec *b, why_vec *why)
{
	const struct {
		enum manifest_key key;
		bool same;
	} all[] = {
		{KEY_ENTRY, affected_same_words(a->entries, a->n_entries, b->entries, b->n_entries)},
		{KEY_INPUT, same_inputs(a, b)},
		{KEY_STATE, same_capacities(a, b)},
		{KEY_WEIGHTS, affected_same_text(a->weights ? a->weights->text : NULL, b->weights ? b->weights->text : NULL)},
		{KEY_WEIGHTS_NAMES, affected_same_words(a->weight_names, a->n_weight_names, b->weight_names, b->n_weight_names)},
		{KEY_WEIGHTS_PREFIX, affected_same_text(a->weights_options.prefix, b->weights_options.prefix)},
		{KEY_WEIGHTS_MISSING, a->weights_options.initialize == b->weights_options.initialize},
		{KEY_WEIGHTS_PACKING, a->packing == b->packing},
		{KEY_WEIGHTS_INSIDE, a->weights_inside == b->weights_inside},
		{KEY_EMIT, a->emit == b->emit},
		{KEY_OPT, a->plan.opt == b->plan.opt && a->plan.size == b->plan.size},
		{KEY_PROFILE_HOOK, a->plan.profile_hook == b->plan.profile_hook},
		{KEY_CPU, affected_same_text(a->cpu, b->cpu)},
		{KEY_TARGET, affected_same_text(a->target, b->target)},
		{KEY_OUT, affected_same_text(a->out, b->out)},
		{KEY_LINKER, affected_same_text(a->linker, b->linker)},
		{KEY_VERSION, affected_same_text(a->version, b->version)},
	};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct model_why w = {MODEL_SETTING, manifest_key_text(all[i].key), SNAPSHOT_NO_DEF};
		if (!all[i].same)
			vec_push(why, w);
	}
}

/* The entry may now be another definition of the same name, in a file that was not loaded before. */
static void compare_entries(struct comparison *c, const struct snapshot_model *new, const struct snapshot_model *old, why_vec *why)
{
	for (uint32_t i = 0; i < new->spec->n_entries; i++) {
		uint32_t at = new->entries[i];
		struct model_why w = {MODEL_ENTRY, new->spec->entries[i], at};
		bool known = i < old->spec->n_entries && old->entries[i] != SNAPSHOT_NO_DEF && at != SNAPSHOT_NO_DEF;
		bool same =
			known && hash_eq(c->new->defs[at].deep, c->old->defs[old->entries[i]].deep) && c->out->defs[at].change == DEF_SAME;
		if (!same)
			vec_push(why, w);
	}
}

static void compare_weights(const struct model_spec *new, const struct git_api *git, struct git_view *view, why_vec *why)
{
	struct file_stamp stamp;
	const char *path = new->weights ? new->weights->text : NULL;
	if (!path)
		return;
	struct model_why changed = {MODEL_WEIGHTS, path, SNAPSHOT_NO_DEF}, unknown = {MODEL_WEIGHTS_UNKNOWN, path, SNAPSHOT_NO_DEF};
	bool had = git->view_has(view, path), has = os_stamp(path, &stamp);
	if (had && (!has || !git->view_matches_disk(view, path)))
		vec_push(why, changed);
	else if (!had && has)
		vec_push(why, unknown);
}

static const struct snapshot_model *affected_find_model(const struct project_snapshot *w, const char *name)
{
	for (uint32_t i = 0; i < w->n_models; i++)
		if (strcmp(w->models[i].spec->name, name) == 0)
			return &w->models[i];
	return NULL;
}

static void compare_models(struct comparison *c, const struct git_api *git, struct git_view *view)
{
	struct affected *out = c->out;
	out->n_models = c->new->n_models;
	out->models = ARENA_ARRAY(c->a, struct affected_model, out->n_models + 1);
	for (uint32_t i = 0; i < out->n_models; i++) {
		const struct snapshot_model *new = &c->new->models[i], *old = affected_find_model(c->old, new->spec->name);
		why_vec why = {0};
		if (old) {
			compare_settings(new->spec, old->spec, &why);
			compare_entries(c, new, old, &why);
			compare_weights(new->spec, git, view, &why);
		} else {
			struct model_why fresh = {MODEL_NEW, new->spec->name, SNAPSHOT_NO_DEF};
			vec_push(&why, fresh);
		}
		struct affected_model *m = &out->models[i];
		*m = (struct affected_model){new->spec->name, ARENA_ARRAY(c->a, struct model_why, why.len + 1), why.len};
		for (uint32_t k = 0; k < why.len; k++)
			m->why[k] = why.at[k];
		vec_free(&why);
	}
	const char **removed = ARENA_ARRAY(c->a, const char *, c->old->n_models + 1);
	for (uint32_t i = 0; i < c->old->n_models; i++)
		if (!affected_find_model(c->new, c->old->models[i].spec->name))
			removed[out->n_removed++] = c->old->models[i].spec->name;
	out->removed = removed;
}

struct affected *affected_new(struct arena *a, const struct project_snapshot *old, const struct project_snapshot *new,
			      const struct git_api *git, struct git_view *view)
{
	struct comparison c = {.a = a, .old = old, .new = new, .out = ARENA_NEW(a, struct affected)};
	c.match = ARENA_ARRAY(a, uint32_t, new->n_defs + 1);
	c.matched = ARENA_ARRAY(a, bool, old->n_defs + 1);
	for (uint32_t i = 0; i < new->n_defs; i++)
		c.match[i] = SNAPSHOT_NO_DEF;
	match_by(&c, affected_full_name, false);
	match_by(&c, name_and_tokens, false);
	match_by(&c, bare_name, true);
	list_definitions(&c);
	lead_to_changes(&c);
	compare_models(&c, git, view);
	return c.out;
}
