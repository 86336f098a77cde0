#include <string.h>
#include "backend/interp/interp.h"
#include "backend/lower/lower.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/os.h"
#include "builder/build/state.h"
#include "builder/build/timing.h"
#include "builder/cache/cache.h"
#include "builder/manifest/manifest.h"
#include "builder/store/file_hash.h"
#include "builder/store/store.h"
#include "frontend/hir/hir.h"

bool build_open_weights_if_there(struct build *b)
{
	struct file_stamp stamp;
	for (uint32_t i = 0; i < b->n_models; i++) {
		struct model_job *m = &b->models[i];
		m->no_weights = m->spec->weights && !os_stamp(m->spec->weights->text, &stamp);
	}
	return build_open_weights(b);
}

/* True if an entry takes its parameters as arguments, which only the weights file tells from its inputs. */
static bool has_functional_entry(const struct model_job *m)
{
	uint32_t n;
	for (uint32_t i = 0; i < m->spec->n_entries; i++)
		if (frontend_entry_args(m->frontend, m->spec->entries[i], m->build->session, &n))
			return true;
	return false;
}

/* "module." of `module.w` where there is no `w`; 0: no such tensor. */
static size_t find_prefixed(const struct elab_input *list, uint32_t n, const char *name, uint32_t *at)
{
	size_t len = strlen(name), found = 0;
	for (uint32_t i = 0; i < n; i++) {
		size_t whole = strlen(list[i].name);
		if (strcmp(list[i].name, name) == 0)
			return 0;
		if (found || whole <= len + 1 || list[i].name[whole - len - 1] != '.' || strcmp(list[i].name + whole - len, name) != 0)
			continue;
		found = whole - len;
		*at = i;
	}
	return found;
}

static bool is_given(const struct model_spec *s, const char *name)
{
	for (uint32_t i = 0; i < s->n_inputs; i++)
		if (strcmp(s->inputs[i].name, name) == 0)
			return true;
	for (uint32_t i = 0; i < s->n_weight_names; i++)
		if (strcmp(s->weight_names[i], name) == 0)
			return true;
	return false;
}

void build_warn_prefixes(struct model_job *m, const struct elab_input *in_file, uint32_t n_file)
{
	struct build *b = m->build;
	uint32_t n, at = 0;
	for (uint32_t e = 0; n_file && e < m->spec->n_entries; e++) {
		const struct frontend_arg *args = frontend_entry_args(m->frontend, m->spec->entries[e], b->session, &n);
		for (uint32_t i = 0; args && i < n; i++) {
			size_t prefix = is_given(m->spec, args[i].name) ? 0 : find_prefixed(in_file, n_file, args[i].name, &at);
			if (!prefix)
				continue;
			struct diag *g = diag_add(b->diags, DIAG_WEIGHTS_INPUT, in_file[at].at,
						  "argument `%s` of `%s` is an input, but `%s` has a tensor `%s`", args[i].name,
						  m->spec->entries[e], m->spec->weights->text, in_file[at].name);
			diag_help(
				b->diags, g,
				"if that is its value, add `weights.prefix = %.*s` to the model's block; if it is an input, add a line `input %s = …`",
				(int)prefix, in_file[at].name, args[i].name);
		}
	}
}

bool build_elaborate_known(struct build *b)
{
	for (uint32_t i = 0; i < b->n_models; i++)
		b->models[i].unknown_params = !b->models[i].failed && b->models[i].no_weights && has_functional_entry(&b->models[i]);
	return build_elaborate(b);
}

bool build_open_weights(struct build *b)
{
	for (uint32_t i = 0; i < b->n_models; i++) {
		struct model_job *m = &b->models[i];
		if (m->failed || !m->spec->weights || m->no_weights)
			continue;
		const char *path = m->spec->weights->text;
		m->weights = weights_open(b->session, path, m->spec->weights->at, &m->spec->weights_options, b->diags);
		file_hash(b->project, b->inputs, path);
		m->failed = !m->weights;
	}
	return build_may_go_on(b);
}

static hash128 init_key(void *ctx, const struct hir_param *p, uint64_t seed)
{
	const struct build *b = ctx;
	hash128 h = hash_combine(store_key("init", p->name), hir_unit_hash_all(p->init));
	return hash_combine(hash_combine(h, b->compiler), (hash128){seed, 0});
}

static bool interpret(struct arena *a, const struct hir_param *p, uint64_t seed, struct tensor *out, const char **error)
{
	struct diags *diags = diags_new(0);
	struct ir_fn *f = lower_unit(a, p->init, diags);
	bool ok = f && interp_run(f, NULL, NULL, NULL, seed, a, out, error);
	if (!f && diags_count(diags))
		*error = arena_strdup(a, diags_at(diags, 0)->message);
	diags_free(diags);
	return ok;
}

/* Initial values are remembered, unless they are large: then what is packed from them is. */
static bool initialise(void *ctx, struct arena *a, const struct hir_param *p, uint64_t seed, struct tensor *out, const char **error)
{
	struct build *b = ctx;
	struct tensor t = *out;
	bool keep = tensor_bytes(out) > 4096 && tensor_bytes(out) <= WEIGHTS_LARGE;
	size_t len;
	const void *data = keep ? cache_get(b->cache, CACHE_INIT, init_key(b, p, seed), &len) : NULL;
	if (data && len == (size_t)tensor_bytes(out)) {
		out->data = (void *)(uintptr_t)data;
		return true;
	}
	if (!interpret(a, p, seed, &t, error))
		return false;
	if (t.elem != out->elem || tensor_bytes(&t) != tensor_bytes(out)) {
		*error = "its initializer gives another type or shape";
		return false;
	}
	out->data = t.data;
	if (keep)
		cache_put(b->cache, CACHE_INIT, init_key(b, p, seed), t.data, (size_t)tensor_bytes(&t), 0);
	return true;
}

static struct weights_host host_of(struct build *b) { return (struct weights_host){.init = initialise, .name = init_key, .ctx = b}; }

bool build_load_param(void *ctx, struct arena *a, uint32_t i, struct tensor *out, const char **error)
{
	struct model_job *m = ctx;
	*out = m->bound.params[i];
	return out->data || weights_load(a, m->weights, m->program, host_of(m->build), i, out, error);
}

bool build_bind_model(struct build *b, struct model_job *m)
{
	struct tick t = timing_tick();
	span at = !m->spec ? SPAN_NONE : m->spec->weights ? m->spec->weights->at : m->spec->at;
	bool ok = weights_bind(m->arena, m->weights, m->program, host_of(b), at, &m->bound, b->diags);
	timing_add(b->timing, PHASE_PACK, 0, "read parameters", t);
	return ok;
}

bool build_bind_weights(struct build *b)
{
	for (uint32_t i = 0; i < b->n_models; i++)
		if (!b->models[i].failed)
			b->models[i].failed = !build_bind_model(b, &b->models[i]);
	return build_may_go_on(b);
}
