#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include "backend/link/link.h"
#include "backend/link/model.h"
#include "backend/link/runtime_objects.h"
#include "backend/loops/loops.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/os.h"
#include "base/path.h"
#include "builder/build/link_external.h"
#include "builder/build/session.h"
#include "builder/build/state.h"
#include "builder/build/timing.h"
#include "builder/cache/cache.h"
#include "builder/manifest/options.h"
#include "builder/manifest/outputs.h"
#include "builder/store/serializer.h"
#include "builder/store/store.h"
#include "builder/version.h"
#include "builder/weights/triw.h"
#include "frontend/hir/hir.h"
#include "gpu/opencl.h"

enum { MAX_OUTPUTS = 5 };

static const char *record_name(const struct model_job *m) { return arena_printf(m->arena, "%s/%s", m->spec->out, m->spec->name); }

static uint32_t outputs_of(const struct model_job *m, const char *paths[MAX_OUTPUTS])
{
	uint32_t n = 0;
	if (m->library)
		paths[n++] = m->library;
	if (m->header)
		paths[n++] = m->header;
	if (m->live)
		paths[n++] = m->live;
	if (m->opencl)
		paths[n++] = m->opencl;
	if (m->weights_file)
		paths[n++] = m->weights_file;
	return n;
}

/* The record of a model's last link. */
struct link_record {
	hash128 digest;
	const char *weights;       /* the weight file; "": none */
	struct file_stamp *stamps; /* of the outputs, the weight file last */
	uint32_t n_stamps;
};

static void serialize_link(struct serializer *s, struct link_record *r)
{
	serialize_hash(s, &r->digest);
	serialize_str(s, &r->weights);
	serialize_array(s, &r->stamps, &r->n_stamps, sizeof *r->stamps);
	for (uint32_t i = 0; i < r->n_stamps && s->ok; i++)
		serialize_stamp(s, &r->stamps[i]);
}

static bool load_link(struct model_job *m, struct link_record *r)
{
	size_t n = 0;
	const void *bytes = store_get(m->build->project, store_key("link", record_name(m)), &n);
	struct serializer s = serializer_from(m->arena, bytes, n);
	serialize_link(&s, r);
	return serializer_is_done(&s);
}

static bool is_unchanged(const char *path, const struct file_stamp *recorded)
{
	struct file_stamp now;
	return os_stamp(path, &now) && os_stamp_eq(recorded, &now);
}

/* True if these outputs were made from the same digest and have not changed since. */
static bool is_current(struct model_job *m)
{
	const char *paths[MAX_OUTPUTS];
	uint32_t n = outputs_of(m, paths);
	struct link_record r;
	if (!load_link(m, &r) || !hash_eq(r.digest, m->link_digest))
		return false;
	if (*r.weights)
		paths[n++] = m->weights_file = r.weights;
	for (uint32_t i = 0; i < n && n == r.n_stamps; i++)
		if (!is_unchanged(paths[i], &r.stamps[i]))
			return false;
	return n == r.n_stamps;
}

/* The weight file of the last link, if it has not changed since; NULL otherwise. */
static const char *earlier_weights(struct model_job *m)
{
	struct link_record r;
	if (!load_link(m, &r) || !*r.weights || !r.n_stamps || !is_unchanged(r.weights, &r.stamps[r.n_stamps - 1]))
		return NULL;
	return r.weights;
}

static void record_link(struct model_job *m)
{
	const char *paths[MAX_OUTPUTS];
	struct file_stamp stamps[MAX_OUTPUTS];
	struct link_record r = {m->link_digest, m->weights_file ? m->weights_file : "", stamps, outputs_of(m, paths)};
	struct buf b = {0};
	struct serializer s = serializer_to(&b);
	for (uint32_t i = 0; i < r.n_stamps; i++)
		os_stamp(paths[i], &stamps[i]);
	serialize_link(&s, &r);
	store_put(m->build->project, store_key("link", record_name(m)), b.at, b.len);
	buf_free(&b);
}

/* Everything that the outputs depend on. In a repository that includes the commit and the exact text of the inputs, since the descriptor says whether
 * they are committed. */
void build_link_digest(struct model_job *m)
{
	struct build *b = m->build;
	const struct hir_program *p = m->program;
	struct hasher *h = hasher_new();
	hasher_add_hash(h, b->compiler);
	hasher_add_hash(h, m->platform.id);
	hasher_add_str(h, m->spec->name);
	hasher_add_str(h, m->spec->version);
	hasher_add_u64(h, m->spec->emit);
	hasher_add_u64(h, m->spec->weights_inside);
	hasher_add_str(h, m->spec->linker);
	hasher_add_u64(h, b->options->lazy);
	hasher_add_u64(h, p->n_entries);
	for (uint32_t i = 0; i < p->n_entries; i++) {
		const struct hir_unit *u = p->entries[i].unit;
		hasher_add_str(h, p->entries[i].name);
		hasher_add_hash(h, u->identity);
		hasher_add_u64(h, u->n_inputs);
		for (uint32_t k = 0; k < u->n_inputs; k++) {
			hasher_add_str(h, u->inputs[k].name);
			hasher_add_u64(h, p->entries[i].params[k]);
		}
		for (uint32_t k = 0; k < u->n_outputs; k++)
			hasher_add_str(h, u->outputs[k].name);
	}
	for (uint32_t i = 0; i < p->n_units; i++) {
		hasher_add_hash(h, m->unit_keys[i]);
		hasher_add_hash(h, m->plans[i] ? m->plans[i]->build_fn_hash : (hash128){0, 0});
		hasher_add_str(h, p->units[i]->name); /* the descriptor lists also those that were taken in */
	}
	for (uint32_t i = 0; i < p->n_params; i++)
		hasher_add_hash(h, m->bound.hashes[i]);
	if (b->in_repository) {
		hasher_add_hash(h, b->head);
		for (uint32_t i = 0; i < inputs_count(b->inputs); i++)
			hasher_add_hash(h, inputs_at(b->inputs, i)->content);
	}
	m->link_digest = hasher_finish(h);
	m->current = is_current(m);
}

static const struct ir_fn *build_fn_of(void *ctx, const struct plan *p)
{
	struct model_job *m = ctx;
	return build_plan_code(build_find_unit(m, p->unit->identity))->build_fn;
}

static struct model_input model_input(const struct model_job *m)
{
	return (struct model_input){.program = m->program,
				    .plans = m->plans,
				    .params = m->bound.params,
				    .param_hashes = m->bound.hashes,
				    .load = build_load_param,
				    .build_fn = build_fn_of,
				    .ctx = (void *)(uintptr_t)m};
}

/* ---- packed weights: inside the library the cache keeps them, or without one an arena ---- */

struct keeper {
	struct model_job *m;
	struct cache *cache;
	struct arena *a;
};

static bool find_inside(const struct keeper *k, struct model_blob *b)
{
	size_t len;
	b->bytes = cache_get(k->cache, CACHE_WEIGHTS, b->key, &len);
	if (b->bytes && len != b->len)
		b->bytes = NULL;
	return b->bytes != NULL;
}

static bool find_packed(void *ctx, struct model_blob *b)
{
	const struct keeper *k = ctx;
	bool found = k->m->triw ? triw_find(k->m->triw, b) : find_inside(k, b);
	k->m->build->kept_packed += found;
	return found;
}

/* Packed under the name of what the file held, it would be found for ever. */
static const char *what_changed(struct model_job *m, struct arena *a)
{
	m->build->environment = true;
	return arena_printf(a, "`%s` was changed while it was read; build again", m->spec->weights->text);
}

static bool keep_inside(const struct keeper *k, struct model_blob *b, const void *bytes, const char **error)
{
	if (weights_changed(k->m->weights)) {
		*error = what_changed(k->m, k->a);
		return false;
	}
	b->bytes = cache_put(k->cache, CACHE_WEIGHTS, b->key, bytes, b->len, 0);
	if (!b->bytes && b->len)
		b->bytes = memcpy(arena_alloc(k->a, b->len, 64), bytes, b->len);
	else if (!b->bytes)
		b->bytes = "";
	return true;
}

static bool keep_packed(void *ctx, struct model_blob *b, const void *bytes, const char **error)
{
	const struct keeper *k = ctx;
	k->m->build->packed++;
	return k->m->triw ? triw_keep(k->m->triw, b, bytes, error) : keep_inside(k, b, bytes, error);
}

static void snapshot_fails(struct model_job *m, const char *path)
{
	struct diag *g = diag_add(m->diags, DIAG_FILE_WRITE, SPAN_NONE, "cannot write `%s`: %s", path, strerror(errno));
	diag_note(m->diags, g, "what was there before is unchanged");
	m->build->environment = true;
}

void build_layout_weights(struct model_job *m, uint32_t worker)
{
	struct tick t = timing_tick();
	struct model_input in = model_input(m);
	m->weighed = model_layout_weights(m->arena, &in);
	m->weights_file = NULL;
	if (m->library && m->weighed->size > m->spec->weights_inside) {
		m->triw = triw_create(m->arena, m->spec->out, m->spec->name, m->weighed, earlier_weights(m));
		if (m->triw)
			m->weights_file = triw_path(m->triw);
		else
			snapshot_fails(m, arena_printf(m->arena, "%s/%s", m->spec->out, m->weighed->file->name));
	}
	timing_add(m->build->timing, PHASE_PACK, worker + 1, m->spec->name, t);
}

static bool asked_to_end(const struct model_job *m) { return os_interrupted() || m->build->superseded; }

const char *build_pack(struct model_job *m, struct arena *a, uint32_t worker)
{
	struct tick t = timing_tick();
	struct model_input in = model_input(m);
	struct keeper keeper = {m, m->build->cache, a};
	struct weight_host host = {find_packed, keep_packed, &keeper};
	const char *error = NULL;
	uint32_t part;
	while (!error && !asked_to_end(m) && (part = atomic_fetch_add(&m->next_part, 1)) < m->weighed->n_parts)
		model_pack_weights(a, &in, m->weighed, part, &host, &error);
	if (triw_failed(m->triw))
		m->build->environment = true;
	timing_add(m->build->timing, PHASE_PACK, worker + 1, m->spec->name, t);
	return error ? error : asked_to_end(m) ? "interrupted" : NULL;
}

static bool write_output(struct model_job *m, const char *path, const struct buf *text, unsigned mode)
{
	if (os_mkdirs(path_dir(m->arena, path)) && outputs_remove_link(m->arena, path, m->spec->out_named) &&
	    os_write_if_changed(path, text->at, text->len, mode, false))
		return true;
	snapshot_fails(m, path);
	return false;
}

static bool link_library(struct model_job *m, const struct link_request *r, struct buf *out, const char **error)
{
	if (strcmp(m->spec->linker, "internal") == 0)
		return link_shared(m->arena, r, out, error);
	bool ok = link_external(m->arena, r, m->spec->linker, arena_printf(m->arena, ".trib/link-%s", m->spec->name), out, error);
	if (!ok)
		m->build->environment = true;
	return ok;
}

static bool write_library(struct model_job *m, const char *path, struct link_request *r, struct gathered *g, const struct model_input *in,
			  const struct model_info *info)
{
	struct buf out = {0};
	const char *error = NULL;
	r->soname = path_base(path);
	r->objects = g->at;
	r->n_objects = g->n;
	r->exports = model_exports(m->arena, in, info, &r->n_exports);
	bool ok = link_library(m, r, &out, &error) ? write_output(m, path, &out, 0755) : build_link_fails(m, error);
	buf_free(&out);
	return ok;
}

static bool link_cpu(struct model_job *m, const struct model_input *in, const struct model_info *info)
{
	static const char *const needed[] = {"libm.so.6", "libc.so.6"};
	struct link_request r = {.needed = needed, .n_needed = 2};
	struct gathered g = {ARENA_ARRAY(m->arena, struct object *, 2 + m->program->n_units + runtime_object_count()), 1};
	g.at[0] = model_object(m->arena, in, m->weighed, info);
	if (!g.at[0])
		return build_link_fails(m, "its descriptor could not be made");
	return build_gather(m, &g) && write_library(m, m->library, &r, &g, in, info);
}

static bool write_opencl(struct model_job *m, const struct model_input *in, const struct model_info *info)
{
	static const char *const needed[] = {"libOpenCL.so.1", "libm.so.6", "libc.so.6"};
	struct link_request r = {.needed = needed, .n_needed = 3};
	const struct loop_fn **units = ARENA_ARRAY(m->arena, const struct loop_fn *, m->program->n_units + 1);
	struct gathered g = {ARENA_ARRAY(m->arena, struct object *, 1 + BUILD_MOST_OPENCL_OBJECTS), 1};
	for (uint32_t i = 0; i < m->program->n_units; i++)
		units[i] = m->plans[i] ? loops_build(m->arena, m->plans[i]) : NULL;
	g.at[0] = opencl_model_object(m->arena, in, m->weighed, info, units);
	if (!g.at[0])
		return build_link_fails(m, "it cannot be made into OpenCL kernels");
	return build_gather_opencl(m, &g) && write_library(m, m->opencl, &r, &g, in, info);
}

/* A library for devices copies its weights there when it is opened: they are always inside. */
static bool link_opencl(struct model_job *m, const struct model_input *in, const struct model_info *info)
{
	const void *bytes = NULL;
	size_t len = 0;
	if (m->weights_file && !os_map_file(m->weights_file, &bytes, &len))
		return build_link_fails(m, "its weight file cannot be read again");
	for (uint32_t i = 0; bytes && i < m->weighed->n_blobs; i++)
		m->weighed->blobs[i].bytes = (const char *)bytes + m->weighed->blobs[i].offset;
	bool ok = write_opencl(m, in, info);
	os_unmap(bytes, len);
	return ok;
}

/* The weight file goes before the library that asks for it. */
static bool publish_weights(struct model_job *m)
{
	if (weights_changed(m->weights))
		diag_add(m->diags, DIAG_FILE_READ, m->spec->weights->at, "%s", what_changed(m, m->arena));
	else if (!m->triw)
		model_share(m->arena, m->weighed);
	else if (!triw_finish(m->triw))
		snapshot_fails(m, m->weights_file);
	return diags_errors(m->diags) == 0;
}

static bool write_headers(struct model_job *m, const struct model_input *in, const struct model_info *info)
{
	struct buf text = {0};
	bool ok = true;
	if (m->header) {
		model_header(in, info, &text);
		ok = write_output(m, m->header, &text, 0644);
	}
	if (ok && m->live) {
		buf_clear(&text);
		buf_printf(&text, "%s\n%s", runtime_header(), runtime_live_header());
		ok = write_output(m, m->live, &text, 0644);
	}
	buf_free(&text);
	return ok;
}

void build_link(struct model_job *m, uint32_t worker)
{
	struct tick t = timing_tick();
	struct model_input in = model_input(m);
	struct model_info info = {.name = m->spec->name,
				  .version = m->spec->version,
				  .compiler = "trib " TRIB_VERSION,
				  .target = m->platform.text,
				  .commit = m->build->commit,
				  .dirty = m->build->dirty,
				  .unit_keys = m->unit_keys};
	bool ok = publish_weights(m) && (!m->library || link_cpu(m, &in, &info));
	ok = ok && (!m->opencl || link_opencl(m, &in, &info));
	ok = ok && write_headers(m, &in, &info);
	if (ok) {
		triw_sweep(m->arena, m->spec->out, m->spec->name, m->weights_file);
		record_link(m);
	}
	m->written = ok;
	timing_add(m->build->timing, PHASE_LINK, worker + 1, m->spec->name, t);
}
