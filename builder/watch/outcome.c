/* What came of a save: what is told of it, and what is started. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/diag.h"
#include "base/os.h"
#include "base/path.h"
#include "builder/build/build_steps.h"
#include "builder/manifest/glob.h"
#include "builder/watch/watch_state.h"

static bool describes_commit(const char *path) { return strstr(path, ".git/") || strcmp(path_base(path), ".git") == 0; }

/* A source or a manifest, as the build read it; NULL: it is neither, or was not read. */
static const struct source *read_by(const struct build *b, const char *path)
{
	uint64_t id;
	return map_get(&b->context.loaded, map_key_str(path), &id) && id ? sources_get(b->context.sources, (uint32_t)(id - 1)) : NULL;
}

static struct edit edit_of(struct watch *w, const struct build *b, const char *path)
{
	if (describes_commit(path))
		return (struct edit){.file = path, .what = "changed"};
	return texts_edit(w->texts, w->a, path, read_by(b, path));
}

typedef VEC(struct edit) edit_vec;

/* What matches a pattern now is known from what the build read. */
static void add_new_files(struct watch *w, const struct build *b, edit_vec *edits)
{
	for (uint32_t i = 0; w->generation && i < inputs_count(b->context.inputs); i++) {
		const struct input *in = inputs_at(b->context.inputs, i);
		if (in->kind == INPUT_FILE && !hash_is_zero(in->content) && !texts_known(w->texts, in->path))
			vec_push(edits, edit_of(w, b, in->path));
	}
}

static void note_texts(struct watch *w, const struct build *b)
{
	uint32_t n;
	const struct input *inputs = scan_inputs(w->scan, &n);
	for (uint32_t i = 0; i < n; i++)
		if (inputs[i].kind == INPUT_FILE && !texts_known(w->texts, inputs[i].path))
			texts_note(w->texts, inputs[i].path, read_by(b, inputs[i].path));
}

static void find_edits(struct watch *w, const struct build *b, edit_vec *edits)
{
	for (uint32_t i = 0; i < w->changed.len; i++)
		if (!glob_is_pattern(w->changed.at[i]))
			vec_push(edits, edit_of(w, b, w->changed.at[i]));
	add_new_files(w, b, edits);
	if (!edits->len && w->changed.len)
		vec_push(edits, ((struct edit){.file = w->changed.at[0], .what = "changed"}));
}

static void keep_outputs(struct watch *w, const struct build *b)
{
	for (uint32_t i = 0; i < w->outputs.len; i++)
		free(w->outputs.at[i]);
	w->outputs.len = 0;
	for (uint32_t i = 0; i < b->result.outputs.len; i++)
		vec_push(&w->outputs, strdup(b->result.outputs.at[i]));
}

static void count_save(struct watch *w, const struct build *b, enum status s)
{
	if (s != STATUS_OK) {
		w->behind++;
		return;
	}
	keep_outputs(w, b);
	w->behind = 0;
	w->good_at = (int64_t)time(NULL);
	w->generation += b->result.linked > 0 || w->generation == 0;
}

static void tell(struct watch *w, const struct build *b, enum status s, const edit_vec *edits)
{
	int64_t end = b->result.published && s == STATUS_OK ? b->result.published : os_now_ns();
	struct save save = {.edits = edits->at,
			    .n_edits = edits->len,
			    .status = s,
			    .compiled = b->result.compiled,
			    .linked = b->result.linked,
			    .errors = diags_errors(b->context.diags),
			    .latency_ns = end - w->saved_at,
			    .build_ns = end - b->result.started,
			    .outputs = (const char *const *)w->outputs.at,
			    .n_outputs = w->outputs.len,
			    .behind = w->behind,
			    .good_at = w->good_at,
			    .generation = w->generation};
	tell_save(&w->tell, &save);
}

static void run_commands(struct watch *w, const struct build *b, enum status s)
{
	const char *hook = s == STATUS_OK ? w->o->on_success : w->o->on_failure;
	if (hook)
		command_start(&w->hook, s == STATUS_OK ? w->on_success : w->on_failure);
	if (s == STATUS_OK && w->o->n_command && (b->result.linked || !w->command.argv))
		command_start(&w->command, w->o->command);
}

void watch_report(struct watch *w, const struct build *b)
{
	enum status s = b->status;
	edit_vec edits = {0};
	bool first = !w->watching;
	if (s == STATUS_INTERRUPTED) {
		w->overtaken += b->context.superseded;
		if (b->context.superseded)
			tell_superseded(&w->tell);
		return;
	}
	w->overtaken = 0;
	find_edits(w, b, &edits);
	count_save(w, b, s);
	if (!first)
		tell(w, b, s, &edits);
	run_commands(w, b, s);
	w->covered = !scan_take(w->scan, b);
	note_texts(w, b);
	w->changed.len = 0;
	vec_free(&edits);
}
