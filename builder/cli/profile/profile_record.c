/* trib profile record: measures whole builds, or runs of a model. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/os.h"
#include "base/print.h"
#include "builder/cli/print.h"
#include "builder/cli/profile/profile.h"
#include "builder/profile/figures.h"
#include "builder/profile/process.h"
#include "builder/profile/statistics.h"

static enum status profile_record_record(struct recording *recording, const struct options *o, struct profile **p)
{
	recording_open(recording, o->recording.warm_up, recording_most(o->recording.samples));
	bool ok = recording->recorder && recording_samples(recording, o->recording.samples, p);
	recording_close(recording);
	return ok ? STATUS_OK : os_interrupted() ? STATUS_INTERRUPTED : STATUS_ENVIRONMENT;
}

static enum status profile_record_write_out(const struct options *o, const struct profile *p)
{
	char wall[FIGURE_SIZE], deviation[FIGURE_SIZE];
	const double *walls = p->total.of[METRIC_WALL];
	if (!profile_write(p, o->out))
		return fail_environment("cannot write `%s`: %s", o->out, strerror(errno));
	print(stdout, "trib: %u samples, %s +- %s, in %s\n", p->n_samples,
	      figure_text(UNIT_NS, profile_median(p, &p->total, METRIC_WALL), wall),
	      figure_text(UNIT_NS, statistics_deviation(walls, p->n_samples), deviation), o->out);
	return STATUS_OK;
}

enum status profile_record(const struct options *o)
{
	bool runs = strcmp(o->operands[0], "run") == 0;
	if (!runs && strcmp(o->operands[0], "build") != 0)
		return fail_usage("`trib profile record` measures `build` or `run`, as in `trib profile record run MODEL -o FILE`");
	if (runs && o->n_operands > 2)
		return fail_usage("`trib profile record run` takes one model");
	if (!o->out)
		return fail_usage("`trib profile record` wants the file of the profile: -o FILE");
	struct profile *p = NULL;
	char *program = process_own_path();
	struct arena *a = arena_new(0);
	const char **models = ARENA_ARRAY(a, const char *, o->n_operands);
	memcpy(models, o->operands + 1, (o->n_operands - 1) * sizeof *models);
	struct recording r = {.options = {.program = program,
					  .root = ".",
					  .kind = runs ? PROFILE_RUN : PROFILE_BUILD,
					  .scenario = (enum scenario)o->recording.scenario,
					  .models = models,
					  .flags = o->command,
					  .count_instructions = process_can_count_instructions()}};
	enum status s = program ? profile_record_record(&r, o, &p) : fail_environment("cannot find the executable");
	if (s == STATUS_OK)
		s = profile_record_write_out(o, p);
	profile_free(p);
	arena_free(a);
	free(program);
	return s;
}
