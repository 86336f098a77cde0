/* Direct mode: a build that somebody has done before is copied. From what such a build is (compiler, target, flags, manifest) the cache leads to the
 * files that it reads, and from their contents and the commit to what it gave. Edits neither ask nor record: their time is for the edit. */
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/os.h"
#include "base/path.h"
#include "builder/build/state.h"
#include "builder/cache/cache.h"
#include "builder/cache/direct_record.h"
#include "builder/manifest/options.h"
#include "builder/manifest/outputs.h"
#include "builder/store/costs.h"
#include "builder/store/history.h"
#include "builder/store/serializer.h"
#include "builder/store/store.h"
#include "builder/weights/triw.h"

#define MOST_OUTPUT ((uint64_t)64 << 20) /* bytes of all outputs together */

static bool applies(const struct build *b)
{
	return cache_uses(b->cache, CACHE_BUILD) && cache_uses(b->cache, CACHE_OUTPUT) && !b->options->dry_run &&
	       (b->state == RECORD_NONE || b->state == RECORD_STALE) && !b->options->trace_file;
}

/* What names the commit is no part of the list: the commit itself is part of the key. */
static bool is_listed(const struct build *b, uint32_t i) { return i >= b->own_inputs && !strstr(inputs_at(b->inputs, i)->path, ".git"); }

static hash128 request_key(const struct build *b)
{
	static const char *const files[] = {"tri.build", "tri.lock"};
	hash128 h = hash_combine(hash_combine(b->compiler, b->rest), b->trace_key);
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		const struct input *in = inputs_find(b->inputs, INPUT_FILE, files[i]);
		h = hash_combine(h, in ? in->content : (hash128){0, 0});
	}
	return h;
}

/* With what all files hold. `in`: exactly those of the list, in its order, then what note_repository adds. */
static hash128 result_key(const struct build *b, hash128 request, const hash128 *contents, uint32_t n)
{
	struct hasher *h = hasher_new();
	hasher_add_hash(h, request);
	for (uint32_t i = 0; i < n; i++)
		hasher_add_hash(h, contents[i]);
	hasher_add_u64(h, b->in_repository);
	hasher_add_str(h, b->in_repository ? b->commit : "");
	hasher_add_u64(h, b->in_repository && b->dirty);
	return hasher_finish(h);
}

/* ---- asking ---- */

/* The contents now of the files that the list names, as new inputs. NULL: there is no list. */
static struct inputs *look_at_files(struct build *b, hash128 request, hash128 **contents, uint32_t *n)
{
	size_t len = 0;
	const void *bytes = cache_get(b->cache, CACHE_BUILD, request, &len);
	struct serializer s = serializer_from(b->session, bytes, len);
	struct direct_file *files;
	direct_serialize_files(&s, &files, n);
	if (!serializer_is_done(&s))
		return NULL;
	struct inputs *in = inputs_new(b->session);
	*contents = ARENA_ARRAY(b->session, hash128, *n + 1);
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

static bool fetch_outputs(struct build *b, struct direct_record *r)
{
	for (uint32_t i = 0; i < r->n_outputs; i++) {
		struct direct_output *o = &r->outputs[i];
		o->bytes = cache_get(b->cache, CACHE_OUTPUT, o->content, &o->len);
		if (!o->bytes)
			return false;
	}
	return true;
}

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);
	return n >= m && strcmp(s + n - m, end) == 0;
}

/* In the order of linking: weights before the library that asks for them. */
static bool write_outputs(struct build *b, const struct direct_record *r)
{
	for (uint32_t i = r->n_outputs; i-- > 0;) {
		const struct direct_output *o = &r->outputs[i];
		if (!os_mkdirs(path_dir(b->session, o->path)) || !outputs_remove_link(b->session, o->path, b->options->out != NULL) ||
		    !os_write_if_changed(o->path, o->bytes, o->len, ends_with(o->path, ".so") ? 0755 : 0644, false))
			return false; /* the long way has the words for it */
	}
	return true;
}

static const char *weights_file(const struct direct_record *r, const struct model_spec *s)
{
	for (uint32_t i = 0; i < r->n_outputs; i++) {
		const char *base = path_base(r->outputs[i].path);
		if (ends_with(base, ".triw") && strncmp(base, s->name, strlen(s->name)) == 0 && base[strlen(s->name)] == '-')
			return r->outputs[i].path;
	}
	return NULL;
}

static hash128 cost_key_of(const struct unit_record *u) { return cost_key_unit(u->name, u->target, u->made.opt); }

static void take_over_units(struct build *b, const struct model_spec *s, const struct history *h, const struct cost *costs)
{
	const struct history none = {0};
	const struct unit_record **units = ARENA_ARRAY(b->session, const struct unit_record *, h->n + 1);
	for (uint32_t k = 0; k < h->n; k++) {
		units[k] = &h->units[k];
		if (costs[k].ns)
			cost_note(b->project, cost_key_of(units[k]), costs[k]);
	}
	history_save(b->project, s->name, &none, units, h->n);
}

static void take_over(struct build *b, const struct direct_record *r)
{
	for (uint32_t i = 0; i < b->n_models; i++) {
		const struct model_spec *s = b->models[i].spec;
		take_over_units(b, s, r->models[i].history, r->models[i].costs);
		triw_sweep(b->session, s->out, s->name, weights_file(r, s));
	}
	build_sweep(b);
	for (uint32_t i = 0; i < r->n_outputs; i++)
		vec_push(&b->outputs, arena_strdup(b->session, r->outputs[i].path)); /* the cache closes before the report */
	b->direct_sources = r->sources;
	b->n_direct_sources = r->n_sources;
	b->units = b->reused = r->units;
	b->linked = b->n_models;
	b->hits += r->n_outputs;
	build_save_record(b);
	b->done = true;
}

static bool find(struct build *b, hash128 request, const hash128 *contents, uint32_t n)
{
	struct direct_record r = {0};
	size_t len = 0;
	build_note_repository(b);
	if (b->in_repository)
		build_describe_commit(b);
	const void *bytes = cache_get(b->cache, CACHE_BUILD, result_key(b, request, contents, n), &len);
	struct serializer s = serializer_from(b->session, bytes, len);
	direct_serialize(&s, &r);
	bool found = serializer_is_done(&s) && r.n_models == b->n_models && fetch_outputs(b, &r) && write_outputs(b, &r);
	if (found)
		take_over(b, &r);
	direct_free(&r);
	return found;
}

/* `now` may say more of a file than `old` does: the stamps of those that both have are equally old. */
static void adopt(struct build *b, struct inputs *now)
{
	for (uint32_t i = 0; i < inputs_count(b->inputs); i++) {
		const struct input *in = inputs_at(b->inputs, i);
		if (in->kind == INPUT_FILE)
			inputs_add(now, in->path, &in->stamp, in->content);
	}
}

bool build_find_direct(struct build *b)
{
	hash128 *contents;
	uint32_t n;
	if (!applies(b))
		return true;
	hash128 request = request_key(b);
	struct inputs *now = look_at_files(b, request, &contents, &n), *old = b->inputs;
	if (!now)
		return true;
	adopt(b, now);
	b->inputs = now;
	bool found = find(b, request, contents, n);
	if (!found)
		b->inputs = old;
	inputs_free(found ? old : now);
	return true;
}

/* ---- recording ---- */

static bool add_outputs(struct build *b, struct direct_record *r)
{
	uint64_t total = 0;
	r->outputs = ARENA_ARRAY(b->session, struct direct_output, b->outputs.len + 1);
	for (uint32_t i = 0; i < b->outputs.len; i++) {
		const void *bytes;
		size_t len;
		if (!os_map_file(b->outputs.at[i], &bytes, &len))
			return false;
		total += len;
		hash128 content = hash_bytes(bytes ? bytes : "", len);
		bool small = total <= MOST_OUTPUT;
		if (small && !cache_has(b->cache, CACHE_OUTPUT, content))
			cache_put(b->cache, CACHE_OUTPUT, content, bytes, len, 0);
		os_unmap(bytes, len);
		if (!small)
			return false;
		r->outputs[r->n_outputs++] = (struct direct_output){.path = b->outputs.at[i], .content = content};
	}
	return true;
}

static void add_models(struct build *b, struct direct_record *r)
{
	r->n_models = b->n_models;
	r->models = ARENA_ARRAY(b->session, struct direct_model, b->n_models + 1);
	for (uint32_t i = 0; i < b->n_models; i++) {
		struct history *h = history_load(b->session, b->project, b->models[i].spec->name);
		struct cost *costs = ARENA_ARRAY(b->session, struct cost, h->n + 1);
		for (uint32_t k = 0; k < h->n; k++)
			costs[k] = cost_find(b->project, cost_key_of(&h->units[k]), (struct cost){0, 0});
		r->models[i] = (struct direct_model){h, costs};
	}
}

static struct direct_file *list_files(struct build *b, hash128 *contents, uint32_t *n)
{
	uint32_t total = inputs_count(b->inputs);
	struct direct_file *files = ARENA_ARRAY(b->session, struct direct_file, total + 1);
	*n = 0;
	for (uint32_t i = 0; i < total; i++) {
		const struct input *in = inputs_at(b->inputs, i);
		if (!is_listed(b, i))
			continue;
		files[*n] = (struct direct_file){in->kind, in->path};
		contents[(*n)++] = in->content;
	}
	return files;
}

void build_record_direct(struct build *b)
{
	struct direct_record r = {.units = b->units};
	if (!applies(b) || diags_count(b->diags))
		return;
	hash128 request = request_key(b), *contents = ARENA_ARRAY(b->session, hash128, inputs_count(b->inputs) + 1);
	if (add_outputs(b, &r)) {
		struct buf list = {0}, record = {0};
		struct serializer to_list = serializer_to(&list), to_record = serializer_to(&record);
		uint32_t n;
		struct direct_file *files = list_files(b, contents, &n);
		r.sources = build_list_sources(b, &r.n_sources);
		add_models(b, &r);
		direct_serialize_files(&to_list, &files, &n);
		direct_serialize(&to_record, &r);
		cache_put(b->cache, CACHE_BUILD, request, list.at, list.len, 0);
		cache_put(b->cache, CACHE_BUILD, result_key(b, request, contents, n), record.at, record.len, os_now_ns() - b->started);
		buf_free(&list);
		buf_free(&record);
	}
	direct_free(&r);
}
