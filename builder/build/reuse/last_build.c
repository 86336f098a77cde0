#include "builder/build/reuse/last_build.h"
#include <stdlib.h>
#include "base/arena.h"
#include "base/diag.h"
#include "base/os.h"
#include "builder/build/model/model.h"
#include "builder/build/model/project.h"
#include "builder/build/reuse/repository.h"
#include "builder/build/session/build_result.h"
#include "builder/build/session/context.h"
#include "builder/manifest/options.h"
#include "builder/manifest/single_file.h"
#include "builder/store/disk.h"
#include "builder/store/inputs.h"
#include "frontend/frontend.h"

enum { RECORD_FORMAT = 1 };

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

/* The trib that builds, and the flags that decide what is built: a record is valid only for the executable that wrote it. */
static hash128 flags_key(const struct options *o)
{
	struct hasher *h = hasher_new();
	char *home = os_exe_dir();
	hasher_add_str(h, "trace");
	add_opt_str(h, home);
	free(home);
	hasher_add_u64(h, o->n_operands);
	for (uint32_t i = 0; i < o->n_operands; i++)
		hasher_add_str(h, o->operands[i]);
	add_opt_str(h, o->profile);
	add_opt_str(h, o->cpu);
	add_opt_str(h, o->target);
	add_opt_str(h, o->emit);
	add_opt_str(h, o->out);
	add_opt_str(h, o->linker);
	hasher_add_u64(h, (uint64_t)o->opt);
	hasher_add_u64(h, o->lazy);
	hasher_add_u64(h, o->profile_hook > 0);
	hasher_add_u64(h, o->unit_entries);
	if (single_file_requested(o))
		add_file_flags(h, o);
	return hasher_finish(h);
}

struct last_build last_build_key(struct arena *arena, const struct options *options)
{
	struct last_build last = {.key = flags_key(options), .rest = {RECORD_FORMAT, 0}};
	struct platform here;
	const char *error, *near;
	if (platform_resolve(arena, "native", "native", &here, &error, &near))
		last.rest = hash_combine(last.rest, here.id);
	return last;
}

/* The outputs of the last build are those of this one. */
static void last_build_take_outputs(const struct build_record *record, struct build_result *r)
{
	for (uint32_t i = 0; i < record->n_outputs; i++)
		vec_push(&r->outputs, record->outputs[i].path);
	r->units = r->reused = record->units;
}

struct last_build last_build_find(struct build_context *c, struct build_result *r)
{
	struct last_build last = last_build_key(c->arena, c->request.options);
	struct store *store = c->stores.project;
	bool touched;
	if (!store || options_print_stage(c->request.options) || c->request.options->dry_run)
		return last;
	last.why_stale = "there is no record of an earlier build";
	last.record = build_record_load(c->arena, store, last.key);
	if (!last.record)
		return last;
	last.state = build_record_verify(c->disk, c->arena, last.record, last.rest, &touched, &last.why_stale);
	if (last.state != RECORD_FRESH)
		return last;
	if (touched)
		build_record_save(store, last.key, last.record);
	last_build_take_outputs(last.record, r);
	c->outcome.done = true;
	return last;
}

struct build_record_source *project_list_sources(struct arena *arena, const struct project *p, uint32_t *n)
{
	uint32_t total = 0;
	*n = 0;
	for (uint32_t i = 0; i < p->n_models; i++)
		total += frontend_files(p->models[i].frontend);
	struct build_record_source *list = ARENA_ARRAY(arena, struct build_record_source, total + 1);
	for (uint32_t i = 0; i < p->n_models; i++) {
		const struct frontend *f = p->models[i].frontend;
		for (uint32_t k = 0; k < frontend_files(f); k++)
			list[(*n)++] = (struct build_record_source){frontend_file_path(f, k), i,
								    hash_combine(frontend_file_tokens(f, k), frontend_file_lines(f, k))};
	}
	return list;
}

/* The record says that changes are uncommitted, and an edit may have undone them. */
static bool became_clean(struct arena *arena, struct inputs *inputs, struct repository *repo)
{
	repository_find(repo, arena, inputs);
	if (repo->found)
		repository_describe(repo, inputs);
	return repo->found && repo->commit[0] && !repo->dirty;
}

enum step last_build_compare_tokens(struct build_context *c, const struct project *p, struct last_build *last, struct repository *repo,
				    struct build_result *r)
{
	struct build_record *record = last->record;
	uint32_t n;
	if (last->state != RECORD_SOURCES || record->committed)
		return STEP_NEXT;
	const struct build_record_source *sources = project_list_sources(c->arena, p, &n);
	if (!build_record_same_sources(record, sources, n) || became_clean(c->arena, c->inputs, repo))
		return STEP_NEXT;
	for (uint32_t i = 0; i < record->n_inputs; i++) {
		struct input *old = &record->inputs[i];
		const struct input *new = inputs_find(c->inputs, old->kind, old->path);
		if (new)
			*old = *new;
	}
	build_record_save(c->stores.project, last->key, record);
	last_build_take_outputs(record, r);
	return STEP_DONE;
}

/* True if the outputs name a commit and every input is equal to the one in it. */
static bool is_committed(const struct last_build *last, const struct repository *repo)
{
	if (repo->is_described)
		return repo->commit[0] && !repo->dirty;
	return last->record ? last->record->committed : repo->found;
}

void last_build_save(struct build_context *c, const struct project *p, const struct last_build *last, const struct repository *repo,
		     const struct build_result *r)
{
	if (diags_count(c->diags))
		return;
	struct build_record t = {.rest = last->rest,
				 .units = r->units,
				 .committed = is_committed(last, repo),
				 .n_inputs = inputs_count(c->inputs),
				 .n_outputs = r->outputs.len};
	t.inputs = ARENA_ARRAY(c->arena, struct input, t.n_inputs + 1);
	for (uint32_t i = 0; i < t.n_inputs; i++)
		t.inputs[i] = *inputs_at(c->inputs, i);
	t.outputs = ARENA_ARRAY(c->arena, struct build_record_output, t.n_outputs + 1);
	for (uint32_t i = 0; i < t.n_outputs; i++) {
		t.outputs[i].path = r->outputs.at[i];
		if (!c->disk->stamp(c->disk->ctx, t.outputs[i].path, &t.outputs[i].stamp))
			return;
	}
	if (r->sources) {
		t.sources = (struct build_record_source *)(uintptr_t)r->sources;
		t.n_sources = r->n_sources;
	} else {
		t.sources = project_list_sources(c->arena, p, &t.n_sources);
	}
	build_record_save(c->stores.project, last->key, &t);
}
