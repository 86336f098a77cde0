/* trib profile ab: two versions of trib, two projects, two source files, or two lists of flags, measured beside each other. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/os.h"
#include "base/path.h"
#include "builder/cli/print.h"
#include "builder/cli/profile/profile.h"
#include "builder/profile/ab.h"
#include "builder/profile/figures.h"
#include "builder/profile/process.h"

/* True if the operand is what to build: a project's folder, or a file .tri. Else it is a trib. */
static bool is_source(const char *operand)
{
	struct stat st;
	return path_has_extension(operand, "tri") || (stat(operand, &st) == 0 && S_ISDIR(st.st_mode));
}

/* `operand`: NULL, a trib or a source. */
static struct recording profile_ab_new_side(struct arena *a, const struct options *o, const char *own, const char *operand,
					    const char *flags, const char *const *models)
{
	bool source = operand && is_source(operand);
	return (struct recording){.options = {.program = operand && !source ? operand : own,
					      .root = source ? operand : ".",
					      .scenario = (enum scenario)o->recording.scenario,
					      .models = models,
					      .flags = split_words(a, flags ? flags : ""),
					      .only_totals = true,
					      .count_instructions = process_can_count_instructions()}};
}

static enum status profile_ab_run(struct arena *a, const struct options *o, const char *own)
{
	const char *models[] = {o->model_path, NULL};
	const char *flags[2] = {o->recording.flags_a, o->recording.flags_b};
	struct recording sides[2];
	struct profile *profiles[2] = {NULL, NULL};
	struct report_options r = report_options_of(o);
	struct ab_side names[2];
	for (uint32_t i = 0; i < 2; i++) {
		sides[i] = profile_ab_new_side(a, o, own, o->n_operands ? o->operands[i] : NULL, flags[i], models);
		sides[i].label = i ? "b" : "a";
	}
	bool ok = recording_pairs(sides, profiles, o->recording.warm_up, o->recording.samples ? (uint32_t)o->recording.samples : 10) == 2;
	for (uint32_t i = 0; i < 2; i++)
		names[i] = (struct ab_side){profiles[i], arena_printf(a, "%s%s%s", o->n_operands ? o->operands[i] : "trib build",
								      flags[i] ? " " : "", flags[i] ? flags[i] : "")};
	if (ok) {
		struct buf report = {0};
		struct ab_result result = ab_judge(&names[0], &names[1]);
		ab_report(&result, &r, &report);
		print_report(&report);
	}
	for (uint32_t i = 0; i < 2; i++) {
		recording_close(&sides[i]);
		profile_free(profiles[i]);
	}
	return ok ? STATUS_OK : os_interrupted() ? STATUS_INTERRUPTED : STATUS_ENVIRONMENT;
}

enum status profile_ab(const struct options *o)
{
	if (o->n_operands == 1 || (!o->n_operands && !o->recording.flags_a && !o->recording.flags_b))
		return fail_usage(
			"`trib profile ab` compares two projects or source files, `ab DIR_A DIR_B`, two programs, `ab OLD_TRIB NEW_TRIB`, or two lists of flags, `ab --a '-O1' --b '-O2'`");
	struct arena *a = arena_new(0);
	char *own = process_own_path();
	enum status s = own ? profile_ab_run(a, o, own) : fail_environment("cannot find the executable");
	free(own);
	arena_free(a);
	return s;
}
