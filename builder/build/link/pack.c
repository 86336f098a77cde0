#include "builder/build/link/pack.h"
#include <stdatomic.h>
#include "backend/link/backend.h"
#include "backend/link/elf/link.h"
#include "backend/link/model/model.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/measure.h"
#include "base/os.h"
#include "base/path.h"
#include "builder/build/link/link_record.h"
#include "builder/build/model/model.h"
#include "builder/build/plan/plan_cache.h"
#include "builder/build/session/context.h"
#include "builder/build/session/param_code.h"
#include "builder/build/sources/params.h"
#include "builder/build/timing/timing.h"
#include "builder/manifest/build_spec.h"
#include "builder/manifest/options.h"
#include "builder/cache/cache.h"
#include "builder/manifest/outputs.h"
#include "builder/weights/packed.h"
#include "builder/weights/triw.h"
#include "frontend/hir/hir.h"

static const struct ir_fn *build_fn_of(void *ctx, const struct plan *p)
{
	const struct packing *of = ctx;
	return plan_cache_code(variant_find_unit(of->variant, p->unit->identity))->build_fn;
}

static bool load_param(void *ctx, struct arena *a, uint32_t param, struct tensor *out, const char **error)
{
	const struct packing *of = ctx;
	return params_load(of->stores, of->variant->model, a, param, out, error);
}

static void *pack_open_param(void *ctx, struct arena *a, uint32_t param)
{
	const struct packing *of = ctx;
	return params_open(of->stores, of->variant->model, a, param);
}

static bool read_param(void *reader, int64_t first, int64_t n, void *out, const char **error)
{
	return weights_read(reader, first, n, out, error);
}

struct model_input pack_model_input(struct packing *p)
{
	const struct variant *v = p->variant;
	const struct model_job *m = v->model;
	return (struct model_input){.program = m->program,
				    .plans = v->units.plans,
				    .params = m->params.bound.params,
				    .param_hashes = m->params.bound.hashes,
				    .capacities = m->params.capacities,
				    .initial_states = m->params.initial_states,
				    .is_initial = m->params.bound.is_initial,
				    .load = load_param,
				    .open = pack_open_param,
				    .read = read_param,
				    .build_fn = build_fn_of,
				    .ctx = p};
}

/* The file that the weights go to. NULL: they are there already. */
static struct packed *packed_of(const struct variant *v) { return v->pack.triw ? triw_packed(v->pack.triw) : v->pack.packed; }

/* What a packer needs. Only what is made of initial values is cached, and only if that took longer than reading it: packing the rest of a
 * weights file again takes no longer. */
struct packer {
	const struct stores *stores;
	struct build_outcome *outcome;
	struct variant *v;
	struct arena *a;
	int64_t began; /* CPU time of this thread, which a busy machine does not lengthen: making the blob that was not found */
};

static bool find_cached(const struct packer *s, struct model_blob *b)
{
	size_t len;
	const char *error;
	const void *bytes = b->is_initial ? cache_find(s->stores->cache, CACHE_WEIGHTS, b->key, &len) : NULL;
	return bytes && len == b->len && packed_write(packed_of(s->v), b, 0, bytes, len, &error);
}

static bool find_packed(void *ctx, struct model_blob *b)
{
	struct packer *s = ctx;
	struct packed *to = packed_of(s->v);
	b->is_new = to && !packed_find(to, b);
	bool found = !b->is_new || find_cached(s, b);
	s->v->pack.packed_before += found;
	s->began = os_thread_cpu_ns();
	return found;
}

/* The packed bytes must not be cached under the hash of the old content. */
static const char *changed_error(struct build_outcome *outcome, struct model_job *m, struct arena *a)
{
	outcome->environment = true;
	return arena_printf(a, "`%s` was changed while it was read; build again", m->spec->weights->text);
}

static bool write_packed(void *ctx, struct model_blob *b, uint64_t at, const void *bytes, size_t n, const char **error)
{
	const struct packer *s = ctx;
	struct model_job *m = s->v->model;
	s->v->pack.n_packed += at == 0;
	int64_t took_ns = os_thread_cpu_ns() - s->began;
	if (b->is_initial && n == b->len && cache_pays(took_ns, n)) {
		if (weights_changed(m->params.file)) {
			*error = changed_error(s->outcome, m, s->a);
			return false;
		}
		cache_add(s->stores->cache, CACHE_WEIGHTS, b->key, bytes, n, took_ns);
	}
	return packed_write(packed_of(s->v), b, at, bytes, n, error);
}

/* An earlier variant of the model has packed all its weights. */
static void share_weights(struct packed *to, const struct variant *earlier)
{
	if (packed_of(earlier))
		packed_share(to, packed_of(earlier));
	else if (earlier->pack.triw)
		packed_reuse(to, triw_path(earlier->pack.triw), NULL, 0);
}

static void open_weight_file(const struct disk *disk, struct store *store, struct build_outcome *outcome, struct variant *v)
{
	struct model_job *m = v->model;
	struct model_pack *p = &v->pack;
	p->triw = triw_create(p->arena, m->spec->out, m->spec->name, p->layout, link_record_weights(disk, store, m, v->emit));
	if (p->triw)
		m->outputs.weights[v->emit] = triw_path(p->triw);
	else
		model_write_failed(outcome, m, arena_printf(p->arena, "%s/%s", m->spec->out, p->layout->file->name));
}

/* The library; that of a fallback alone is not kept. */
static const char *packed_path(const struct variant *v)
{
	const struct model_spec *s = v->model->spec;
	const char *library = variant_output(v);
	return library ? library : arena_printf(v->pack.arena, "%s/%s.fallback", s->out, s->name);
}

static void pack_open_library(const struct disk *disk, struct store *store, struct build_outcome *outcome, struct variant *v)
{
	struct model_job *m = v->model;
	struct model_pack *p = &v->pack;
	const char *path = packed_path(v);
	const struct triw_entry *earlier;
	uint32_t n;
	if (os_mkdirs(path_dir(p->arena, path)) && outputs_remove_link(p->arena, path, m->spec->out_named))
		p->packed = packed_open(path, LINK_WEIGHTS_AT, 0755, p->layout);
	if (!p->packed)
		model_write_failed(outcome, m, path);
	else if (variant_output(v) && (earlier = link_record_library(disk, store, m, v->emit, &n)))
		packed_reuse(p->packed, path, earlier, n);
}

void pack_lay_out(struct build_context *c, struct variant *v)
{
	struct model_job *m = v->model;
	struct model_input in = pack_model_input(&(struct packing){&c->stores, v});
	struct model_pack *p = &v->pack;
	phase_begin(PHASE_PACK, m->spec->name);
	measure_begin("lay out");
	p->layout = model_layout_weights(p->arena, &in);
	uint64_t most_inside = v->backend->most_inside ? v->backend->most_inside : m->spec->weights_inside;
	if (v->backend->weights == BACKEND_WEIGHTS_BESIDE && p->layout->size > most_inside)
		open_weight_file(c->disk, c->stores.project, &c->outcome, v);
	else
		pack_open_library(c->disk, c->stores.project, &c->outcome, v);
	for (const struct variant *earlier = m->variants; earlier < v && packed_of(v); earlier++)
		share_weights(packed_of(v), earlier);
	measure_end();
	measure_end();
}

static bool is_stopped(const struct build_outcome *outcome) { return os_interrupted() || outcome->superseded; }

const char *pack_weights(struct build_context *c, struct variant *v, struct arena *a, uint32_t worker)
{
	struct model_job *m = v->model;
	phase_begin(PHASE_PACK, m->spec->name);
	measure_begin("pack weights");
	struct model_input in = pack_model_input(&(struct packing){&c->stores, v});
	struct packer packer = {&c->stores, &c->outcome, v, a, 0};
	struct param_compiler own = {c->session, &c->stores, c->request.options->param_code, worker};
	struct stream_compiler compiler = param_compiler(&own);
	struct weight_host host = {.find = find_packed, .write = write_packed, .ctx = &packer, .compiler = &compiler};
	struct pack_buffer buffer = {0};
	const char *error = NULL;
	uint32_t part;
	while (!error && !is_stopped(&c->outcome) && (part = atomic_fetch_add(&v->pack.next_part, 1)) < v->pack.layout->n_parts)
		model_pack_weights(a, &in, v->pack.layout, part, &buffer, &host, &error);
	pack_buffer_free(&buffer);
	if (error && weights_changed(m->params.file)) /* what was read of it may be anything, or missing */
		error = changed_error(&c->outcome, m, a);
	if (packed_failed(packed_of(v)))
		c->outcome.environment = true;
	measure_end();
	measure_end();
	return error ? error : is_stopped(&c->outcome) ? "interrupted" : NULL;
}

bool pack_finish(struct build_outcome *outcome, struct variant *v)
{
	struct model_job *m = v->model;
	struct model_pack *p = &v->pack;
	if (weights_changed(m->params.file))
		diag_add(m->diags, DIAG_FILE_READ, m->spec->weights->at, "%s", changed_error(outcome, m, m->link.arena));
	else if (p->triw ? !triw_finish(p->triw) : !packed_merge(p->packed))
		model_write_failed(outcome, m, p->triw ? m->outputs.weights[v->emit] : packed_path(v));
	return diags_errors(m->diags) == 0;
}

bool pack_map(struct variant *v)
{
	struct model_weights *w = v->pack.layout;
	const char *image = v->pack.triw ? NULL : packed_map(v->pack.packed);
	for (uint32_t i = 0; i < w->n_blobs && image; i++)
		w->blobs[i].bytes = image + w->blobs[i].offset;
	return v->pack.triw || image || model_link_failed(v->model, "its weights cannot be read again");
}

bool pack_publish(struct build_outcome *outcome, struct variant *v, const struct buf *library, size_t before, uint64_t gap)
{
	if (packed_publish(v->pack.packed, library->at, library->len, before, gap))
		return true;
	model_write_failed(outcome, v->model, variant_output(v));
	return false;
}
