#include "builder/manifest/build_spec.h"
#include <string.h>
#include "base/arena.h"
#include "base/diag.h"
#include "base/os.h"
#include "builder/manifest/backends.h"
#include "builder/manifest/foreign_words.h"
#include "builder/manifest/manifest.h"
#include "builder/manifest/options.h"
#include "builder/manifest/outputs.h"

/* The blocks that set a value, strongest first. A block may be NULL. */
struct layers {
	const struct manifest_block *profile, *model, *project, *defaults;
};

/* Returns a block with the defaults of manifest_keys.def. */
static const struct manifest_block *make_defaults(struct arena *session, struct diags *diags)
{
	struct manifest_block *b = ARENA_NEW(session, struct manifest_block);
	b->values = ARENA_ARRAY(session, struct manifest_value, KEY_COUNT);
	for (enum manifest_key key = 0; key < KEY_COUNT; key++) {
		struct manifest_value v = {.key = key, .text = manifest_key_default(key), .key_at = SPAN_NONE, .at = SPAN_NONE};
		if (v.text && manifest_value_parse(session, &v, manifest_key_type(key), NULL, diags))
			b->values[b->n_values++] = v;
	}
	return b;
}

/* Returns the value that the manifest sets, or NULL. */
static const struct manifest_value *find_setting(const struct layers *l, enum manifest_key key)
{
	const struct manifest_value *v = manifest_get(l->profile, key);
	if (!v)
		v = manifest_get(l->model, key);
	return v ? v : manifest_get(l->project, key);
}

static const struct manifest_value *setting_or_default(const struct layers *l, enum manifest_key key)
{
	const struct manifest_value *v = find_setting(l, key);
	return v ? v : manifest_get(l->defaults, key);
}

static const char *text_setting(const struct layers *l, enum manifest_key key, const char *flag)
{
	return flag ? flag : setting_or_default(l, key)->text;
}

static uint64_t number_setting(const struct layers *l, enum manifest_key key, int flag)
{
	return flag >= 0 ? (uint64_t)flag : setting_or_default(l, key)->number;
}

static bool require_key(struct diags *diags, const struct manifest_block *b, enum manifest_key key)
{
	if (manifest_get(b, key))
		return true;
	struct diag *g = diag_add(diags, DIAG_MANIFEST_NEEDS, b->at, "model `%s` has no `%s`", b->name, manifest_key_text(key));
	diag_help(diags, g, "add `%s = …` to the block", manifest_key_text(key));
	return false;
}

static void build_spec_read_inputs(struct arena *session, const struct manifest_block *b, struct model_spec *s)
{
	struct elab_input *list = ARENA_ARRAY(session, struct elab_input, b->n_values + 1);
	for (uint32_t i = 0; i < b->n_values; i++)
		if (b->values[i].key == KEY_INPUT)
			list[s->n_inputs++] = *b->values[i].input;
	s->inputs = list;
}

static bool build_spec_read_capacities(struct arena *session, const struct manifest_block *b, struct model_spec *s, struct diags *diags)
{
	struct capacity_spec *list = ARENA_ARRAY(session, struct capacity_spec, b->n_values + 1);
	bool ok = true;
	for (uint32_t i = 0; i < b->n_values; i++) {
		const struct manifest_value *v = &b->values[i];
		if (v->key != KEY_STATE)
			continue;
		if (v->number > INT64_MAX / 2) {
			diag_add(diags, DIAG_MANIFEST_VALUE, v->at, "the capacity `%s` is too large", v->name);
			ok = false;
		}
		list[s->n_capacities++] = (struct capacity_spec){v->name, (int64_t)v->number, v->key_at};
	}
	s->capacities = list;
	return ok;
}

/* The key with one of two words, the default first; *second: it is the other. False: reported. */
static bool build_spec_read_choice(const struct manifest_value *value, const char *standard, const char *other, bool *second,
				   struct diags *diags)
{
	*second = value && strcmp(value->text, other) == 0;
	if (!value || *second || strcmp(value->text, standard) == 0)
		return true;
	struct diag *g = diag_add(diags, DIAG_MANIFEST_VALUE, value->at, "`%s` must be `%s` (the default) or `%s`",
				  manifest_key_text(value->key), standard, other);
	diag_label_primary(diags, g, "found `%s`", value->text);
	return false;
}

static bool read_weights_options(const struct manifest_block *b, struct weights_options *options, struct diags *diags)
{
	const struct manifest_value *prefix = manifest_get(b, KEY_WEIGHTS_PREFIX), *missing = manifest_get(b, KEY_WEIGHTS_MISSING),
				    *unused = manifest_get(b, KEY_WEIGHTS_UNUSED),
				    *any = prefix    ? prefix
					   : missing ? missing
						     : unused;
	*options = (struct weights_options){.prefix_at = SPAN_NONE};
	if (any && !manifest_get(b, KEY_WEIGHTS))
		diag_add(diags, DIAG_MANIFEST_UNUSED, any->key_at, "`%s` has no effect: model `%s` has no `weights`",
			 manifest_key_text(any->key), b->name);
	if (prefix) {
		options->prefix = prefix->text;
		options->prefix_at = prefix->at;
	}
	return build_spec_read_choice(missing, "error", "initialize", &options->initialize, diags) &&
	       build_spec_read_choice(unused, "warn", "ignore", &options->ignore_unused, diags);
}

static bool read_packing(const struct layers *l, enum weights_packing *out, struct diags *diags)
{
	static const char *const names[] = {[PACKING_AUTO] = "auto", [PACKING_2] = "2", [PACKING_1_6] = "1.6"};
	const struct manifest_value *v = find_setting(l, KEY_WEIGHTS_PACKING);
	*out = PACKING_AUTO;
	if (!v)
		return true;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(v->text, names[i]) == 0) {
			*out = (enum weights_packing)i;
			return true;
		}
	struct diag *g = diag_add(diags, DIAG_MANIFEST_VALUE, v->at, "`weights.packing` must be `auto` (the default), `2` or `1.6`");
	diag_label_primary(diags, g, "found `%s`", v->text);
	return false;
}

static bool emits_for_devices(uint64_t emits)
{
	for (enum emit e = 0; e < EMIT_COUNT; e++)
		if (emits >> e & 1 && emit_has_devices(e))
			return true;
	return false;
}

static bool read_fallback(const struct layers *l, const struct options *o, struct model_spec *s, struct diags *diags)
{
	const struct manifest_value *v = find_setting(l, KEY_FALLBACK), *own = manifest_get(l->model, KEY_FALLBACK);
	if (!build_spec_read_choice(v, "none", "cpu", &s->has_fallback, diags))
		return false;
	bool for_devices = emits_for_devices(s->emit);
	if (s->has_fallback && own && !for_devices && !o->emit) {
		struct diag *g = diag_add(diags, DIAG_MANIFEST_UNUSED, own->key_at,
					  "`fallback` has no effect: model `%s` has no library for devices", s->name);
		diag_help(diags, g, "add `opencl` to `emit`");
	}
	if (s->has_fallback && for_devices && o->lazy)
		diag_add(diags, DIAG_MANIFEST_UNUSED, v->key_at, "`fallback` has no effect with --lazy");
	return true;
}

static bool model_spec(struct arena *session, const struct layers *l, const struct options *o, struct model_spec *s, struct diags *diags)
{
	const struct manifest_block *b = l->model;
	bool ok = require_key(diags, b, KEY_SOURCES);
	ok = require_key(diags, b, KEY_ENTRY) && ok;
	if (!ok)
		return false;
	const struct manifest_value *entry = manifest_get(b, KEY_ENTRY), *names = manifest_get(b, KEY_WEIGHTS_NAMES);
	const struct manifest_value *target = find_setting(l, KEY_TARGET), *cpu = find_setting(l, KEY_CPU), *out = find_setting(l, KEY_OUT),
				    *version = manifest_get(l->project, KEY_VERSION);
	uint64_t opt = number_setting(l, KEY_OPT, o->opt);
	*s = (struct model_spec){
		.name = b->name,
		.at = b->at,
		.sources = manifest_get(b, KEY_SOURCES),
		.weights = manifest_get(b, KEY_WEIGHTS),
		.entry_at = entry->at,
		.entries = entry->words,
		.n_entries = entry->n_words,
		.weight_names = names ? names->words : NULL,
		.n_weight_names = names ? names->n_words : 0,
		.weights_inside = number_setting(l, KEY_WEIGHTS_INSIDE, -1),
		.emit = number_setting(l, KEY_EMIT, -1),
		.plan = {.opt = opt == MANIFEST_OPT_SIZE ? 2 : (uint8_t)opt,
			 .size = opt == MANIFEST_OPT_SIZE,
			 .profile_hook = number_setting(l, KEY_PROFILE_HOOK, o->profile_hook)},
		.cpu = text_setting(l, KEY_CPU, o->cpu),
		.target = text_setting(l, KEY_TARGET, o->target),
		.out = text_setting(l, KEY_OUT, o->out),
		.out_at = o->out || !out ? b->at : out->at,
		.out_named = o->out != NULL,
		.linker = text_setting(l, KEY_LINKER, o->linker),
		.target_at = o->cpu || o->target ? SPAN_NONE
			     : cpu               ? cpu->at
			     : target            ? target->at
						 : b->at,
		.version = version ? version->text : "",
	};
#ifndef NDEBUG
	s->plan.verify = true;
#endif
	if (o->emit) {
		const char *bad;
		if (!manifest_parse_emit(session, o->emit, &s->emit, &bad)) {
			diag_add(diags, DIAG_MANIFEST_VALUE, SPAN_NONE, "--emit: `%s` cannot be emitted", bad);
			return false;
		}
	}
	build_spec_read_inputs(session, b, s);
	return build_spec_read_capacities(session, b, s, diags) && read_packing(l, &s->packing, diags) && read_fallback(l, o, s, diags) &&
	       read_weights_options(b, &s->weights_options, diags);
}

static bool build_spec_choose_profile(struct arena *session, const struct manifest *m, const struct options *o, struct layers *l,
				      struct diags *diags)
{
	if (!o->profile)
		return true;
	l->profile = manifest_find(m, BLOCK_PROFILE, o->profile);
	if (l->profile)
		return true;
	uint32_t n;
	const char *const *names = manifest_names(session, m, BLOCK_PROFILE, &n);
	struct diag *g = diag_add(diags, DIAG_MANIFEST_NO_PROFILE, SPAN_NONE, "there is no profile `%s`", o->profile);
	const char *near = diag_nearest(o->profile, names, n);
	if (near)
		diag_help(diags, g, "did you mean `%s`?", near);
	else
		diag_help(diags, g, "a block `profile %s` sets it; to measure a build: `--timing`, `--profile-out FILE`", o->profile);
	return false;
}

static bool is_requested(const struct options *o, const char *name)
{
	for (uint32_t i = 0; i < o->n_operands; i++)
		if (strcmp(o->operands[i], name) == 0)
			return true;
	return o->n_operands == 0;
}

static bool check_models(struct arena *session, const struct manifest *m, const struct options *o, struct diags *diags)
{
	uint32_t n;
	const char *const *names = manifest_names(session, m, BLOCK_MODEL, &n);
	bool ok = true;
	if (n == 0) {
		struct diag *g = diag_add(diags, DIAG_MANIFEST_NEEDS, SPAN_NONE, "the manifest has no model");
		diag_help(diags, g, "add a block `model NAME` with `sources` and `entry`");
		return false;
	}
	for (uint32_t i = 0; i < o->n_operands; i++) {
		if (manifest_find(m, BLOCK_MODEL, o->operands[i]))
			continue;
		struct diag *g = diag_add(diags, DIAG_MANIFEST_NO_MODEL, SPAN_NONE, "there is no model `%s`", o->operands[i]);
		const char *near = diag_nearest(o->operands[i], names, n);
		const struct foreign_word *w = foreign_word_find(FOREIGN_COMMAND, "trib", o->operands[i]);
		if (near || w)
			near ? diag_help(diags, g, "did you mean `%s`?", near) : diag_help(diags, g, "%s", w->text);
		else
			diag_help(diags, g, "the first model of the manifest is `%s`; `trib --help` lists the commands", names[0]);
		ok = false;
	}
	return ok;
}

/* Checks all models, also those that are not built now: one could overwrite an output of another. */
static bool check_outputs(struct arena *session, struct layers *l, const struct manifest *m, const struct options *o, struct diags *diags)
{
	struct model_spec *all = ARENA_ARRAY(session, struct model_spec, m->n_blocks + 1);
	struct diags *ignored = diags_new(0); /* errors of a model are reported when it is built */
	uint32_t n = 0;
	for (uint32_t i = 0; i < m->n_blocks; i++) {
		l->model = &m->blocks[i];
		n += l->model->kind == BLOCK_MODEL && model_spec(session, l, o, &all[n], ignored);
	}
	diags_free(ignored);
	return outputs_check_names(all, n, diags) && outputs_check_distinct(session, all, n, diags);
}

bool build_spec_make(struct arena *session, const struct manifest *m, const struct options *o, struct build_spec *out, struct diags *diags)
{
	struct layers l = {.project = manifest_find(m, BLOCK_PROJECT, NULL), .defaults = make_defaults(session, diags)};
	*out = (struct build_spec){0};
	bool ok = build_spec_choose_profile(session, m, o, &l, diags);
	ok = check_models(session, m, o, diags) && ok;
	if (!ok)
		return false;
	out->manifest = m;
	const struct manifest_value *jobs = find_setting(&l, KEY_JOBS);
	out->jobs = o->jobs > 0 ? (uint32_t)o->jobs : jobs ? (uint32_t)jobs->number : os_cpu_count();
	out->most_failures = o->most_failures >= 0 ? (uint32_t)o->most_failures : number_setting(&l, KEY_KEEP_GOING, -1) == 0;
	out->verbose = number_setting(&l, KEY_VERBOSE, o->verbose) != 0;
	out->explain = number_setting(&l, KEY_EXPLAIN, o->explain) != 0;
	out->timing = number_setting(&l, KEY_TIMING, o->timing) != 0;
	out->no_cache = number_setting(&l, KEY_NO_CACHE, o->no_cache) != 0;
	out->low_memory = number_setting(&l, KEY_LOW_MEMORY, o->low_memory) != 0;
	if (out->low_memory)
		out->jobs = 1;
	out->models = ARENA_ARRAY(session, struct model_spec, m->n_blocks + 1);
	for (uint32_t i = 0; i < m->n_blocks; i++) {
		l.model = &m->blocks[i];
		if (l.model->kind != BLOCK_MODEL || !is_requested(o, l.model->name))
			continue;
		if (model_spec(session, &l, o, &out->models[out->n_models], diags))
			out->n_models++;
		else
			ok = false;
	}
	return ok && check_outputs(session, &l, m, o, diags);
}
