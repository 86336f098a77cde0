/* trib profile targets: cold builds of reference models, or of models of the project, beside what a build of their size may cost. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/os.h"
#include "builder/cli/profile/cold_builds.h"
#include "builder/cli/print.h"
#include "builder/cli/profile/profile.h"
#include "builder/cli/profile/reference_models.h"
#include "builder/profile/targets.h"

struct checker {
	struct cold_builds builds;
	struct target_rows rows;
	const char **references, **models; /* what the operands name, without duplicates of classes */
	uint32_t n_references, n_models;
};

/* Operands are names of classes, or else of models. None: all classes. */
static void profile_targets_read_operands(struct checker *k, const struct options *o)
{
	enum target_class c;
	k->references = ARENA_ARRAY(k->rows.arena, const char *, o->n_operands + TARGET_CLASSES);
	k->models = ARENA_ARRAY(k->rows.arena, const char *, o->n_operands + 1);
	for (uint32_t i = 0; i < o->n_operands; i++)
		if (target_class_parse(o->operands[i], &c))
			k->references[k->n_references++] = targets[c].model;
		else
			k->models[k->n_models++] = o->operands[i];
	for (uint32_t i = 0; i < TARGET_CLASSES && !o->n_operands; i++)
		k->references[k->n_references++] = targets[i].model;
}

static bool profile_targets_measure(struct checker *k, struct scaling_model *model, bool is_generated)
{
	const char *models[] = {model->name, NULL};
	if (!cold_builds_measure(&k->builds, models, k->builds.options->command, model->name, &model->cost))
		return false;
	vec_push(&k->rows.list, ((struct target_row){*model, is_generated}));
	return true;
}

/* Measures models of the project in the current folder. */
static enum status profile_targets_measure_models(struct checker *k, const char *const *names, uint32_t n, bool are_generated)
{
	struct options o = *k->builds.options;
	scaling_models found = {0};
	o.operands = names;
	o.n_operands = n;
	enum status s = cold_builds_find_models(&k->builds, &o, &found);
	for (uint32_t i = 0; s == STATUS_OK && i < found.len; i++)
		if (!found.at[i].is_measured)
			s = fail_usage("model `%s` cannot be measured: its weights are missing", found.at[i].name);
		else if (!profile_targets_measure(k, &found.at[i], are_generated))
			s = os_interrupted() ? STATUS_INTERRUPTED : STATUS_ENVIRONMENT;
	vec_free(&found);
	return s;
}

static enum status measure_references_in(struct checker *k, const char *folder)
{
	int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	enum status s = STATUS_OK;
	if (here < 0 || !reference_models_write(folder) || chdir(folder) != 0)
		s = fail_environment("cannot write the reference models to `%s`: %s", folder, strerror(errno));
	if (s == STATUS_OK)
		s = profile_targets_measure_models(k, k->references, k->n_references, true);
	if (here >= 0 && fchdir(here) != 0 && s == STATUS_OK)
		s = fail_environment("cannot return to the folder of the project: %s", strerror(errno));
	if (here >= 0)
		close(here);
	return s;
}

static enum status measure_references(struct checker *k)
{
	const char *temporary = getenv("TMPDIR");
	char *folder = arena_printf(k->rows.arena, "%s/trib-profile-XXXXXX", temporary && *temporary ? temporary : "/tmp");
	if (!mkdtemp(folder))
		return fail_environment("cannot make a folder like `%s`: %s", folder, strerror(errno));
	enum status s = measure_references_in(k, folder);
	os_remove_tree(folder);
	return s;
}

static enum status profile_targets_run(struct checker *k)
{
	struct report_options r = report_options_of(k->builds.options);
	enum status s = STATUS_OK;
	profile_targets_read_operands(k, k->builds.options);
	if (k->n_models)
		s = profile_targets_measure_models(k, k->models, k->n_models, false);
	if (s == STATUS_OK && k->n_references)
		s = measure_references(k);
	if (s != STATUS_OK)
		return s;
	struct buf report = {0};
	k->rows.samples = k->builds.most_samples;
	report_targets(&k->rows, &r, &report);
	print_report(&report);
	return targets_hold(&k->rows) ? STATUS_OK : STATUS_FAILED;
}

enum status profile_targets(const struct options *o)
{
	struct checker k = {.rows = {.arena = arena_new(0)}};
	enum status s = cold_builds_open(&k.builds, o, k.rows.arena);
	if (s == STATUS_OK)
		s = profile_targets_run(&k);
	cold_builds_close(&k.builds);
	vec_free(&k.rows.list);
	arena_free(k.rows.arena);
	return s;
}
