#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/diag.h"
#include "base/os.h"
#include "builder/build/state.h"
#include "builder/manifest/options.h"
#include "builder/manifest/single_file.h"
#include "builder/store/store.h"

#define TRACE_FORMAT 1

static void add_opt_str(struct hasher *h, const char *s)
{
	hasher_add_u64(h, s != NULL);
	hasher_add_str(h, s ? s : "");
}

static void add_file_flags(struct hasher *h, const struct options *o)
{
	add_opt_str(h, o->entry);
	add_opt_str(h, o->weights);
	hasher_add_u64(h, o->n_inputs);
	for (uint32_t i = 0; i < o->n_inputs; i++)
		hasher_add_str(h, o->inputs[i]);
}

/* Who builds, and the flags that decide what is built, not how: a record names the files of the trib that left it, and says nothing of another. */
static hash128 flags_key(const struct options *o)
{
	struct hasher *h = hasher_new();
	char *home = os_exe_dir();
	hasher_add_str(h, "trace");
	add_opt_str(h, home);
	free(home);
	hasher_add_u64(h, o->n_models);
	for (uint32_t i = 0; i < o->n_models; i++)
		hasher_add_str(h, o->models[i]);
	add_opt_str(h, o->profile);
	add_opt_str(h, o->cpu);
	add_opt_str(h, o->target);
	add_opt_str(h, o->emit);
	add_opt_str(h, o->out);
	add_opt_str(h, o->linker);
	hasher_add_u64(h, (uint64_t)o->opt);
	hasher_add_u64(h, o->lazy);
	if (single_file_requested(o))
		add_file_flags(h, o);
	return hasher_finish(h);
}

void build_record_key(struct build *b)
{
	hash128 format = {TRACE_FORMAT, 0};
	struct platform here;
	const char *error, *near;
	b->trace_key = flags_key(b->options);
	b->rest = format;
	if (platform_resolve(b->session, "native", "native", &here, &error, &near))
		b->rest = hash_combine(format, here.id);
}

bool build_nothing_to_do(struct build *b)
{
	bool touched;
	b->why_stale = "there is no record of an earlier build";
	b->trace = build_record_load(b->session, b->project, b->trace_key);
	if (!b->trace)
		return false;
	b->state = build_record_verify(b->session, b->trace, b->rest, &touched, &b->why_stale);
	if (b->state != RECORD_FRESH)
		return false;
	if (touched)
		build_record_save(b->project, b->trace_key, b->trace);
	for (uint32_t i = 0; i < b->trace->n_outputs; i++)
		vec_push(&b->outputs, b->trace->outputs[i].path);
	b->units = b->reused = b->trace->units;
	b->done = true;
	return true;
}

struct build_record_source *build_list_sources(struct build *b, uint32_t *n)
{
	uint32_t total = 0;
	*n = 0;
	for (uint32_t i = 0; i < b->n_models; i++)
		total += frontend_files(b->models[i].frontend);
	struct build_record_source *list = ARENA_ARRAY(b->session, struct build_record_source, total + 1);
	for (uint32_t i = 0; i < b->n_models; i++) {
		struct frontend *f = b->models[i].frontend;
		for (uint32_t k = 0; k < frontend_files(f); k++)
			list[(*n)++] = (struct build_record_source){frontend_file_path(f, k), i, frontend_file_tokens(f, k)};
	}
	return list;
}

/* The record says uncommitted changes, and an edit may have taken them back. */
static bool became_clean(struct build *b)
{
	build_note_repository(b);
	if (b->in_repository)
		build_describe_commit(b);
	return b->in_repository && b->commit[0] && !b->dirty;
}

/* An edit of comments or white space: the tokens are what they were. */
bool build_compare_tokens(struct build *b)
{
	uint32_t n;
	if (b->state != RECORD_SOURCES || b->trace->committed)
		return true;
	const struct build_record_source *now_sources = build_list_sources(b, &n);
	if (!build_record_same_sources(b->trace, now_sources, n) || became_clean(b))
		return true;
	for (uint32_t i = 0; i < b->trace->n_inputs; i++) {
		struct input *old = &b->trace->inputs[i];
		const struct input *now = inputs_find(b->inputs, old->kind, old->path);
		if (now)
			*old = *now;
	}
	build_record_save(b->project, b->trace_key, b->trace);
	for (uint32_t i = 0; i < b->trace->n_outputs; i++)
		vec_push(&b->outputs, b->trace->outputs[i].path);
	b->units = b->reused = b->trace->units;
	b->done = true;
	return true;
}

/* A build with warnings leaves no record: the next one looks again, and repeats them. */
void build_save_record(struct build *b)
{
	if (diags_count(b->diags))
		return;
	struct build_record t = {.rest = b->rest, .units = b->units};
	if (b->asked_git)
		t.committed = b->commit[0] && !b->dirty;
	else
		t.committed = b->trace ? b->trace->committed : b->in_repository;
	t.n_inputs = inputs_count(b->inputs);
	t.inputs = ARENA_ARRAY(b->session, struct input, t.n_inputs + 1);
	for (uint32_t i = 0; i < t.n_inputs; i++)
		t.inputs[i] = *inputs_at(b->inputs, i);
	t.outputs = ARENA_ARRAY(b->session, struct build_record_output, b->outputs.len + 1);
	for (uint32_t i = 0; i < b->outputs.len; i++) {
		struct build_record_output *o = &t.outputs[t.n_outputs++];
		o->path = b->outputs.at[i];
		if (!os_stamp(o->path, &o->stamp))
			return;
	}
	if (b->direct_sources) {
		t.sources = (struct build_record_source *)(uintptr_t)b->direct_sources;
		t.n_sources = b->n_direct_sources;
	} else {
		t.sources = build_list_sources(b, &t.n_sources);
	}
	build_record_save(b->project, b->trace_key, &t);
}
