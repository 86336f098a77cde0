#include "builder/build/link.h"
#include <string.h>
#include "backend/link/lazy.h"
#include "backend/link/link.h"
#include "backend/link/model.h"
#include "backend/link/object.h"
#include "backend/link/runtime_objects.h"
#include "backend/loops/loops.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/os.h"
#include "base/path.h"
#include "builder/build/build_id.h"
#include "builder/build/build_steps.h"
#include "builder/build/session.h"
#include "builder/build/timing.h"
#include "builder/manifest/build_spec.h"
#include "builder/manifest/options.h"
#include "builder/manifest/outputs.h"
#include "builder/module.h"
#include "builder/store/inputs.h"
#include "builder/version.h"
#include "builder/weights/triw.h"
#include "frontend/hir/hir.h"
#include "gpu/opencl.h"

enum { MOST_OPENCL_OBJECTS = 16 };
struct object_list {
	struct object **at; /* the model's own first; room for all */
	uint32_t n;
};

/* Adds the session's parsed object, or parses the bytes. */
static bool add(struct model_job *m, struct object_list *l, hash128 key, const char *name, const void *bytes, size_t len)
{
	const char *error = NULL;
	struct object *o = fragments_object(m->context->session->fragments, key);
	if (!o)
		o = object_parse(m->link.arena, name, bytes, len, &error);
	if (!o)
		return model_link_failed(m, error);
	l->at[l->n++] = o;
	return true;
}

static bool add_fragments(struct model_job *m, struct object_list *l)
{
	for (uint32_t i = 0; i < m->program->n_units; i++) {
		const struct compile *f = m->units.jobs[i].compile;
		if (f && !add(m, l, f->key, m->units.jobs[i].unit->name, f->object, f->len))
			return false;
	}
	return true;
}

static hash128 runtime_key(enum runtime_level level, uint32_t i) { return (hash128){i, level}; }

/* In place of the fragments a lazy library has stubs, which compile units at the first call. */
static bool add_stubs(struct model_job *m, struct object_list *l)
{
	struct lazy_unit *units = ARENA_ARRAY(m->link.arena, struct lazy_unit, m->program->n_units + 1);
	uint32_t n = 0;
	const char *error = NULL;
	for (uint32_t i = 0; i < m->program->n_units; i++) {
		const struct unit_job *j = &m->units.jobs[i];
		if (j->compile)
			units[n++] = (struct lazy_unit){j->unit->name, j->unit->symbol, j->compile->object, j->compile->len,
							j->key,        j->options.opt,  j->options.size};
	}
	const struct lazy_info info = {.libtrib = module_path(m->link.arena, ""),
				       .cpu = m->platform.target->cpu,
				       .features = m->platform.target->features,
				       .vector_bytes = m->platform.target->vector_bytes,
				       .build = build_id(),
				       .generator = m->context->stores.generator};
	if (!info.libtrib || hash_is_zero(info.build))
		return model_link_failed(m, "libtrib.so, which would compile its units, is not beside trib or in its lib/trib folder");
	l->at[l->n++] = lazy_object(m->link.arena, units, n, &info, &error);
	return !error || model_link_failed(m, error);
}

/* The units in the program's order, then the runtime. False: reported. */
static bool add_cpu_objects(struct model_job *m, struct object_list *l)
{
	enum runtime_level level = (enum runtime_level)m->platform.level;
	if (!(m->context->request.options->lazy ? add_stubs(m, l) : add_fragments(m, l)))
		return false;
	for (uint32_t i = 0; i < runtime_object_count(); i++) {
		size_t len;
		const void *bytes = runtime_object(level, i, &len);
		if (!bytes)
			return model_link_failed(m, "this trib has no runtime for the target");
		if (!add(m, l, runtime_key(level, i), runtime_object_name(i), bytes, len))
			return false;
	}
	return true;
}

static bool add_opencl_objects(struct model_job *m, struct object_list *l)
{
	size_t len;
	const void *bytes;
	const char *error = NULL;
	for (uint32_t i = 0; (bytes = opencl_runtime_object(i, &len)) && i < MOST_OPENCL_OBJECTS; i++) {
		struct object *o = object_parse(m->link.arena, "opencl runtime", bytes, len, &error);
		if (!o)
			return model_link_failed(m, error);
		l->at[l->n++] = o;
	}
	return true;
}

void link_retain_runtime(struct fragments *f, const struct model_job *m)
{
	enum runtime_level level = (enum runtime_level)m->platform.level;
	for (uint32_t i = 0; i < runtime_object_count(); i++) {
		size_t len;
		const void *bytes = runtime_object(level, i, &len);
		if (bytes)
			fragments_use(f, runtime_key(level, i), runtime_object_name(i), bytes, len);
	}
}

/* ---- the link ---- */

/* In a repository, the commit and the exact text of the inputs count: the library says whether its inputs are committed. */
void link_digest(struct model_job *m, const struct repository *repo)
{
	struct build_context *c = m->context;
	const struct hir_program *p = m->program;
	struct hasher *h = hasher_new();
	hasher_add_hash(h, c->stores.compiler);
	hasher_add_hash(h, m->platform.id);
	hasher_add_str(h, m->spec->name);
	hasher_add_str(h, m->spec->version);
	hasher_add_u64(h, m->spec->emit);
	hasher_add_u64(h, m->spec->weights_inside);
	hasher_add_str(h, m->spec->linker);
	hasher_add_u64(h, c->request.options->lazy);
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
		hasher_add_hash(h, m->units.keys[i]);
		hasher_add_hash(h, m->units.plans[i] ? m->units.plans[i]->build_fn_hash : (hash128){0, 0});
		hasher_add_str(h, p->units[i]->name); /* the descriptor also lists inlined units */
	}
	for (uint32_t i = 0; i < p->n_params; i++)
		hasher_add_hash(h, m->params.bound.hashes[i]);
	if (repo->found) {
		hasher_add_hash(h, repo->head);
		for (uint32_t i = 0; i < inputs_count(c->inputs); i++)
			hasher_add_hash(h, inputs_at(c->inputs, i)->content);
	}
	m->link.digest = hasher_finish(h);
	m->link.is_current = link_record_is_current(m);
}

static bool write_output(struct model_job *m, const char *path, const struct buf *text, unsigned mode)
{
	if (os_mkdirs(path_dir(m->link.arena, path)) && outputs_remove_link(m->link.arena, path, m->spec->out_named) &&
	    os_write_if_changed(path, text->at, text->len, mode, false))
		return true;
	model_write_failed(m, path);
	return false;
}

static bool link_library(struct model_job *m, const struct link_request *r, struct buf *out, const char **error)
{
	if (strcmp(m->spec->linker, "internal") == 0)
		return link_shared(m->link.arena, r, out, error);
	bool ok = link_external(m->link.arena, r, m->spec->linker, arena_printf(m->link.arena, ".trib/link-%s", m->spec->name), out, error);
	if (!ok)
		m->context->environment = true;
	return ok;
}

static bool write_library(struct model_job *m, const char *path, struct link_request *r, struct object_list *l,
			  const struct model_input *in, const struct model_info *info)
{
	struct buf out = {0};
	const char *error = NULL;
	r->soname = path_base(path);
	r->objects = l->at;
	r->n_objects = l->n;
	r->exports = model_exports(m->link.arena, in, info, &r->n_exports);
	bool ok = link_library(m, r, &out, &error) ? write_output(m, path, &out, 0755) : model_link_failed(m, error);
	buf_free(&out);
	return ok;
}

static bool link_cpu(struct model_job *m, const struct model_input *in, const struct model_info *info)
{
	static const char *const needed[] = {"libm.so.6", "libc.so.6"};
	struct link_request r = {.needed = needed, .n_needed = 2};
	struct object_list l = {ARENA_ARRAY(m->link.arena, struct object *, 2 + m->program->n_units + runtime_object_count()), 1};
	l.at[0] = model_object(m->link.arena, in, m->link.layout, info);
	if (!l.at[0])
		return model_link_failed(m, "its descriptor could not be made");
	return add_cpu_objects(m, &l) && write_library(m, m->outputs.library, &r, &l, in, info);
}

static bool write_opencl(struct model_job *m, const struct model_input *in, const struct model_info *info)
{
	static const char *const needed[] = {"libOpenCL.so.1", "libm.so.6", "libc.so.6"};
	struct link_request r = {.needed = needed, .n_needed = 3};
	const struct loop_fn **units = ARENA_ARRAY(m->link.arena, const struct loop_fn *, m->program->n_units + 1);
	struct object_list l = {ARENA_ARRAY(m->link.arena, struct object *, 1 + MOST_OPENCL_OBJECTS), 1};
	for (uint32_t i = 0; i < m->program->n_units; i++) {
		if (!m->units.plans[i])
			continue;
		struct loop_fn *f = ARENA_NEW(m->link.arena, struct loop_fn);
		*f = *m->units.plans[i]->loops;
		f->unit = m->link.arena;
		f->stmts = memcpy(ARENA_ARRAY(f->unit, struct loop_stmt, f->n_stmts + 1), f->stmts, f->n_stmts * sizeof *f->stmts);
		loops_schedule(f, &(struct plan_options){.target = target_get(TARGET_OPENCL)});
		units[i] = f;
	}
	l.at[0] = opencl_model_object(m->link.arena, in, m->link.layout, info, units);
	if (!l.at[0])
		return model_link_failed(m, "it cannot be made into OpenCL kernels");
	return add_opencl_objects(m, &l) && write_library(m, m->outputs.opencl, &r, &l, in, info);
}

/* An OpenCL library always contains its weights: it copies them to the device when it is opened. */
static bool link_opencl(struct model_job *m, const struct model_input *in, const struct model_info *info)
{
	const void *bytes = NULL;
	size_t len = 0;
	if (m->outputs.weights && !os_map_file(m->outputs.weights, &bytes, &len))
		return model_link_failed(m, "its weight file cannot be read again");
	for (uint32_t i = 0; bytes && i < m->link.layout->n_blobs; i++)
		m->link.layout->blobs[i].bytes = (const char *)bytes + m->link.layout->blobs[i].offset;
	bool ok = write_opencl(m, in, info);
	os_unmap(bytes, len);
	return ok;
}

static bool write_headers(struct model_job *m, const struct model_input *in, const struct model_info *info)
{
	struct buf text = {0};
	bool ok = true;
	if (m->outputs.header) {
		model_header(in, info, &text);
		ok = write_output(m, m->outputs.header, &text, 0644);
	}
	if (ok && m->outputs.live) {
		buf_clear(&text);
		buf_printf(&text, "%s\n%s", runtime_header(), runtime_live_header());
		ok = write_output(m, m->outputs.live, &text, 0644);
	}
	buf_free(&text);
	return ok;
}

void link_model(struct model_job *m, const struct repository *repo, uint32_t worker)
{
	struct tick t = timing_tick();
	struct model_input in = pack_model_input(m);
	struct model_info info = {.name = m->spec->name,
				  .version = m->spec->version,
				  .compiler = "trib " TRIB_VERSION,
				  .target = m->platform.text,
				  .commit = repo->commit,
				  .dirty = repo->dirty,
				  .unit_keys = m->units.keys};
	bool ok = pack_publish(m) && (!m->outputs.library || link_cpu(m, &in, &info));
	ok = ok && (!m->outputs.opencl || link_opencl(m, &in, &info));
	ok = ok && write_headers(m, &in, &info);
	if (ok) {
		triw_sweep(m->link.arena, m->spec->out, m->spec->name, m->outputs.weights);
		link_record_save(m);
	}
	m->link.written = ok;
	timing_add(m->context->timing, PHASE_LINK, worker + 1, m->spec->name, t);
}
