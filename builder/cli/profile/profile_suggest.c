/* trib profile suggest: what to do about a profile. With --try the variants are measured beside today's state, in a copy of the project. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/os.h"
#include "builder/cli/print.h"
#include "builder/cli/profile/profile.h"
#include "builder/profile/process.h"
#include "builder/profile/statistics.h"
#include "builder/profile/suggest.h"

enum { PAIRS = 8 };

/* ---- the flags of both sides ---- */

static const char *flag_of(const struct profile *p, const char *setting, const char *flag, struct arena *a)
{
	const char *text = profile_setting(p, setting);
	return text ? arena_printf(a, "%s %s ", flag, text) : "";
}

/* The flags with which the profile was made, without those that `variant` sets otherwise. */
static const char *base_flags(struct arena *a, const struct profile *p, const char *variant)
{
	static const char *const of_runs[][2] = {{"threads", "--threads"}, {"batch", "--batch"}}, *const of_builds[][2] = {{"jobs", "-j"}};
	bool runs = p->kind == PROFILE_RUN;
	const char *text = "", *recorded = profile_setting(p, "flags");
	if (recorded && !variant)
		return recorded;
	for (size_t i = 0; i < (runs ? 2 : 1); i++) {
		const char *const *row = runs ? of_runs[i] : of_builds[i];
		if (!variant || !strstr(variant, row[1]))
			text = arena_printf(a, "%s%s", text, flag_of(p, row[0], row[1], a));
	}
	if (runs && strcmp(p->machine.device, "cpu") != 0 && !(variant && strstr(variant, "--device")))
		text = arena_printf(a, "%s--device %s ", text, p->machine.device);
	if (!runs && profile_setting(p, "opt") && !(variant && strstr(variant, "-O")))
		text = arena_printf(a, "%s-O%s ", text, profile_setting(p, "opt"));
	return variant ? arena_printf(a, "%s%s", text, variant) : text;
}

static double profile_suggest_rows_of(const struct profile *p)
{
	const char *batch = profile_setting(p, "batch");
	return batch && atof(batch) >= 1 ? atof(batch) : 1;
}

/* ---- measuring ---- */

struct trial {
	const struct options *o;
	struct arena *arena;
	const char *program;
	const struct profile *profile;
	const char *const *models;
};

static struct recording profile_suggest_new_side(const struct trial *t, const char *flags, const char *label)
{
	const char *scenario = profile_setting(t->profile, "scenario");
	enum scenario s = SCENARIO_COLD;
	if (scenario)
		scenario_parse(scenario, &s);
	return (struct recording){.options = {.program = t->program,
					      .root = ".",
					      .kind = t->profile->kind,
					      .scenario = s,
					      .models = t->models,
					      .flags = split_words(t->arena, flags)},
				  .label = label};
}

/* Times for each row, as batches may differ. */
static void set_saving(struct trial *t, struct suggestion *x, struct profile *const profiles[2], uint32_t pairs)
{
	double *times[2];
	for (uint32_t side = 0; side < 2; side++) {
		times[side] = ARENA_ARRAY(t->arena, double, pairs);
		for (uint32_t i = 0; i < pairs; i++)
			times[side][i] = profiles[side]->total.of[METRIC_WALL][i] / profile_suggest_rows_of(profiles[side]);
	}
	struct ratio r = statistics_paired_ratio(times[0], times[1], pairs, 0.05);
	x->saving_kind = SAVING_MEASURED;
	x->saving = 1 - r.estimate;
	x->low = 1 - r.high;
	x->high = 1 - r.low;
}

/* False: an interrupt arrived, or the project of the profile does not run. A variant that does not run keeps its estimate. */
static bool try_one(struct trial *t, struct suggestion *x)
{
	uint32_t pairs = t->o->recording.samples ? (uint32_t)t->o->recording.samples : PAIRS;
	struct profile *profiles[2] = {NULL, NULL};
	struct recording sides[2] = {profile_suggest_new_side(t, base_flags(t->arena, t->profile, NULL), "as it is"),
				     profile_suggest_new_side(t, base_flags(t->arena, t->profile, x->variant), x->variant)};
	uint32_t failed = recording_pairs(sides, profiles, 1, pairs);
	if (failed == 2)
		set_saving(t, x, profiles, pairs);
	for (uint32_t i = 0; i < 2; i++) {
		recording_close(&sides[i]);
		profile_free(profiles[i]);
	}
	return failed && !os_interrupted();
}

/* Tries each variant once: suggestions with the same flags share the result. */
static bool try_all(struct trial *t, struct suggestions *s)
{
	for (uint32_t i = 0; i < s->list.len; i++) {
		struct suggestion *x = &s->list.at[i], *same = NULL;
		for (uint32_t k = 0; k < i && x->variant; k++)
			if (s->list.at[k].variant && strcmp(s->list.at[k].variant, x->variant) == 0)
				same = &s->list.at[k];
		if (same) {
			x->saving_kind = same->saving_kind;
			x->saving = same->saving;
			x->low = same->low;
			x->high = same->high;
		} else if (x->variant && !try_one(t, x)) {
			return false;
		}
	}
	suggestions_sort(s);
	return true;
}

static enum status try_variants(const struct options *o, struct suggestions *s)
{
	const char *models = profile_setting(s->profile, "models");
	struct file_stamp manifest;
	if (!os_stamp("tri.build", &manifest))
		return fail_usage("--try builds variants: run it in the project of the profile");
	char *program = process_own_path();
	struct arena *a = arena_new(0);
	struct trial t = {.o = o, .arena = a, .program = program, .profile = s->profile, .models = split_words(a, models ? models : "")};
	enum status status = !program           ? fail_environment("cannot find the executable")
			     : try_all(&t, s)   ? STATUS_OK
			     : os_interrupted() ? STATUS_INTERRUPTED
						: STATUS_ENVIRONMENT;
	arena_free(a);
	free(program);
	return status;
}

enum status profile_suggest(const struct options *o)
{
	struct report_options r = report_options_of(o);
	struct buf report = {0};
	struct profile *p = read_profile(o->operands[0]);
	if (!p)
		return STATUS_ENVIRONMENT;
	struct suggestions *all = suggest(p);
	enum status s = o->recording.try_variants ? try_variants(o, all) : STATUS_OK;
	if (s == STATUS_OK) {
		report_suggestions(all, o->recording.critical, &r, &report);
		print_report(&report);
	}
	suggestions_free(all);
	profile_free(p);
	return s;
}
