/* What a change affects: definitions, and models with the reasons. */
#include "builder/query/affected.h"
#include "tests/unit/unit.h"
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "builder/git/git.h"
#include "builder/manifest/manifest.h"

/* ---- snapshots of projects that exist only here ---- */

struct written_def {
	const char *file, *name;
	uint64_t tokens;
	const char *uses; /* a digit for each used definition */
};

/* The hash of a definition with all that it uses. */
static hash128 deep_hash(const struct snapshot_def *defs, uint32_t at)
{
	hash128 h = defs[at].tokens;
	for (uint32_t i = 0; i < defs[at].n_uses; i++)
		h = hash_combine(h, deep_hash(defs, defs[at].uses[i]));
	return h;
}

static struct project_snapshot snapshot_of(struct arena *a, const struct written_def *from, uint32_t n)
{
	struct project_snapshot s = {.arena = a, .defs = ARENA_ARRAY(a, struct snapshot_def, n + 1), .n_defs = n};
	for (uint32_t i = 0; i < n; i++) {
		uint32_t *uses = ARENA_ARRAY(a, uint32_t, strlen(from[i].uses) + 1);
		s.defs[i] = (struct snapshot_def){.file = from[i].file, .name = from[i].name, .line = i + 1, .tokens = {from[i].tokens, 0}};
		for (uint32_t k = 0; k < i; k++)
			s.defs[i].nth += !strcmp(from[k].file, from[i].file) && !strcmp(from[k].name, from[i].name);
		for (const char *u = from[i].uses; *u; u++)
			uses[s.defs[i].n_uses++] = (uint32_t)(*u - '0');
		s.defs[i].uses = uses;
	}
	for (uint32_t i = 0; i < n; i++)
		s.defs[i].deep = deep_hash(s.defs, i);
	return s;
}
#define SNAPSHOT(a, ...)                                          \
	snapshot_of(a, (const struct written_def[]){__VA_ARGS__}, \
		    sizeof((const struct written_def[]){__VA_ARGS__}) / sizeof(struct written_def))

/* Adds a model with one entry. */
static struct model_spec *snapshot_add_model(struct project_snapshot *s, const char *name, uint32_t entry)
{
	struct snapshot_model *models = ARENA_ARRAY(s->arena, struct snapshot_model, s->n_models + 1);
	struct model_spec *spec = ARENA_NEW(s->arena, struct model_spec);
	uint32_t *at = ARENA_NEW(s->arena, uint32_t);
	const char **names = ARENA_NEW(s->arena, const char *);
	if (s->n_models)
		memcpy(models, s->models, s->n_models * sizeof *models);
	*at = entry;
	*names = entry == SNAPSHOT_NO_DEF ? "Absent" : s->defs[entry].name;
	*spec = (struct model_spec){.name = name, .entries = names, .n_entries = 1};
	models[s->n_models++] = (struct snapshot_model){spec, at};
	s->models = models;
	return spec;
}

/* The commit of the old snapshot, as far as weights are concerned. */
struct git_view {
	bool has, matches;
};
static bool commit_has(struct git_view *v, const char *path) { return v->has; }
static bool commit_matches(struct git_view *v, const char *path) { return v->matches; }
static const struct git_api fake_git = {.view_has = commit_has, .view_matches_disk = commit_matches};

/* "gain changed, Net affected → gain": all definitions that are not the same. */
static void put_changes(const struct affected *f, struct buf *out)
{
	buf_puts(out, "");
	for (uint32_t i = 0; i < f->n_defs; i++) {
		const struct affected_def *d = &f->defs[i];
		if (d->change == DEF_SAME && !d->moved)
			continue;
		buf_printf(out, "%s%s %s%s", out->len ? ", " : "", d->def->name, def_change_text(d->change), d->moved ? " moved" : "");
		for (uint32_t at = d->next; at != SNAPSHOT_NO_DEF; at = f->defs[at].next)
			buf_printf(out, " → %s", f->defs[at].def->name);
	}
}

static void compares(const struct project_snapshot *old, const struct project_snapshot *new, const char *expected)
{
	struct buf out = {0};
	put_changes(affected_new(new->arena, old, new, &fake_git, NULL), &out);
	assert_string_equal(out.at, expected);
	buf_free(&out);
}

static int setup(void **state)
{
	*state = arena_new(0);
	return 0;
}

static int teardown(void **state)
{
	arena_free(*state);
	return 0;
}

static void users_are_affected_by_the_nearest_change(void **state)
{
	const struct written_def before[] = {{"a.tri", "gain", 1, ""},  {"a.tri", "Short", 2, "0"}, {"a.tri", "Block", 3, "0"},
					     {"a.tri", "Long", 4, "2"}, {"a.tri", "Net", 5, "13"},  {"a.tri", "other", 6, ""}};
	struct written_def after[6];
	memcpy(after, before, sizeof after);
	after[0].tokens = 9;
	struct project_snapshot old = snapshot_of(*state, before, 6), new = snapshot_of(*state, after, 6);
	compares(&old, &new,
		 "gain changed, Short affected → gain, Block affected → gain, Long affected → Block → gain, Net affected → Short → gain");
}

static void definitions_come_and_go(void **state)
{
	struct project_snapshot old = SNAPSHOT(*state, {"a.tri", "gone", 1, ""}, {"std/x.tri", "library", 3, ""}),
				new = SNAPSHOT(*state, {"a.tri", "fresh", 2, ""});
	old.defs[1].std = true; /* the standard library is equal in every snapshot, though not all of it is loaded */
	compares(&old, &new, "fresh added, gone removed");
}

static void file_of_a_definition_is_no_change_to_its_users(void **state)
{
	struct project_snapshot old = SNAPSHOT(*state, {"a.tri", "gain", 1, ""}, {"a.tri", "Net", 2, "0"}),
				new = SNAPSHOT(*state, {"b.tri", "gain", 1, ""}, {"a.tri", "Net", 2, "0"});
	compares(&old, &new, "gain same moved");
}

static void moved_and_changed_if_the_name_is_unique(void **state)
{
	struct project_snapshot old = SNAPSHOT(*state, {"a.tri", "gain", 1, ""}), new = SNAPSHOT(*state, {"b.tri", "gain", 2, ""}),
				two = SNAPSHOT(*state, {"b.tri", "gain", 2, ""}, {"c.tri", "gain", 3, ""}),
				one_left = SNAPSHOT(*state, {"b.tri", "gain", 2, ""}, {"c.tri", "gain", 1, ""});
	compares(&old, &new, "gain changed moved");
	compares(&old, &two, "gain added, gain added, gain removed");
	compares(&two, &old, "gain added, gain removed, gain removed");
	compares(&old, &one_left, "gain added, gain same moved"); /* equal tokens decide before the name */
}

static void import_that_leads_elsewhere_is_a_change(void **state)
{
	struct project_snapshot old = SNAPSHOT(*state, {"a.tri", "f", 1, ""}, {"b.tri", "f", 1, ""}, {"c.tri", "Net", 3, "0"}),
				new = SNAPSHOT(*state, {"a.tri", "f", 1, ""}, {"b.tri", "f", 1, ""}, {"c.tri", "Net", 3, "1"});
	compares(&old, &new, "Net changed");
}

static void file_with_syntax_errors_counts_as_changed(void **state)
{
	struct project_snapshot old = SNAPSHOT(*state, {"a.tri", "f", 1, ""}, {"b.tri", "Net", 2, "0"}), new = old;
	new.defs = ARENA_ARRAY(old.arena, struct snapshot_def, 2);
	memcpy(new.defs, old.defs, 2 * sizeof *new.defs);
	new.defs[0].broken = true;
	compares(&old, &new, "f changed, Net affected → f");
	compares(&new, &old, "f changed, Net affected → f");
}

static void equal_names_differ_by_their_order(void **state)
{
	struct project_snapshot old = SNAPSHOT(*state, {"a.tri", "main", 1, ""}, {"a.tri", "main", 2, ""}),
				new = SNAPSHOT(*state, {"a.tri", "main", 1, ""}, {"a.tri", "main", 3, ""});
	compares(&old, &new, "main changed");
}

/* ---- models ---- */

/* "net: setting opt, entry Net; old removed" */
static void models(const struct project_snapshot *old, const struct project_snapshot *new, struct git_view view, const char *expected)
{
	struct buf out = {0};
	const struct affected *f = affected_new(new->arena, old, new, &fake_git, &view);
	buf_puts(&out, "");
	for (uint32_t i = 0; i < f->n_models; i++)
		for (uint32_t k = 0; k < f->models[i].n_why; k++) {
			const struct model_why *w = &f->models[i].why[k];
			if (!k)
				buf_printf(&out, "%s%s:", out.len ? "; " : "", f->models[i].name);
			buf_printf(&out, "%s %s %s", k ? "," : "", model_reason_text(w->reason), w->text);
		}
	for (uint32_t i = 0; i < f->n_removed; i++)
		buf_printf(&out, "%s%s removed", out.len ? "; " : "", f->removed[i]);
	assert_string_equal(out.at, expected);
	buf_free(&out);
}

static void settings_and_entries_are_reasons(void **state)
{
	struct project_snapshot old = SNAPSHOT(*state, {"a.tri", "gain", 1, ""}, {"a.tri", "Net", 2, "0"}),
				new = SNAPSHOT(*state, {"a.tri", "gain", 9, ""}, {"a.tri", "Net", 2, "0"});
	snapshot_add_model(&old, "net", 1);
	struct model_spec *m = snapshot_add_model(&new, "net", 1);
	models(&old, &new, (struct git_view){0}, "net: entry Net");
	m->plan.opt = 3;
	m->cpu = "x86-64-v3";
	models(&old, &new, (struct git_view){0}, "net: setting opt, setting cpu, entry Net");
}

static void entry_whose_names_lead_elsewhere_is_a_reason(void **state)
{
	struct project_snapshot old = SNAPSHOT(*state, {"a.tri", "f", 1, ""}, {"b.tri", "f", 1, ""}, {"c.tri", "Net", 3, "0"}),
				new = SNAPSHOT(*state, {"a.tri", "f", 1, ""}, {"b.tri", "f", 1, ""}, {"c.tri", "Net", 3, "1"});
	snapshot_add_model(&old, "net", 2);
	snapshot_add_model(&new, "net", 2);
	models(&old, &new, (struct git_view){0}, "net: entry Net");
}

static void weights_are_compared_with_the_commit(void **state)
{
	struct project_snapshot s = SNAPSHOT(*state, {"a.tri", "Net", 1, ""});
	struct model_spec *m = snapshot_add_model(&s, "net", 0);
	struct manifest_value there = {.text = "/proc/self/exe"}, absent = {.text = "/absent/w.npy"};
	m->weights = &there;
	models(&s, &s, (struct git_view){.has = true, .matches = true}, "");
	models(&s, &s, (struct git_view){.has = true, .matches = false}, "net: weights /proc/self/exe");
	models(&s, &s, (struct git_view){.has = false}, "net: weights not in git /proc/self/exe");
	m->weights = &absent;
	models(&s, &s, (struct git_view){.has = true, .matches = true}, "net: weights /absent/w.npy");
	models(&s, &s, (struct git_view){.has = false}, "");
}

/* ---- the texts of --since ---- */

static void reasons_are_sentences(void **state)
{
	struct project_snapshot old = SNAPSHOT(*state, {"a.tri", "gain", 1, ""}, {"a.tri", "Net", 2, "0"}, {"a.tri", "late", 3, ""}),
				new = SNAPSHOT(*state, {"a.tri", "gain", 9, ""}, {"a.tri", "Net", 2, "0"}, {"b.tri", "late", 3, ""},
					       {"a.tri", "spare", 4, ""});
	const struct since since = {.arena = *state, .affected = affected_new(*state, &old, &new, &fake_git, NULL)};
	const struct {
		struct model_why why;
		const char *text;
	} cases[] = {
		{{MODEL_SETTING, "opt", SNAPSHOT_NO_DEF}, "`opt` of tri.build changed"},
		{{MODEL_ENTRY, "Old", SNAPSHOT_NO_DEF}, "the entry Old was not found"},
		{{MODEL_ENTRY, "Net", 1}, "Net → gain changed"},
		{{MODEL_ENTRY, "gain", 0}, "gain changed"},
		{{MODEL_ENTRY, "spare", 3}, "spare is new"},
		{{MODEL_ENTRY, "late", 2}, "late is another definition now"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_string_equal(since_reason(&since, &cases[i].why), cases[i].text);
}

static void only_definitions_of_the_named_models_are_shown(void **state)
{
	struct project_snapshot old = SNAPSHOT(*state, {"a.tri", "f", 1, ""}, {"a.tri", "g", 2, ""}, {"a.tri", "gone", 3, ""}),
				new = SNAPSHOT(*state, {"a.tri", "f", 8, ""}, {"b.tri", "g", 2, ""});
	const bool reached[] = {false, true, true};
	struct since since = {.arena = *state, .affected = affected_new(*state, &old, &new, &fake_git, NULL)};
	assert_true(since_shows(&since, 0) && since_shows(&since, 1) && since_shows(&since, 2)); /* what only moved, too */
	since.reached = reached;
	assert_false(since_shows(&since, 0));
	assert_true(since_shows(&since, 1));
	assert_false(since_shows(&since, 2)); /* no model reaches what is gone */
	new.defs[1].std = true;
	assert_false(since_shows(&since, 1));
}

int test_affected(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(users_are_affected_by_the_nearest_change, setup, teardown),
		cmocka_unit_test_setup_teardown(definitions_come_and_go, setup, teardown),
		cmocka_unit_test_setup_teardown(file_of_a_definition_is_no_change_to_its_users, setup, teardown),
		cmocka_unit_test_setup_teardown(moved_and_changed_if_the_name_is_unique, setup, teardown),
		cmocka_unit_test_setup_teardown(import_that_leads_elsewhere_is_a_change, setup, teardown),
		cmocka_unit_test_setup_teardown(file_with_syntax_errors_counts_as_changed, setup, teardown),
		cmocka_unit_test_setup_teardown(equal_names_differ_by_their_order, setup, teardown),
		cmocka_unit_test_setup_teardown(settings_and_entries_are_reasons, setup, teardown),
		cmocka_unit_test_setup_teardown(entry_whose_names_lead_elsewhere_is_a_reason, setup, teardown),
		cmocka_unit_test_setup_teardown(weights_are_compared_with_the_commit, setup, teardown),
		cmocka_unit_test_setup_teardown(reasons_are_sentences, setup, teardown),
		cmocka_unit_test_setup_teardown(only_definitions_of_the_named_models_are_shown, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
