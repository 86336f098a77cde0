/* Warnings about names: tensors in the weights file that nothing takes, and arguments that became inputs. */
#include "builder/build/sources/param_names.h"
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/vec.h"
#include "builder/build/model/model.h"
#include "builder/build/model/project.h"
#include "builder/build/session/context.h"
#include "builder/manifest/build_spec.h"
#include "builder/manifest/manifest.h"
#include "frontend/frontend.h"
#include "frontend/hir/hir.h"

enum { MOST_SHOWN = 4, MOST_COMPARED = 200 };

/* ---- arguments with a prefix ---- */

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

static bool param_names_is_given(const struct model_spec *s, const char *name)
{
	for (uint32_t i = 0; i < s->n_inputs; i++)
		if (strcmp(s->inputs[i].name, name) == 0)
			return true;
	for (uint32_t i = 0; i < s->n_weight_names; i++)
		if (strcmp(s->weight_names[i], name) == 0)
			return true;
	return false;
}

/* Arguments of an entry that the file has with one prefix. */
struct prefixed {
	const char *prefix; /* a name that begins with it */
	size_t len;
	uint32_t n;
	const char *args[MOST_SHOWN], *tensors[MOST_SHOWN]; /* the first */
};

static struct prefixed *prefix_group(struct prefixed *list, uint32_t *n, const char *name, size_t len)
{
	for (uint32_t i = 0; i < *n; i++)
		if (list[i].len == len && strncmp(list[i].prefix, name, len) == 0)
			return &list[i];
	list[*n] = (struct prefixed){.prefix = name, .len = len};
	return &list[(*n)++];
}

static void report_prefixed(struct diags *diags, const struct model_job *m, const char *entry, const struct prefixed *p, span at)
{
	const char *file = m->spec->weights->text;
	struct diag *g = p->n == 1
				 ? diag_add(diags, DIAG_WEIGHTS_INPUT, at, "argument `%s` of `%s` is an input, but `%s` has a tensor `%s`",
					    p->args[0], entry, file, p->tensors[0])
				 : diag_add(diags, DIAG_WEIGHTS_INPUT, at,
					    "%u arguments of `%s` are inputs, but `%s` has tensors of these names with the prefix `%.*s`",
					    p->n, entry, file, (int)p->len, p->prefix);
	for (uint32_t i = 0; p->n > 1 && i < p->n && i < MOST_SHOWN; i++)
		diag_note(diags, g, "argument `%s`, tensor `%s`", p->args[i], p->tensors[i]);
	if (p->n > MOST_SHOWN)
		diag_note(diags, g, "and %u more", p->n - MOST_SHOWN);
	diag_help(diags, g,
		  "if that is its value, add `weights.prefix = %.*s` to the model's block; if it is an input, add a line `input %s = …`",
		  (int)p->len, p->prefix, p->args[0]);
}

void params_warn_prefixes(struct arena *a, struct diags *diags, struct model_job *m, const struct elab_input *in_file, uint32_t n_file)
{
	uint32_t n, at = 0;
	for (uint32_t e = 0; n_file && e < m->spec->n_entries; e++) {
		const struct frontend_arg *args = frontend_entry_args(m->frontend, m->spec->entries[e], a, &n);
		struct prefixed *groups = args ? ARENA_ARRAY(a, struct prefixed, n + 1) : NULL;
		uint32_t n_groups = 0;
		for (uint32_t i = 0; args && i < n; i++) {
			size_t prefix = param_names_is_given(m->spec, args[i].name) ? 0 : find_prefixed(in_file, n_file, args[i].name, &at);
			if (!prefix)
				continue;
			struct prefixed *p = prefix_group(groups, &n_groups, in_file[at].name, prefix);
			if (p->n < MOST_SHOWN) {
				p->args[p->n] = args[i].name;
				p->tensors[p->n] = in_file[at].name;
			}
			p->n++;
		}
		for (uint32_t k = 0; k < n_groups; k++)
			report_prefixed(diags, m, m->spec->entries[e], &groups[k], in_file[0].at);
	}
}

/* ---- what the models take of a file ---- */

struct unused {
	const char *name, *full_name; /* full_name: with the prefix that was removed */
	const struct elab_input *tensor;
};
/* A weights file, with the models that read it. */
struct file_names {
	struct build_context *c;
	const struct project *p;
	const char *path;
	VEC(struct unused) unused;
	VEC(const char *) candidates; /* parameters, and inputs that could be parameters */
};

static bool reads(const struct model_job *m, const char *path) { return m->spec->weights && strcmp(m->spec->weights->text, path) == 0; }

/* True if a model of the manifest that is not built reads the file. */
static bool is_read_elsewhere(const struct project *p, const char *path)
{
	const struct manifest *all = p->spec.manifest;
	for (uint32_t i = 0; i < all->n_blocks; i++) {
		const struct manifest_block *b = &all->blocks[i];
		const struct manifest_value *v = b->kind == BLOCK_MODEL ? manifest_get(b, KEY_WEIGHTS) : NULL;
		bool built = false;
		for (uint32_t k = 0; k < p->n_models; k++)
			built = built || strcmp(p->models[k].spec->name, b->name) == 0;
		if (v && !built && strcmp(v->text, path) == 0)
			return true;
	}
	return false;
}

/* Adds the full names of the parameter's tensors: of its name, and of its other names. False: the file has none. */
static bool param_names_add_parameter(const struct model_job *m, const struct hir_param *p, const struct map *names, struct map *taken)
{
	bool found = false;
	for (uint32_t i = 0; i <= p->n_aliases; i++) {
		uint64_t at;
		if (!map_get(names, map_key_str(i ? p->aliases[i - 1] : p->name), &at))
			continue;
		map_put(taken, map_key_str(weights_full_name(m->params.file, (uint32_t)at)), 1);
		found = true;
	}
	return found;
}

/* Training saves them beside the parameters. They have no meaning for inference, or follow from the architecture. */
static bool is_known_buffer(const char *name)
{
	static const char *const known[] = {"num_batches_tracked", "inv_freq", "position_ids", "relative_position_index", "masked_bias"};
	const char *dot = strrchr(name, '.'), *last = dot ? dot + 1 : name;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(last, known[i]) == 0)
			return true;
	return false;
}

/* Adds the full names of the tensors that the model takes. False if the manifest ignores unused tensors, or if a parameter is missing: the error
 * about it lists them. */
static bool add_taken(struct arena *arena, const struct model_job *m, struct map *taken)
{
	struct map names = {0};
	uint32_t n;
	const struct elab_input *tensors = weights_tensors(arena, m->params.file, &n);
	for (uint32_t i = 0; i < n; i++)
		map_put(&names, map_key_str(tensors[i].name), i);
	bool known = !m->spec->weights_options.ignore_unused;
	for (uint32_t i = 0; i < m->program->n_params && known; i++)
		known = param_names_add_parameter(m, &m->program->params[i], &names, taken);
	map_free(&names);
	return known;
}

/* Adds the tensors that the model could take and no model takes. */
static void add_unused(struct file_names *f, const struct model_job *m, struct map *taken)
{
	uint32_t n;
	const struct elab_input *tensors = weights_tensors(f->c->arena, m->params.file, &n);
	for (uint32_t i = 0; i < n; i++) {
		const char *full = weights_full_name(m->params.file, i);
		bool outside = m->spec->weights_options.prefix && full == tensors[i].name;
		if (!outside && !is_known_buffer(full) && map_put(taken, map_key_str(full), 1))
			vec_push(&f->unused, ((struct unused){tensors[i].name, full, &tensors[i]}));
	}
}

static bool find_unused(struct file_names *f)
{
	struct map taken = {0};
	bool known = !is_read_elsewhere(f->p, f->path);
	for (uint32_t i = 0; i < f->p->n_models && known; i++) {
		const struct model_job *m = &f->p->models[i];
		if (reads(m, f->path))
			known = !m->failed && m->program && m->params.file && add_taken(f->c->arena, m, &taken);
	}
	for (uint32_t i = 0; i < f->p->n_models && known; i++)
		if (reads(&f->p->models[i], f->path))
			add_unused(f, &f->p->models[i], &taken);
	map_free(&taken);
	return known;
}

/* ---- arguments that are inputs ---- */

static const char *param_names_shape_text(struct arena *a, const struct elab_input *input)
{
	struct buf b = {0};
	buf_puts(&b, input->elem < DT_COUNT ? dtype_text(input->elem) : "");
	for (uint32_t k = 0; k < input->rank; k++)
		buf_printf(&b, input->dims[k] < 0 ? "%s?" : "%s%lld", k ? ", " : " [", (long long)input->dims[k]);
	const char *text = arena_printf(a, "%s%s", b.at, input->rank ? "]" : "");
	buf_free(&b);
	return text;
}

static struct elab_input param_names_input_of(const struct hir_unit *u, uint32_t i, const struct frontend_arg *args, uint32_t n)
{
	const struct hir_input *in = &u->inputs[i];
	struct elab_input t = {.name = in->name, .elem = in->type.elem, .rank = in->type.rank, .at = SPAN_NONE};
	for (uint32_t k = 0; k < n; k++)
		if (strcmp(args[k].name, in->name) == 0)
			t.at = args[k].at;
	for (uint32_t k = 0; k < t.rank; k++)
		if (!dim_is_const(u->dims, in->type.dims[k], &t.dims[k]))
			t.dims[k] = DIM_DYNAMIC;
	return t;
}

static bool may_be_value(const struct elab_input *arg, const struct elab_input *tensor)
{
	bool same = !tensor->unusable && arg->rank == tensor->rank;
	for (uint32_t k = 0; same && k < arg->rank; k++)
		same = arg->dims[k] == DIM_DYNAMIC || arg->dims[k] == tensor->dims[k];
	return same;
}

/* The unused tensor of the nearest name; else, for trits, the only one of a fitting shape. UINT32_MAX: none. */
static uint32_t param_names_find_value(const struct file_names *f, const struct elab_input *arg)
{
	uint32_t found = UINT32_MAX, n = 0;
	for (uint32_t i = 0; i < f->unused.len; i++) {
		const struct unused *t = &f->unused.at[i];
		if (!may_be_value(arg, t->tensor))
			continue;
		if (diag_nearest(arg->name, &t->name, 1))
			return i;
		found = i;
		n++;
	}
	return n == 1 && arg->elem == DT_TRIT ? found : UINT32_MAX;
}

static void remove_unused(struct file_names *f, uint32_t i)
{
	f->unused.len--;
	memmove(&f->unused.at[i], &f->unused.at[i + 1], (f->unused.len - i) * sizeof *f->unused.at);
}

static void report_input(struct file_names *f, const struct model_job *m, const char *entry, const struct elab_input *arg, uint32_t value)
{
	struct diags *diags = f->c->diags;
	const char *line = arena_printf(f->c->arena, "`input %s = %s`", arg->name, param_names_shape_text(f->c->arena, arg));
	struct diag *g = diag_add(diags, DIAG_WEIGHTS_NO_NAME, m->spec->weights->at,
				  "argument `%s` of `%s` is an input: `%s` has no tensor of this name", arg->name, entry, f->path);
	if (arg->at.source != SPAN_NO_SOURCE)
		diag_secondary(diags, g, arg->at, "`%s` is declared here", arg->name);
	if (value == UINT32_MAX) {
		diag_help(diags, g, "if it is an input, add a line %s to the model's block", line);
		return;
	}
	const struct unused *t = &f->unused.at[value];
	diag_note(diags, g, "`%s` %s in the file is not used", t->full_name, param_names_shape_text(f->c->arena, t->tensor));
	diag_help(diags, g, "if that is its value, rename one of them; if it is an input, add a line %s to the model's block", line);
	remove_unused(f, value);
}

/* True if params_warn_prefixes has reported the argument. Then it has reported all tensors with the prefix. */
static bool is_reported(struct file_names *f, const struct elab_input *tensors, uint32_t n, const char *arg)
{
	uint32_t at = 0;
	size_t prefix = find_prefixed(tensors, n, arg, &at);
	for (uint32_t i = f->unused.len; prefix && i-- > 0;)
		if (strncmp(f->unused.at[i].name, tensors[at].name, prefix) == 0)
			remove_unused(f, i);
	return prefix > 0;
}

/* Arguments of a function: inputs of trits, and others that an unused tensor seems to be meant for. */
static void check_inputs(struct file_names *f, const struct model_job *m, uint32_t entry)
{
	const struct hir_entry *e = &m->program->entries[entry];
	const char *name = m->spec->entries[entry];
	uint32_t n = 0, n_tensors;
	const struct frontend_arg *args = frontend_entry_args(m->frontend, name, f->c->arena, &n);
	const struct elab_input *tensors = weights_tensors(f->c->arena, m->params.file, &n_tensors);
	for (uint32_t i = 0; args && i < e->unit->n_inputs; i++) {
		struct elab_input arg = param_names_input_of(e->unit, i, args, n);
		if (e->params[i] != HIR_NONE || param_names_is_given(m->spec, arg.name) || is_reported(f, tensors, n_tensors, arg.name))
			continue;
		uint32_t value = param_names_find_value(f, &arg);
		if (value != UINT32_MAX || arg.elem == DT_TRIT)
			report_input(f, m, name, &arg, value);
		else
			vec_push(&f->candidates, arg.name);
	}
}

/* ---- tensors that nothing takes ---- */

static void param_names_list_unused(struct file_names *f, struct diag *g)
{
	struct diags *diags = f->c->diags;
	uint32_t most = f->p->spec.verbose ? f->unused.len : MOST_SHOWN;
	for (uint32_t i = 0; i < f->unused.len && i < most; i++) {
		const struct unused *t = &f->unused.at[i];
		const char *near = i < MOST_COMPARED ? diag_nearest(t->name, f->candidates.at, f->candidates.len) : NULL;
		const char *more = near ? arena_printf(f->c->arena, "; the nearest name is `%s`", near) : "";
		diag_note(diags, g, "not used: `%s` %s%s", t->full_name, param_names_shape_text(f->c->arena, t->tensor), more);
	}
	if (f->unused.len > most)
		diag_note(diags, g, "and %u more; `trib build -v` lists them", f->unused.len - most);
}

static void report_unused(struct file_names *f, const struct model_job *m)
{
	uint32_t n = f->unused.len;
	if (!n)
		return;
	struct diag *g = diag_add(f->c->diags, DIAG_WEIGHTS_UNUSED, m->spec->weights->at, "%u tensor%s in `%s` %s not used", n,
				  n == 1 ? "" : "s", f->path, n == 1 ? "is" : "are");
	param_names_list_unused(f, g);
	diag_help(f->c->diags, g, "remove or rename them, or add `weights.unused = ignore` to the model's block");
}

static void check_file(struct build_context *c, const struct project *p, const struct model_job *first)
{
	struct file_names f = {.c = c, .p = p, .path = first->spec->weights->text};
	bool known = find_unused(&f);
	for (uint32_t i = 0; i < p->n_models; i++) {
		const struct model_job *m = &p->models[i];
		bool elaborated = m->program && !m->failed && m->params.file && reads(m, f.path);
		for (uint32_t k = 0; elaborated && k < m->program->n_params; k++)
			vec_push(&f.candidates, m->program->params[k].name);
		for (uint32_t k = 0; elaborated && m->program->n_entries == m->spec->n_entries && k < m->program->n_entries; k++)
			check_inputs(&f, m, k);
	}
	if (known)
		report_unused(&f, first);
	vec_free(&f.unused);
	vec_free(&f.candidates);
}

bool params_warn_names(struct build_context *c, const struct project *p)
{
	for (uint32_t i = 0; i < p->n_models; i++) {
		const struct model_job *m = &p->models[i];
		bool first = m->spec->weights && m->params.file;
		for (uint32_t k = 0; k < i && first; k++)
			first = !reads(&p->models[k], m->spec->weights->text);
		if (first)
			check_file(c, p, m);
	}
	return true;
}
