/* trib profile check: the gate for CI. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/os.h"
#include "base/path.h"
#include "base/print.h"
#include "builder/cli/print.h"
#include "builder/cli/profile/profile.h"
#include "builder/profile/compare.h"
#include "builder/profile/figures.h"
#include "builder/profile/gate.h"
#include "builder/profile/process.h"

#define MAX_TIME_NS 60e9
#define BATCH 5 /* samples that are added to an undecided measurement */

/* One check, from the command line to the exit code. */
struct checker {
	const struct options *o;
	struct arena *arena;
	char *program;
	struct profile *baseline, *current; /* NULL: none */
	struct recording recording;
	struct gate_options gate;
	double max_time_ns;
	int64_t began;
	struct comparison *comparison;
	struct gate_result result;
};

static bool read_gate(struct checker *c)
{
	static const enum profile_metric metrics[] = {METRIC_CPU, METRIC_WALL, METRIC_INSTRUCTIONS};
	const struct options *o = c->o;
	struct budget *budgets = NULL;
	struct buf error = {0};
	c->gate.metric = metrics[o->recording.metric];
	c->max_time_ns = MAX_TIME_NS;
	if (!threshold_of(o, 1.2, &c->gate.threshold) || !max_time_of(o, &c->max_time_ns))
		return false;
	bool ok = !o->recording.budget || gate_read_budgets(c->arena, o->recording.budget, &budgets, &c->gate.n_budgets, &error);
	if (!ok)
		fail_usage("%s", error.at);
	c->gate.budgets = budgets;
	buf_free(&error);
	return ok;
}

static bool profile_check_is_file(const struct options *o)
{
	return o->n_operands == 1 && (strchr(o->operands[0], '/') || path_has_extension(o->operands[0], "json"));
}

/* Measures as the baseline was: the same scenario, models and flags, unless the command line names others. */
static void prepare_recording(struct checker *c)
{
	const struct options *o = c->o;
	const struct profile *b = c->baseline;
	const char *scenario = b ? profile_setting(b, "scenario") : NULL, *flags = b ? profile_setting(b, "flags") : NULL;
	const char *models = b ? profile_setting(b, "models") : NULL;
	enum scenario s = (enum scenario)o->recording.scenario;
	if (s == SCENARIO_COLD && scenario)
		scenario_parse(scenario, &s);
	c->recording.options = (struct record_options){.program = c->program,
						       .root = ".",
						       .kind = b ? b->kind : PROFILE_BUILD,
						       .scenario = s,
						       .models = o->n_operands ? o->operands : split_words(c->arena, models ? models : ""),
						       .flags = o->n_command ? o->command : split_words(c->arena, flags ? flags : ""),
						       .count_instructions = process_can_count_instructions()};
}

static bool add_samples(struct checker *c, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (!recording_sample(&c->recording, &c->current))
			return false;
	return true;
}

static bool profile_check_measure(struct checker *c)
{
	if (profile_check_is_file(c->o))
		return (c->current = read_profile(c->o->operands[0])) != NULL;
	prepare_recording(c);
	recording_open(&c->recording, c->o->recording.warm_up, recording_most(c->o->recording.samples));
	return c->recording.recorder && recording_samples(&c->recording, c->o->recording.samples, &c->current);
}

static void judge(struct checker *c)
{
	struct compare_options options = {.threshold = 0.02, .alpha = 0.01, .metric = c->gate.metric};
	gate_free(&c->result);
	compare_free(c->comparison);
	c->comparison = compare_profiles(c->baseline ? c->baseline : c->current, c->current, options);
	gate_check(c->comparison, &c->gate, &c->result);
}

/* Measures more as long as nothing is decided and there is time. */
static bool profile_check_decide(struct checker *c)
{
	judge(c);
	while (c->result.verdict == GATE_UNDECIDED && c->recording.recorder && (double)(os_now_ns() - c->began) < c->max_time_ns) {
		c->recording.total += BATCH;
		if (!add_samples(c, BATCH))
			return false;
		judge(c);
	}
	return true;
}

static bool profile_check_conditions_allow(const struct checker *c)
{
	struct buf differences = {0};
	bool ok = !c->baseline || c->o->recording.any_conditions || compare_conditions(c->baseline, c->current, FOREIGN_LINE, &differences);
	if (!ok) {
		fail_environment("the baseline `%s` was measured under other conditions; record it again, or compare with --any-conditions",
				 c->o->recording.baseline);
		print_text(stderr, &differences);
	}
	buf_free(&differences);
	return ok;
}

/* True if the whole became faster or smaller, and nothing is worse. */
static bool profile_check_is_better(const struct checker *c)
{
	for (uint32_t i = 0; i < c->comparison->n_rows && compare_is_whole(&c->comparison->rows[i]); i++)
		if (c->comparison->rows[i].change == CHANGE_IMPROVEMENT)
			return c->result.verdict == GATE_PASSED && c->comparison->counts[CHANGE_REGRESSION] == 0;
	return false;
}

static enum status save_baseline(const struct checker *c)
{
	bool save =
		(!c->baseline && c->o->recording.save) || (c->baseline && c->o->recording.update_if_better && profile_check_is_better(c));
	if (!save)
		return STATUS_OK;
	if (!profile_write(c->current, c->o->recording.baseline))
		return fail_environment("cannot write `%s`: %s", c->o->recording.baseline, strerror(errno));
	print(stderr, "trib: %s is the new baseline\n", c->o->recording.baseline);
	return STATUS_OK;
}

static bool find_baseline(struct checker *c)
{
	const char *path = c->o->recording.baseline;
	if (!path || (access(path, F_OK) != 0 && (c->o->recording.save || c->o->recording.budget)))
		return true;
	return (c->baseline = read_profile(path)) != NULL;
}

static enum status profile_check_run(struct checker *c)
{
	struct report_options r = report_options_of(c->o);
	struct buf report = {0};
	c->began = os_now_ns();
	if (c->gate.metric == METRIC_INSTRUCTIONS && !profile_check_is_file(c->o) && !process_can_count_instructions())
		return fail_environment("this kernel does not let trib count instructions; use --metric cpu");
	if (!find_baseline(c) || !profile_check_measure(c) || !profile_check_conditions_allow(c) || !profile_check_decide(c))
		return os_interrupted() ? STATUS_INTERRUPTED : STATUS_ENVIRONMENT;
	report_gate(&c->result, &r, &report);
	print_report(&report);
	enum status saved = save_baseline(c);
	return c->result.verdict == GATE_FAILED ? STATUS_FAILED : saved;
}

enum status profile_check(const struct options *o)
{
	if (!o->recording.baseline && !o->recording.budget)
		return fail_usage("`trib profile check` wants --baseline FILE or --budget LIST");
	if (!o->recording.baseline && (o->recording.save || o->recording.update_if_better))
		return fail_usage("--save and --update-if-better want --baseline FILE");
	struct checker c = {.o = o, .arena = arena_new(0), .program = process_own_path()};
	enum status s = read_gate(&c) ? profile_check_run(&c) : STATUS_USAGE;
	recording_close(&c.recording);
	gate_free(&c.result);
	compare_free(c.comparison);
	profile_free(c.baseline);
	profile_free(c.current);
	arena_free(c.arena);
	free(c.program);
	return s;
}
