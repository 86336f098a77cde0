/* trib profile scaling: cold builds of each model, of all models with more and more jobs, and at each level. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/os.h"
#include "base/source.h"
#include "builder/build/load.h"
#include "builder/build/model.h"
#include "builder/cli/print.h"
#include "builder/cli/profile.h"
#include "builder/profile/figures.h"
#include "builder/profile/process.h"
#include "builder/profile/scaling.h"
#include "frontend/frontend.h"
#include "frontend/hir/hir.h"

#define SAMPLES 3
#define MAX_TIME_NS 600e9
#define LARGEST 500e6 /* parameters of a model that is measured without being named */

struct scaler {
	const struct options *o;
	struct scaling s;
	const char *program;
	double max_time_ns;
	int64_t began;
	const char **models; /* those that are measured, NULL-terminated */
	uint32_t n_models;
};

/* ---- sizes ---- */

static double elements_of(const struct hir_param *p)
{
	double n = 1;
	for (uint32_t i = 0; i < p->type.rank; i++)
		n *= (double)dim_eval(p->dims, p->type.dims[i], NULL);
	return n;
}

/* Counts parameters, and the layers that have some. The name of a parameter is that of its layer, a dot and a word; those of a layer follow each other. */
static void count_parameters(const struct hir_program *p, struct scaling_model *m)
{
	const char *last = "";
	size_t last_len = 0;
	for (uint32_t i = 0; i < p->n_params; i++) {
		const char *name = p->params[i].name, *dot = strrchr(name, '.');
		size_t len = dot ? (size_t)(dot - name) : 0;
		if (!p->params[i].buffer)
			m->size[SIZE_PARAMETERS] += elements_of(&p->params[i]);
		if (i == 0 || len != last_len || strncmp(name, last, len) != 0)
			m->size[SIZE_LAYERS]++;
		last = name;
		last_len = len;
	}
}

static void count_lines(const struct build_context *c, const struct frontend *f, struct scaling_model *m)
{
	for (uint32_t i = 0; i < frontend_files(f); i++) {
		const struct source *s = context_find_source(c, frontend_file_path(f, i));
		for (const char *at = s ? s->text : NULL; at && (at = strchr(at, '\n')); at++)
			m->size[SIZE_LINES]++;
	}
}

/* Reads the sizes of the models. Of more than LARGEST parameters only those are measured that the command line names. */
static enum status find_models(struct scaler *k)
{
	struct loaded_project l;
	enum status s = project_load(&l, k->o, LOAD_PARAMS);
	k->models = ARENA_ARRAY(k->s.arena, const char *, l.project.n_models + 1);
	for (uint32_t i = 0; s == STATUS_OK && i < l.project.n_models; i++) {
		const struct model_job *j = &l.project.models[i];
		struct scaling_model m = {.name = arena_strdup(k->s.arena, j->spec->name)};
		bool is_known = j->program && !j->params.unknown && !j->params.file_absent;
		if (is_known) {
			count_parameters(j->program, &m);
			count_lines(&l.context, j->frontend, &m);
		}
		m.is_measured = is_known && (k->o->n_operands || m.size[SIZE_PARAMETERS] <= LARGEST);
		if (m.is_measured)
			k->models[k->n_models++] = m.name;
		vec_push(&k->s.models, m);
	}
	return project_unload(&l, s);
}

/* ---- measuring ---- */

static struct scaling_cost cost_of(const struct profile *p)
{
	return (struct scaling_cost){profile_median(p, &p->total, METRIC_WALL), profile_median(p, &p->total, METRIC_CPU),
				     profile_median(p, &p->total, METRIC_PEAK)};
}

/* Cold builds of `models`, NULL-terminated. As the time runs out, fewer samples are taken. False: an error was printed. */
static bool measure(struct scaler *k, const char *const *models, const char *flags, const char *label, struct scaling_cost *out)
{
	uint32_t samples = k->o->samples ? (uint32_t)k->o->samples : SAMPLES;
	struct recording r = {.options = {.program = k->program,
					  .root = ".",
					  .scenario = SCENARIO_COLD,
					  .models = models,
					  .flags = split_words(k->s.arena, flags),
					  .only_totals = true},
			      .label = label};
	struct profile *p = NULL;
	recording_open(&r, 0, samples);
	bool ok = r.recorder != NULL;
	for (uint32_t i = 0; ok && i < samples; i++)
		if (i == 0 || (double)(os_now_ns() - k->began) < k->max_time_ns)
			ok = recording_sample(&r, &p);
	recording_close(&r);
	if (ok) {
		*out = cost_of(p);
		k->s.samples = p->n_samples > k->s.samples ? p->n_samples : k->s.samples;
	}
	profile_free(p);
	return ok;
}

static bool measure_models(struct scaler *k)
{
	for (uint32_t i = 0; i < k->s.models.len; i++) {
		struct scaling_model *m = &k->s.models.at[i];
		const char *models[] = {m->name, NULL};
		if (m->is_measured && !measure(k, models, "-j1", m->name, &m->cost))
			return false;
	}
	return true;
}

static bool measure_settings(struct scaler *k)
{
	static const struct {
		const char *flag;
		double jobs;
	} all[] = {{"-j1", 1}, {"-j2", 2}, {"-j4", 4}, {"-j8", 8}, {"-O0", 0}, {"-O1", 0}, {"-O2", 0}, {"-O3", 0}, {"-Os", 0}};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct scaling_setting x = {.flag = all[i].flag, .jobs = all[i].jobs};
		if (!measure(k, k->models, x.flag, x.flag, &x.cost))
			return false;
		vec_push(&k->s.settings, x);
	}
	return true;
}

static enum status run(struct scaler *k)
{
	struct report_options r = report_options_of(k->o);
	enum metric_unit unit = UNIT_NS;
	k->max_time_ns = MAX_TIME_NS;
	k->began = os_now_ns();
	if (k->o->max_time && (!figure_parse(k->o->max_time, &unit, &k->max_time_ns) || unit != UNIT_NS))
		return fail_usage("--max-time wants a time such as 60s, not `%s`", k->o->max_time);
	enum status s = find_models(k);
	if (s != STATUS_OK)
		return s;
	if (!k->n_models)
		return fail_usage(
			"there is no model to measure: their weights are missing, or they have more than 500 million parameters and "
			"the command names none");
	if (!measure_models(k) || !measure_settings(k))
		return os_interrupted() ? STATUS_INTERRUPTED : STATUS_ENVIRONMENT;
	struct buf report = {0};
	report_scaling(&k->s, &r, &report);
	print_report(&report);
	return STATUS_OK;
}

enum status profile_scaling(const struct options *o)
{
	char *program = process_own_path();
	struct scaler k = {.o = o, .program = program, .s = {.arena = arena_new(0)}};
	enum status s = program ? run(&k) : fail_environment("cannot find the executable");
	vec_free(&k.s.models);
	vec_free(&k.s.settings);
	arena_free(k.s.arena);
	free(program);
	return s;
}
