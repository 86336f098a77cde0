/* After a build: reports the save, starts the commands, and tracks the new inputs. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/diag.h"
#include "base/os.h"
#include "base/path.h"
#include "builder/build/session/context.h"
#include "builder/build/session/status.h"
#include "builder/build/started_build.h"
#include "builder/store/inputs.h"
#include "builder/manifest/glob.h"
#include "builder/watch/watch_state.h"

static bool describes_commit(const char *path) { return strstr(path, ".git/") || strcmp(path_base(path), ".git") == 0; }

/* The text of a source or manifest as the build read it; NULL for any other file. */
static const struct source *source_read_by(const struct build *b, const char *path) { return context_find_source(&b->context, path); }

static struct edit edit_of(struct watch *w, const struct build *b, const char *path)
{
	if (describes_commit(path))
		return (struct edit){.file = path, .what = "changed"};
	return saved_texts_update(&w->texts, w->save.arena, path, source_read_by(b, path));
}

typedef VEC(struct edit) edit_vec;

/* Adds the files that match a pattern since this build. */
static void add_new_files(struct watch *w, const struct build *b, edit_vec *edits)
{
	for (uint32_t i = 0; w->good.generation && i < inputs_count(b->context.inputs); i++) {
		const struct input *in = inputs_at(b->context.inputs, i);
		if (in->kind == INPUT_FILE && !hash_is_zero(in->content) && !saved_texts_has(&w->texts, in->path))
			vec_push(edits, edit_of(w, b, in->path));
	}
}

static void save_texts(struct watch *w, const struct build *b)
{
	uint32_t n;
	const struct input *inputs = tracked_inputs_all(&w->inputs, &n);
	for (uint32_t i = 0; i < n; i++)
		if (inputs[i].kind == INPUT_FILE && !saved_texts_has(&w->texts, inputs[i].path))
			saved_texts_store(&w->texts, inputs[i].path, source_read_by(b, inputs[i].path));
}

static void find_edits(struct watch *w, const struct build *b, edit_vec *edits)
{
	for (uint32_t i = 0; i < w->save.changed.len; i++)
		if (!glob_is_pattern(w->save.changed.at[i]))
			vec_push(edits, edit_of(w, b, w->save.changed.at[i]));
	add_new_files(w, b, edits);
	if (!edits->len && w->save.changed.len)
		vec_push(edits, ((struct edit){.file = w->save.changed.at[0], .what = "changed"}));
}

static void outcome_store_outputs(struct watch *w, const struct build *b)
{
	for (uint32_t i = 0; i < w->good.outputs.len; i++)
		free(w->good.outputs.at[i]);
	w->good.outputs.len = 0;
	for (uint32_t i = 0; i < b->result.outputs.len; i++)
		vec_push(&w->good.outputs, strdup(b->result.outputs.at[i]));
}

static void count_save(struct watch *w, const struct build *b, enum status s)
{
	if (s != STATUS_OK) {
		w->good.behind++;
		return;
	}
	outcome_store_outputs(w, b);
	w->good.behind = 0;
	w->good.ended_at = (int64_t)time(NULL);
	w->good.generation += b->result.linked > 0 || w->good.generation == 0;
}

static void report_result(struct watch *w, const struct build *b, enum status s, const edit_vec *edits)
{
	int64_t end = b->result.published && s == STATUS_OK ? b->result.published : os_now_ns();
	struct save_report save = {.edits = edits->at,
				   .n_edits = edits->len,
				   .status = s,
				   .compiled = b->result.compiled,
				   .linked = b->result.linked,
				   .errors = diags_errors(b->context.diags),
				   .latency_ns = end - w->save.saved_at,
				   .build_ns = end - b->result.started,
				   .outputs = (const char *const *)w->good.outputs.at,
				   .n_outputs = w->good.outputs.len,
				   .behind = w->good.behind,
				   .good_at = w->good.ended_at,
				   .generation = w->good.generation};
	report_save(&w->reporter, &save);
}

static void run_commands(struct watch *w, const struct build *b, enum status s)
{
	const char *hook = s == STATUS_OK ? w->options->watch.on_success : w->options->watch.on_failure;
	if (hook)
		command_start(&w->commands.hook, s == STATUS_OK ? w->commands.on_success : w->commands.on_failure);
	if (s == STATUS_OK && w->options->n_command && (b->result.linked || !w->commands.main.argv))
		command_start(&w->commands.main, w->options->command);
}

void watch_report(struct watch *w, const struct build *b)
{
	enum status s = b->status;
	edit_vec edits = {0};
	bool first = !w->reported_watching;
	if (s == STATUS_INTERRUPTED) {
		w->save.n_superseded += b->context.outcome.superseded;
		if (b->context.outcome.superseded)
			report_superseded(&w->reporter);
		return;
	}
	w->save.n_superseded = 0;
	find_edits(w, b, &edits);
	count_save(w, b, s);
	if (!first)
		report_result(w, b, s, &edits);
	run_commands(w, b, s);
	w->watches_inputs = !tracked_inputs_replace(&w->inputs, b);
	save_texts(w, b);
	w->save.changed.len = 0;
	vec_free(&edits);
}
