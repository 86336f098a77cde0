#include "builder/cli/profile/cold_builds.h"
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/os.h"
#include "base/source.h"
#include "builder/build/load.h"
#include "builder/build/model/model.h"
#include "builder/build/session/context.h"
#include "builder/build/session/status.h"
#include "builder/cli/print.h"
#include "builder/cli/profile/profile.h"
#include "builder/profile/figures.h"
#include "builder/profile/process.h"
#include "frontend/frontend.h"
#include "frontend/hir/hir.h"

#define SAMPLES 3
#define MAX_TIME_NS 600e9
#define LARGEST 500e6 /* parameters of a model that is measured without being named */

enum status cold_builds_open(struct cold_builds *c, const struct options *o, struct arena *a)
{
	*c = (struct cold_builds){.options = o, .arena = a, .max_time_ns = MAX_TIME_NS, .began = os_now_ns()};
	if (!max_time_of(o, &c->max_time_ns))
		return STATUS_USAGE;
	c->program = process_own_path();
	return c->program ? STATUS_OK : fail_environment("cannot find the executable");
}

void cold_builds_close(struct cold_builds *c) { free(c->program); }

/* ---- sizes ---- */

static double elements_of(const struct hir_param *p)
{
	double n = 1;
	for (uint32_t i = 0; i < p->type.rank; i++)
		n *= (double)dim_eval(p->dims, p->type.dims[i], NULL);
	return n;
}

/* Counts parameters, and the layers that have some. The name of a parameter is that of its layer, a dot and a word; those of a layer follow each other. */
static void count_parameters(const struct hir_program *p, struct scaling_model *model)
{
	const char *last = "";
	size_t last_len = 0;
	for (uint32_t i = 0; i < p->n_params; i++) {
		const char *name = p->params[i].name, *dot = strrchr(name, '.');
		size_t len = dot ? (size_t)(dot - name) : 0;
		if (!p->params[i].buffer)
			model->size[SIZE_PARAMETERS] += elements_of(&p->params[i]);
		if (i == 0 || len != last_len || strncmp(name, last, len) != 0)
			model->size[SIZE_LAYERS]++;
		last = name;
		last_len = len;
	}
}

static void cold_builds_count_lines(const struct build_context *c, const struct frontend *f, struct scaling_model *model)
{
	for (uint32_t i = 0; i < frontend_files(f); i++) {
		const struct source *s = context_find_source(c, frontend_file_path(f, i));
		for (const char *at = s ? s->text : NULL; at && (at = strchr(at, '\n')); at++)
			model->size[SIZE_LINES]++;
	}
}

enum status cold_builds_find_models(struct cold_builds *c, const struct options *o, scaling_models *out)
{
	struct loaded_project l;
	enum status s = project_load(&l, o, LOAD_PARAMS);
	for (uint32_t i = 0; s == STATUS_OK && i < l.project.n_models; i++) {
		const struct model_job *j = &l.project.models[i];
		struct scaling_model m = {.name = arena_strdup(c->arena, j->spec->name)};
		bool is_known = j->program && !j->params.unknown && !j->params.file_absent;
		if (is_known) {
			count_parameters(j->program, &m);
			cold_builds_count_lines(&l.context, j->frontend, &m);
		}
		m.is_measured = is_known && (o->n_operands || m.size[SIZE_PARAMETERS] <= LARGEST);
		vec_push(out, m);
	}
	return project_unload(&l, s);
}

/* ---- measuring ---- */

static struct scaling_cost cost_of(const struct profile *p)
{
	struct scaling_cost c = {.wall_ns = profile_median(p, &p->total, METRIC_WALL),
				 .cpu_ns = profile_median(p, &p->total, METRIC_CPU),
				 .peak_bytes = profile_median(p, &p->total, METRIC_PEAK),
				 .private_dirty_bytes = profile_median(p, &p->total, METRIC_DIRTY)};
	c.least_wall_ns = p->total.of[METRIC_WALL][0];
	for (uint32_t i = 1; i < p->n_samples; i++)
		if (p->total.of[METRIC_WALL][i] < c.least_wall_ns)
			c.least_wall_ns = p->total.of[METRIC_WALL][i];
	return c;
}

bool cold_builds_measure(struct cold_builds *c, const char *const *models, const char *const *flags, const char *label,
			 struct scaling_cost *out)
{
	uint32_t samples = c->options->recording.samples ? (uint32_t)c->options->recording.samples : SAMPLES;
	struct recording r = {.options = {.program = c->program,
					  .root = ".",
					  .scenario = SCENARIO_COLD,
					  .models = models,
					  .flags = flags,
					  .only_totals = true,
					  .watch_memory = true},
			      .label = label};
	struct profile *p = NULL;
	recording_open(&r, 0, samples);
	bool ok = r.recorder != NULL;
	for (uint32_t i = 0; ok && i < samples; i++)
		if (i == 0 || (double)(os_now_ns() - c->began) < c->max_time_ns)
			ok = recording_sample(&r, &p);
	recording_close(&r);
	if (ok) {
		*out = cost_of(p);
		c->most_samples = p->n_samples > c->most_samples ? p->n_samples : c->most_samples;
	}
	profile_free(p);
	return ok;
}
