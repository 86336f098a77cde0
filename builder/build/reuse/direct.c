/* A request (compiler, target, flags, manifest) leads to the list of files that such a build reads. Their contents and the commit lead
 * to its outputs. Builds after an edit neither ask nor save. */
#include "builder/build/reuse/direct.h"
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/os.h"
#include "base/path.h"
#include "builder/build/model/interface.h"
#include "builder/build/model/model.h"
#include "builder/build/model/project.h"
#include "builder/build/reuse/last_build.h"
#include "builder/build/reuse/repository.h"
#include "builder/build/session/build_result.h"
#include "builder/build/session/context.h"
#include "builder/manifest/build_spec.h"
#include "builder/cache/cache.h"
#include "builder/cache/direct_record.h"
#include "builder/manifest/options.h"
#include "builder/manifest/outputs.h"
#include "builder/store/costs.h"
#include "builder/store/fragment_log.h"
#include "builder/store/history.h"
#include "builder/store/inputs.h"
#include "builder/store/serializer.h"
#include "builder/weights/triw.h"

#define MOST_OUTPUT ((uint64_t)16 << 20) /* bytes of all outputs together */

struct direct {
	struct build_context *c;
	const struct project *p;
	const struct last_build *last;
	struct repository *repo;
};

static bool applies(const struct direct *d)
{
	const struct build_context *c = d->c;
	return cache_uses(c->stores.cache, CACHE_BUILD) && cache_uses(c->stores.cache, CACHE_OUTPUT) && !c->request.options->dry_run &&
	       (d->last->state == RECORD_NONE || d->last->state == RECORD_STALE) && !c->request.options->trace_file;
}

static hash128 request_key(const struct direct *d)
{
	static const char *const files[] = {MANIFEST_FILE, LOCK_FILE};
	hash128 h = hash_combine(hash_combine(d->c->stores.compiler, d->last->rest), d->last->key);
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		const struct input *in = inputs_find(d->c->inputs, INPUT_FILE, files[i]);
		h = hash_combine(h, in ? in->content : (hash128){0, 0});
	}
	return h;
}

/* `contents`: of the files of the list, in its order. */
static hash128 direct_result_key(const struct repository *repo, hash128 request, const hash128 *contents, uint32_t n)
{
	struct hasher *h = hasher_new();
	hasher_add_hash(h, request);
	for (uint32_t i = 0; i < n; i++)
		hasher_add_hash(h, contents[i]);
	hasher_add_u64(h, repo->found);
	hasher_add_str(h, repo->found ? repo->commit : "");
	hasher_add_u64(h, repo->found && repo->dirty);
	return hasher_finish(h);
}

/* ---- finding ---- */

/* Reads the files that the list of the request names, as new inputs. NULL: the cache has no list. */
static struct inputs *read_listed_files(struct arena *arena, const struct disk *disk, struct cache *cache, hash128 request,
					hash128 **contents, uint32_t *n)
{
	size_t len = 0;
	const void *bytes = cache_get(cache, CACHE_BUILD, request, &len);
	struct serializer s = serializer_from(arena, bytes, len);
	struct direct_file *files;
	direct_serialize_files(&s, &files, n);
	if (!serializer_is_done(&s))
		return NULL;
	struct inputs *in = inputs_new(arena, disk);
	*contents = ARENA_ARRAY(arena, hash128, *n + 1);
	for (uint32_t i = 0; i < *n; i++) {
		const struct direct_file *f = &files[i];
		uint32_t matches;
		if (f->kind == INPUT_PATTERN)
			inputs_glob(in, f->path, &matches);
		else
			inputs_note(in, f->path, NULL);
		(*contents)[i] = inputs_find(in, f->kind, f->path)->content;
	}
	return in;
}

static bool fetch_outputs(struct cache *cache, struct direct_record *record)
{
	for (uint32_t i = 0; i < record->n_outputs; i++) {
		struct direct_output *o = &record->outputs[i];
		o->bytes = cache_get(cache, CACHE_OUTPUT, o->content, &o->len);
		if (!o->bytes)
			return false;
	}
	return true;
}

/* In the order of linking: weights before the library that opens them. Errors are left to the build that follows. */
static bool write_outputs(struct arena *arena, const struct options *options, const struct direct_record *record)
{
	for (uint32_t i = record->n_outputs; i-- > 0;) {
		const struct direct_output *o = &record->outputs[i];
		if (!os_mkdirs(path_dir(arena, o->path)) || !outputs_remove_link(arena, o->path, options->out != NULL) ||
		    !os_write_if_changed(o->path, o->bytes, o->len, path_has_extension(o->path, "so") ? 0755 : 0644, false))
			return false;
	}
	return true;
}

static uint32_t list_weights(const struct direct_record *record, const struct model_spec *s, const char *files[EMIT_COUNT])
{
	uint32_t n = 0;
	for (uint32_t i = 0; n < EMIT_COUNT && i < record->n_outputs; i++) {
		const char *base = path_base(record->outputs[i].path);
		if (path_has_extension(base, "triw") && strncmp(base, s->name, strlen(s->name)) == 0 && base[strlen(s->name)] == '-')
			files[n++] = record->outputs[i].path;
	}
	return n;
}

static hash128 cost_key_of(const struct unit_record *record) { return cost_key_unit(record->name, record->target, record->made.opt); }

/* The project keeps what the units compiled to, for its next edit. */
static void keep_fragments(struct build_context *c, struct variant *v, const struct history *history)
{
	enum cache_kind kind = variant_makes_objects(v) ? CACHE_FRAGMENT : CACHE_LOOPS;
	for (uint32_t k = 0; k < history->n; k++) {
		size_t len;
		const void *bytes =
			variant_is_for(v, history->units[k].backend) ? cache_get(c->stores.cache, kind, history->units[k].key, &len) : NULL;
		if (bytes)
			fragment_log_keep(variant_log(c->stores.project, v), history->units[k].key, bytes, len);
	}
	fragment_log_write(v->log, true, &c->stores.warnings);
	fragment_log_close(v->log);
	v->log = NULL;
}

static void save_units(struct arena *arena, struct store *store, const struct model_spec *s, const struct history *history,
		       const struct cost *costs, struct build_result *r)
{
	const struct history none = {0};
	const struct unit_record **units = ARENA_ARRAY(arena, const struct unit_record *, history->n + 1);
	for (uint32_t k = 0; k < history->n; k++) {
		units[k] = &history->units[k];
		r->saved_ns += costs[k].ns;
		if (costs[k].ns)
			cost_note(store, cost_key_of(units[k]), costs[k]);
	}
	history_save(store, s->name, &none, units, history->n);
}

/* The cached build counts as done here: its records go into the project's store. */
static void adopt_build(const struct direct *d, const struct direct_record *record, struct build_result *r)
{
	struct build_context *c = d->c;
	for (uint32_t i = 0; i < d->p->n_models; i++) {
		const struct model_spec *s = d->p->models[i].spec;
		save_units(c->arena, c->stores.project, s, record->models[i].history, record->models[i].costs, r);
		for (uint32_t k = 0; c->stores.project && k < d->p->models[i].n_variants; k++)
			keep_fragments(c, &d->p->models[i].variants[k], record->models[i].history);
		interface_note(c->arena, c->stores.project, &c->request, &d->p->models[i], &record->models[i].interface);
		const char *weights[EMIT_COUNT];
		triw_sweep(c->arena, s->out, s->name, weights, list_weights(record, s, weights));
	}
	project_sweep(d->p);
	for (uint32_t i = 0; i < record->n_outputs; i++)
		vec_push(&r->outputs, arena_strdup(c->arena, record->outputs[i].path)); /* the cache closes before the report */
	r->sources = record->sources;
	r->n_sources = record->n_sources;
	r->units = r->reused = record->units;
	r->linked = d->p->n_models;
	r->hits += record->n_outputs;
	last_build_save(c, d->p, d->last, d->repo, r);
}

static bool reuse_direct_find(const struct direct *d, hash128 request, const hash128 *contents, uint32_t n, struct build_result *r)
{
	struct build_context *c = d->c;
	struct direct_record record = {0};
	size_t len = 0;
	repository_find(d->repo, c->arena, c->inputs);
	if (d->repo->found)
		repository_describe(d->repo, c->inputs);
	const void *bytes = cache_get(c->stores.cache, CACHE_BUILD, direct_result_key(d->repo, request, contents, n), &len);
	struct serializer s = serializer_from(c->arena, bytes, len);
	direct_serialize(&s, &record);
	bool found = serializer_is_done(&s) && record.n_models == d->p->n_models && fetch_outputs(c->stores.cache, &record) &&
		     write_outputs(c->arena, c->request.options, &record);
	if (found)
		adopt_build(d, &record, r);
	direct_free(&record);
	return found;
}

/* Files that both lists hold have equally old stamps; `to` may have more of them. */
static void direct_add_inputs(struct inputs *to, const struct inputs *from)
{
	for (uint32_t i = 0; i < inputs_count(from); i++) {
		const struct input *in = inputs_at(from, i);
		if (in->kind == INPUT_FILE)
			inputs_add(to, in->path, &in->stamp, in->content);
	}
}

enum step direct_find(struct build_context *c, const struct project *p, const struct last_build *last, struct repository *repo,
		      struct build_result *r)
{
	const struct direct d = {c, p, last, repo};
	hash128 *contents;
	uint32_t n;
	if (!applies(&d))
		return STEP_NEXT;
	hash128 request = request_key(&d);
	struct inputs *listed = read_listed_files(c->arena, c->disk, c->stores.cache, request, &contents, &n), *read = c->inputs;
	if (!listed)
		return STEP_NEXT;
	direct_add_inputs(listed, read);
	c->inputs = listed;
	bool found = reuse_direct_find(&d, request, contents, n, r);
	if (!found)
		c->inputs = read;
	inputs_free(found ? read : listed);
	return found ? STEP_DONE : STEP_NEXT;
}

/* ---- saving ---- */

/* The files that name the commit are not listed: the commit is part of the key. */
static bool is_listed(const struct build_context *c, uint32_t i)
{
	return i >= c->own_inputs && !strstr(inputs_at(c->inputs, i)->path, ".git");
}

/* Large libraries are mostly weights. Copying those into the cache and out of it takes longer than packing them. */
static bool direct_is_small(const struct build_result *r)
{
	uint64_t total = 0;
	struct file_stamp stamp;
	for (uint32_t i = 0; i < r->outputs.len; i++)
		total += os_stamp(r->outputs.at[i], &stamp) ? stamp.size : MOST_OUTPUT;
	return total < MOST_OUTPUT;
}

struct output_sum {
	struct hasher *hasher;
	size_t len;
};

static void direct_add_piece(void *ctx, const void *bytes, size_t n)
{
	struct output_sum *s = ctx;
	hasher_add(s->hasher, bytes, n);
	s->len += n;
}

/* Piece by piece: pages of a mapping would count as memory of this process. */
static bool hash_output(const char *path, hash128 *content, size_t *len)
{
	struct output_sum s = {hasher_new(), 0};
	bool ok = os_read_pieces(path, direct_add_piece, &s);
	*content = hasher_finish(s.hasher);
	*len = s.len;
	return ok;
}

static bool direct_add_outputs(struct arena *arena, struct cache *cache, const struct build_result *r, struct direct_record *record)
{
	record->outputs = ARENA_ARRAY(arena, struct direct_output, r->outputs.len + 1);
	for (uint32_t i = 0; i < r->outputs.len; i++) {
		hash128 content;
		size_t len;
		if (!hash_output(r->outputs.at[i], &content, &len))
			return false;
		if (!cache_has(cache, CACHE_OUTPUT, content))
			cache_add_file(cache, CACHE_OUTPUT, content, r->outputs.at[i], len);
		record->outputs[record->n_outputs++] = (struct direct_output){.path = r->outputs.at[i], .content = content};
	}
	return true;
}

static void add_models(const struct direct *d, struct direct_record *record)
{
	struct store *store = d->c->stores.project;
	record->n_models = d->p->n_models;
	record->models = ARENA_ARRAY(d->c->arena, struct direct_model, d->p->n_models + 1);
	for (uint32_t i = 0; i < d->p->n_models; i++) {
		struct history *h = history_load(d->c->arena, store, d->p->models[i].spec->name);
		struct cost *costs = ARENA_ARRAY(d->c->arena, struct cost, h->n + 1);
		for (uint32_t k = 0; k < h->n; k++)
			costs[k] = cost_find(store, cost_key_of(&h->units[k]), (struct cost){0, 0});
		record->models[i] = (struct direct_model){h, interface_of(d->c->arena, d->p->models[i].program), costs};
	}
}

/* The files that the build read, and in contents[] what they hold. */
static struct direct_file *list_files(const struct build_context *c, hash128 *contents, uint32_t *n)
{
	uint32_t total = inputs_count(c->inputs);
	struct direct_file *files = ARENA_ARRAY(c->arena, struct direct_file, total + 1);
	*n = 0;
	for (uint32_t i = 0; i < total; i++) {
		const struct input *in = inputs_at(c->inputs, i);
		if (!is_listed(c, i))
			continue;
		files[*n] = (struct direct_file){in->kind, in->path};
		contents[(*n)++] = in->content;
	}
	return files;
}

static void direct_put(const struct direct *d, struct direct_record *record, int64_t took_ns)
{
	struct build_context *c = d->c;
	struct buf list = {0}, bytes = {0};
	struct serializer to_list = serializer_to(&list), to_record = serializer_to(&bytes);
	hash128 request = request_key(d), *contents = ARENA_ARRAY(c->arena, hash128, inputs_count(c->inputs) + 1);
	uint32_t n;
	struct direct_file *files = list_files(c, contents, &n);
	direct_serialize_files(&to_list, &files, &n);
	direct_serialize(&to_record, record);
	cache_add(c->stores.cache, CACHE_BUILD, request, list.at, list.len, 0);
	cache_add(c->stores.cache, CACHE_BUILD, direct_result_key(d->repo, request, contents, n), bytes.at, bytes.len, took_ns);
	buf_free(&list);
	buf_free(&bytes);
}

void direct_save(struct build_context *c, const struct project *p, const struct last_build *last, struct repository *repo,
		 const struct build_result *r)
{
	const struct direct d = {c, p, last, repo};
	struct direct_record record = {.units = r->units};
	if (!applies(&d) || diags_count(c->diags) || !direct_is_small(r))
		return;
	if (direct_add_outputs(c->arena, c->stores.cache, r, &record)) {
		record.sources = project_list_sources(c->arena, p, &record.n_sources);
		add_models(&d, &record);
		direct_put(&d, &record, os_now_ns() - r->started);
	}
	direct_free(&record);
}
