/* trib profile: its actions, and what they share. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/os.h"
#include "base/print.h"
#include "builder/build/session/folders.h"
#include "builder/cli/print.h"
#include "builder/cli/profile/profile.h"
#include "builder/profile/compare.h"
#include "builder/profile/figures.h"
#include "builder/store/build_log.h"
#include "builder/store/store.h"

#define FEWEST_SAMPLES 10
#define MOST_SAMPLES 60 /* as many as fit into SAMPLES_NS: 10 are too few to find 10 % in one part beside noise */
#define SAMPLES_NS 20e9

struct report_options report_options_of(const struct options *o)
{
	static const enum report_format formats[] = {
		[PRINT_TEXT] = REPORT_TEXT, [PRINT_JSON] = REPORT_JSON, [PRINT_HTML] = REPORT_TEXT, [PRINT_MARKDOWN] = REPORT_MARKDOWN};
	return (struct report_options){.format = formats[o->format], .top = o->top ? (uint32_t)o->top : 10};
}

bool threshold_of(const struct options *o, double otherwise, double *out)
{
	enum metric_unit unit;
	*out = otherwise;
	if (!o->recording.threshold)
		return true;
	if (figure_parse(o->recording.threshold, &unit, out) && unit == UNIT_COUNT && *out >= 1)
		return true;
	fail_usage("--threshold wants a ratio of at least 1, such as 1.2, not `%s`", o->recording.threshold);
	return false;
}

bool max_time_of(const struct options *o, double *ns)
{
	enum metric_unit unit;
	if (!o->max_time || (figure_parse(o->max_time, &unit, ns) && unit == UNIT_NS))
		return true;
	fail_usage("--max-time wants a time such as 60s, not `%s`", o->max_time);
	return false;
}

struct profile *read_profile(const char *path)
{
	struct buf error = {0};
	struct profile *p = profile_read(path, &error);
	if (!p)
		fail_environment("%s", error.at);
	buf_free(&error);
	return p;
}

void print_report(struct buf *report)
{
	print_text(stdout, report);
	buf_free(report);
}

const char *const *split_words(struct arena *a, const char *text)
{
	const char **words = ARENA_ARRAY(a, const char *, strlen(text) / 2 + 2);
	uint32_t n = 0;
	while (*(text += strspn(text, " "))) {
		const char *end = *text == '\'' || *text == '"' ? strchr(text + 1, *text) : NULL;
		size_t skip = end ? 1 : 0, len = end ? (size_t)(end - text - 1) : strcspn(text, " ");
		words[n++] = arena_strndup(a, text + skip, len);
		text += len + 2 * skip;
	}
	return words;
}

/* ---- recordings ---- */

uint32_t recording_most(int wanted) { return wanted ? (uint32_t)wanted : MOST_SAMPLES; }

static void draw_progress(const struct recording *recording)
{
	if (!os_is_tty(STDERR_FILENO))
		return;
	if (recording->done < recording->total)
		print(stderr, "\r\033[K%s%smeasuring: %u of %u", recording->label ? recording->label : "", recording->label ? ": " : "",
		      recording->done + 1, recording->total);
	else
		print(stderr, "\r\033[K");
	fflush(stderr);
}

static void profile_report_failure(struct buf *error)
{
	if (os_is_tty(STDERR_FILENO))
		print(stderr, "\r\033[K");
	if (error->len && !os_interrupted())
		fail_environment("%s", error->at);
	buf_free(error);
}

bool recording_sample(struct recording *recording, struct profile **profile)
{
	struct buf error = {0};
	draw_progress(recording);
	struct profile *p = recorder_sample(recording->recorder, &error);
	recording->done++;
	if (!p) {
		profile_report_failure(&error);
		return false;
	}
	draw_progress(recording);
	if (!*profile) {
		*profile = p;
		return true;
	}
	profile_append(*profile, p);
	profile_free(p);
	return true;
}

void recording_open(struct recording *recording, int warm_up, uint32_t samples)
{
	struct buf error = {0};
	uint32_t unmeasured = warm_up < 0 ? 1 : (uint32_t)warm_up;
	os_catch_interrupts();
	recording->total = unmeasured + samples;
	recording->recorder = recorder_open(&recording->options, &error);
	if (!recording->recorder)
		profile_report_failure(&error);
	for (uint32_t i = 0; recording->recorder && i < unmeasured; i++) {
		struct profile *ignored = NULL;
		if (!recording_sample(recording, &ignored))
			recording_close(recording);
		profile_free(ignored);
	}
}

bool recording_samples(struct recording *recording, int wanted, struct profile **profile)
{
	int64_t began = os_now_ns();
	uint32_t most = recording_most(wanted);
	for (uint32_t n = 0; n < most && (wanted || n < FEWEST_SAMPLES || (double)(os_now_ns() - began) < SAMPLES_NS); n++)
		if (!recording_sample(recording, profile))
			return false;
	return true;
}

uint32_t recording_pairs(struct recording sides[2], struct profile *profiles[2], int warm_up, uint32_t pairs)
{
	for (uint32_t i = 0; i < 2; i++) {
		recording_open(&sides[i], warm_up, pairs);
		if (!sides[i].recorder)
			return i;
	}
	for (uint32_t i = 0; i < 2 * pairs; i++) {
		uint32_t side = (i + i / 2) % 2;
		if (!recording_sample(&sides[side], &profiles[side]))
			return side;
	}
	return 2;
}

void recording_close(struct recording *recording)
{
	recorder_close(recording->recorder);
	recording->recorder = NULL;
}

/* ---- report, compare ---- */

enum status profile_report(const struct options *o)
{
	struct report_options r = report_options_of(o);
	struct buf report = {0};
	enum metric_unit unit;
	if (o->recording.threshold && (!figure_parse(o->recording.threshold, &unit, &r.threshold_ns) || unit != UNIT_NS))
		return fail_usage("--threshold wants a time such as 100ms, not `%s`", o->recording.threshold);
	struct profile *p = read_profile(o->operands[0]);
	if (!p)
		return STATUS_ENVIRONMENT;
	report_profile(p, &r, &report);
	print_report(&report);
	profile_free(p);
	return STATUS_OK;
}

static bool profile_conditions_allow(const struct options *o, const struct profile *before, const struct profile *after)
{
	struct buf differences = {0};
	bool equal = compare_conditions(before, after, FOREIGN_LINE, &differences);
	if (!equal && !o->recording.any_conditions) {
		fail_environment("the two profiles were measured under different conditions; --any-conditions compares all the same");
		print_text(stderr, &differences);
	}
	buf_free(&differences);
	return equal || o->recording.any_conditions;
}

enum status profile_compare(const struct options *o)
{
	struct compare_options c = COMPARE_DEFAULTS;
	double threshold;
	if (!threshold_of(o, 1.05, &threshold))
		return STATUS_USAGE;
	c.threshold = threshold - 1;
	struct profile *before = read_profile(o->operands[0]), *after = before ? read_profile(o->operands[1]) : NULL;
	bool ok = after && profile_conditions_allow(o, before, after);
	if (ok) {
		struct report_options r = report_options_of(o);
		struct comparison *all = compare_profiles(before, after, c);
		struct buf report = {0};
		report_comparison(all, o->operands[0], o->operands[1], &r, &report);
		print_report(&report);
		compare_free(all);
	}
	profile_free(before);
	profile_free(after);
	return ok ? STATUS_OK : STATUS_ENVIRONMENT;
}

/* ---- history ---- */

static enum status profile_history(const struct options *o)
{
	struct file_stamp manifest;
	if (!os_stamp("tri.build", &manifest))
		return fail_usage("there is no `tri.build` here: `trib profile history` lists the builds of a project");
	struct report_options r = report_options_of(o);
	struct buf warning = {0}, report = {0};
	struct arena *a = arena_new(0);
	uint32_t n = 0;
	struct store *project = store_open(PROJECT_STORE, false, &warning);
	const struct build_entry *list = build_log_read(a, project, &n);
	report_history(list, n, (uint64_t)time(NULL), &r, &report);
	print_report(&report);
	store_close(project, &warning);
	if (warning.len)
		print(stderr, "trib: %s\n", warning.at);
	buf_free(&warning);
	arena_free(a);
	return STATUS_OK;
}

enum status cmd_profile(const struct options *o)
{
	struct options of_action = *o; /* its operands are without the action's name */
	of_action.operands++;
	of_action.n_operands--;
	switch (o->action) {
	case ACTION_PROFILE_RECORD: return profile_record(&of_action);
	case ACTION_PROFILE_REPORT: return profile_report(&of_action);
	case ACTION_PROFILE_COMPARE: return profile_compare(&of_action);
	case ACTION_PROFILE_HISTORY: return profile_history(&of_action);
	case ACTION_PROFILE_SUGGEST: return profile_suggest(&of_action);
	case ACTION_PROFILE_SCALING: return profile_scaling(&of_action);
	case ACTION_PROFILE_TARGETS: return profile_targets(&of_action);
	case ACTION_PROFILE_HTML: return profile_html(&of_action);
	case ACTION_PROFILE_SERVE: return profile_serve(&of_action);
	case ACTION_PROFILE_CHECK: return profile_check(&of_action);
	default: return profile_ab(&of_action);
	}
}
