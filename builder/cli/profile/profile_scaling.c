/* trib profile scaling: cold builds of each model, of all models with more and more jobs, and at each level. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/os.h"
#include "builder/cli/profile/cold_builds.h"
#include "builder/cli/print.h"
#include "builder/cli/profile/profile.h"
#include "builder/profile/scaling.h"

struct scaler {
	struct cold_builds builds;
	struct scaling s;
};

static bool profile_scaling_measure(struct scaler *k, const char *const *models, const char *flag, const char *label,
				    struct scaling_cost *out)
{
	return cold_builds_measure(&k->builds, models, split_words(k->s.arena, flag), label, out);
}

static bool profile_scaling_measure_models(struct scaler *k)
{
	for (uint32_t i = 0; i < k->s.models.len; i++) {
		struct scaling_model *m = &k->s.models.at[i];
		const char *models[] = {m->name, NULL};
		if (m->is_measured && !profile_scaling_measure(k, models, "-j1", m->name, &m->cost))
			return false;
	}
	return true;
}

static bool measure_settings(struct scaler *k, const char *const *all_models)
{
	static const struct {
		const char *flag;
		double jobs;
	} all[] = {{"-j1", 1}, {"-j2", 2}, {"-j4", 4}, {"-j8", 8}, {"-O0", 0}, {"-O1", 0}, {"-O2", 0}, {"-O3", 0}, {"-Os", 0}};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct scaling_setting x = {.flag = all[i].flag, .jobs = all[i].jobs};
		if (!profile_scaling_measure(k, all_models, x.flag, x.flag, &x.cost))
			return false;
		vec_push(&k->s.settings, x);
	}
	return true;
}

/* The names of the models that are measured, NULL-terminated. */
static const char *const *list_measured(struct scaler *k, uint32_t *n)
{
	const char **names = ARENA_ARRAY(k->s.arena, const char *, k->s.models.len + 1);
	*n = 0;
	for (uint32_t i = 0; i < k->s.models.len; i++)
		if (k->s.models.at[i].is_measured)
			names[(*n)++] = k->s.models.at[i].name;
	return names;
}

static enum status profile_scaling_run(struct scaler *k)
{
	struct report_options r = report_options_of(k->builds.options);
	uint32_t n;
	enum status s = cold_builds_find_models(&k->builds, k->builds.options, &k->s.models);
	if (s != STATUS_OK)
		return s;
	const char *const *all = list_measured(k, &n);
	if (!n)
		return fail_usage(
			"there is no model to measure: their weights are missing, or they have more than 500 million parameters and "
			"the command names none");
	if (!profile_scaling_measure_models(k) || !measure_settings(k, all))
		return os_interrupted() ? STATUS_INTERRUPTED : STATUS_ENVIRONMENT;
	struct buf report = {0};
	k->s.samples = k->builds.most_samples;
	report_scaling(&k->s, &r, &report);
	print_report(&report);
	return STATUS_OK;
}

enum status profile_scaling(const struct options *o)
{
	struct scaler k = {.s = {.arena = arena_new(0)}};
	enum status s = cold_builds_open(&k.builds, o, k.s.arena);
	if (s == STATUS_OK)
		s = profile_scaling_run(&k);
	cold_builds_close(&k.builds);
	vec_free(&k.s.models);
	vec_free(&k.s.settings);
	arena_free(k.s.arena);
	return s;
}
