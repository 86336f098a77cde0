#include "builder/weights.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/bug.h"
#include "base/diag.h"
#include "base/os.h"
#include "base/path.h"
#include "builder/convert.h"
#include "builder/glob.h"
#include "builder/safetensors.h"
#include "frontend/core.h"
#include "frontend/frontend.h"

enum { SHOW_MISSING = 20, SHOW_UNUSED = 8 };

struct weights {
	const char *path;
	span at;
	struct file_stamp stamp; /* before it was opened */
	const void *bytes;
	size_t len;
	const struct safetensors *st;
	const char **names;
};

/* The file in the same folder that was probably meant. */
static void suggest_file(struct arena *a, const char *path, struct diag *g, struct diags *diags)
{
	uint32_t n;
	const char *const *there = glob_expand(a, path_join(a, path_dir(a, path), "*"), &n);
	const char *near = diag_nearest(path, there, n);
	if (near)
		diag_help(diags, g, "did you mean `%s`?", near);
	else
		diag_help(diags, g, "without the key `weights` every parameter takes its initial value");
}

struct weights *weights_open(struct arena *session, const char *path, span at, struct diags *diags)
{
	struct weights *w = calloc(1, sizeof *w);
	const char *error = NULL;
	if (!w)
		bug_no_memory();
	w->path = arena_strdup(session, path);
	w->at = at;
	os_stamp(path, &w->stamp);
	if (!os_map_file(path, &w->bytes, &w->len)) {
		struct diag *g = diag_add(diags, DIAG_FILE_READ, at, "cannot read the weights file `%s`: %s", path, strerror(errno));
		if (errno == ENOENT)
			suggest_file(session, path, g, diags);
		goto fail;
	}
	w->st = safetensors_parse(session, w->bytes, w->len, &error);
	if (!w->st) {
		diag_add(diags, DIAG_SAFETENSORS, at, "`%s` cannot be used: %s", path, error);
		goto fail;
	}
	w->names = ARENA_ARRAY(session, const char *, w->st->n + 1);
	for (uint32_t i = 0; i < w->st->n; i++)
		w->names[i] = w->st->tensors[i].name;
	return w;
fail:
	weights_close(w);
	return NULL;
}

bool weights_changed(const struct weights *w)
{
	struct file_stamp now;
	return w && !(os_stamp(w->path, &now) && os_stamp_eq(&now, &w->stamp));
}

void weights_close(struct weights *w)
{
	if (!w)
		return;
	if (w->bytes)
		os_unmap(w->bytes, w->len);
	free(w);
}

const struct elab_input *weights_tensors(struct arena *a, const struct weights *w, uint32_t *n)
{
	struct elab_input *list = ARENA_ARRAY(a, struct elab_input, (w ? w->st->n : 0) + 1);
	*n = 0;
	for (uint32_t i = 0; w && i < w->st->n; i++) {
		const struct st_tensor *t = &w->st->tensors[i];
		if (t->elem == DT_COUNT || t->rank > 8)
			continue;
		struct elab_input *in = &list[(*n)++];
		*in = (struct elab_input){.name = t->name, .elem = t->elem, .rank = (uint8_t)t->rank, .at = w->at};
		memcpy(in->dims, t->dims, t->rank * sizeof *t->dims);
	}
	return list;
}

static void print_shape(struct buf *b, const int64_t *dims, uint32_t rank)
{
	buf_putc(b, '[');
	for (uint32_t i = 0; i < rank; i++)
		buf_printf(b, "%s%lld", i ? ", " : "", (long long)dims[i]);
	buf_putc(b, ']');
}

static void param_tensor(const struct core_param *p, struct tensor *t)
{
	*t = (struct tensor){.elem = p->type.elem, .rank = p->type.rank};
	for (uint32_t i = 0; i < t->rank; i++)
		t->dims[i] = dim_eval(p->dims, p->type.dims[i], NULL);
}

static bool same_shape(const struct tensor *t, const struct st_tensor *s)
{
	return t->rank == s->rank && memcmp(t->dims, s->dims, t->rank * sizeof *t->dims) == 0;
}

static void wrong_shape(const struct weights *w, const struct core_param *p, const struct tensor *t, const struct st_tensor *s,
			struct diags *diags)
{
	struct buf want = {0}, got = {0};
	print_shape(&want, t->dims, t->rank);
	print_shape(&got, s->dims, s->rank);
	struct diag *g = diag_add(diags, DIAG_WEIGHTS_SHAPE, p->at, "parameter `%s` is %s%s, but `%s` holds %s%s", p->name, dtype_text(t->elem),
				  want.at, w->path, s->elem < DT_COUNT ? dtype_text(s->elem) : s->type, got.at);
	if (t->rank == 2 && s->rank == 2 && t->dims[0] == s->dims[1] && t->dims[1] == s->dims[0])
		diag_help(diags, g, "the file's tensor is the transpose of what is declared");
	buf_free(&want);
	buf_free(&got);
}

static void wrong_type(const struct weights *w, const struct core_param *p, const struct st_tensor *s, struct diags *diags)
{
	struct diag *g = diag_add(diags, DIAG_WEIGHTS_DTYPE, p->at, "parameter `%s` is %s, but `%s` holds it as %s", p->name,
				  dtype_text(p->type.elem), w->path, s->elem < DT_COUNT ? dtype_text(s->elem) : s->type);
	diag_note(diags, g, "only widening conversions are made when weights are read, and whole numbers to trits");
}

static void wrong_value(const struct weights *w, const struct core_param *p, size_t at, double value, struct diags *diags)
{
	struct diag *g = diag_add(diags, DIAG_WEIGHTS_TRIT, p->at, "parameter `%s` is %s, but element %zu of it in `%s` is %g", p->name,
				  dtype_text(p->type.elem), at, w->path, value);
	if (p->type.elem == DT_TRIT)
		diag_help(diags, g, "declare it float32 and quantize it in the layer: `absmean_quantize(w)` gives trits and a scale");
}

/* Large tensors whose conversion cannot fail are converted when they are packed, one at a time. */
static bool convert_later(const struct tensor *t) { return tensor_bytes(t) > WEIGHTS_LARGE && t->elem != DT_TRIT && t->elem != DT_BOOL; }

/* A parameter from its tensor in the file. */
static bool from_file(struct arena *a, const struct weights *w, const struct core_param *p, const struct st_tensor *s, struct tensor *t,
		      struct diags *diags)
{
	if (!same_shape(t, s)) {
		wrong_shape(w, p, t, s, diags);
		return false;
	}
	if (!convert_allowed(s->elem, t->elem)) {
		wrong_type(w, p, s, diags);
		return false;
	}
	size_t n = (size_t)tensor_count(t), bad;
	double value;
	bool as_is = s->elem == t->elem && t->elem != DT_BOOL && (uintptr_t)s->data % dtype_size(t->elem) == 0;
	if (as_is) {
		t->data = (void *)(uintptr_t)s->data;
		return true;
	}
	if (convert_later(t))
		return true;
	t->data = arena_alloc(a, n ? n * dtype_size(t->elem) : 1, 64);
	if (convert_elements(s->elem, s->data, t->elem, t->data, n, &bad, &value))
		return true;
	wrong_value(w, p, bad, value, diags);
	return false;
}

/* `bytes`: its elements, or those of type `from` in the file that they are converted from. */
static hash128 content_hash(const struct tensor *t, dtype from, const void *bytes)
{
	struct hasher *h = hasher_new();
	hasher_add_u64(h, (uint64_t)from << 16 | (uint64_t)t->elem << 8 | t->rank);
	hasher_add(h, t->dims, t->rank * sizeof *t->dims);
	hasher_add_hash(h, hash_bytes(bytes, (size_t)tensor_count(t) * dtype_size(from)));
	return hasher_finish(h);
}

static uint64_t seed_of(const struct core_param *p) { return hash64_bytes(p->name, strlen(p->name)); }

static bool from_init(struct arena *a, const struct core_param *p, struct weights_host host, struct tensor *t, struct diags *diags)
{
	const char *error = "";
	if (tensor_bytes(t) > WEIGHTS_LARGE || host.init(host.ctx, a, p, seed_of(p), t, &error))
		return true;
	diag_add(diags, DIAG_WEIGHTS_INIT, p->at, "the initial value of parameter `%s` cannot be computed: %s", p->name, error);
	return false;
}

/* Names in the file that no parameter took, for the report. */
static uint32_t unused_names(struct arena *a, const struct weights *w, const struct core_program *p, const char *const **names)
{
	const char **list = ARENA_ARRAY(a, const char *, (w ? w->st->n : 0) + 1);
	uint32_t n = 0;
	for (uint32_t i = 0; w && i < w->st->n; i++) {
		uint32_t k = 0;
		while (k < p->n_params && strcmp(p->params[k].name, w->names[i]) != 0)
			k++;
		if (k == p->n_params)
			list[n++] = w->names[i];
	}
	*names = list;
	return n;
}

/* The missing parameters, the nearest names in the file, and what else is there. */
static void list_missing(struct arena *a, const struct weights *w, const struct core_program *p, const uint32_t *missing, uint32_t n, struct diag *g,
			 struct diags *diags)
{
	const char *const *unused;
	uint32_t n_unused = unused_names(a, w, p, &unused);
	for (uint32_t i = 0; i < n && i < SHOW_MISSING; i++) {
		const struct core_param *m = &p->params[missing[i]];
		struct tensor t;
		struct buf shape = {0};
		param_tensor(m, &t);
		print_shape(&shape, t.dims, t.rank);
		const char *near = diag_nearest(m->name, unused, n_unused);
		if (!near && w)
			near = diag_nearest(m->name, (const char *const *)w->names, w->st->n);
		if (near)
			diag_note(diags, g, "missing: `%s` %s%s; the file has `%s`", m->name, dtype_text(t.elem), shape.at, near);
		else
			diag_note(diags, g, "missing: `%s` %s%s", m->name, dtype_text(t.elem), shape.at);
		diag_secondary(diags, g, m->at, "`%s` is declared here", m->name);
		buf_free(&shape);
	}
	if (n > SHOW_MISSING)
		diag_note(diags, g, "… and %u more", n - SHOW_MISSING);
	if (n_unused) {
		struct buf b = {0};
		for (uint32_t i = 0; i < n_unused && i < SHOW_UNUSED; i++)
			buf_printf(&b, "%s`%s`", i ? ", " : "", unused[i]);
		diag_note(diags, g, "in the file but not used: %s%s", b.at, n_unused > SHOW_UNUSED ? ", …" : "");
		buf_free(&b);
	}
}

static void report_missing(struct arena *a, const struct weights *w, const struct core_program *p, const uint32_t *missing, uint32_t n, span at,
			   struct diags *diags)
{
	struct diag *g = w ? diag_add(diags, DIAG_WEIGHTS_MISSING, at, "%u parameter%s not in `%s` and without an initial value", n,
				      n == 1 ? " is" : "s are", w->path)
			   : diag_add(diags, DIAG_WEIGHTS_MISSING, at, "%u parameter%s no initial value, and the model names no weights file", n,
				      n == 1 ? " has" : "s have");
	list_missing(a, w, p, missing, n, g, diags);
	if (!w && at.source == SPAN_NO_SOURCE) /* a main block's */
		diag_help(diags, g, "give it an initial value: `param w: Tensor<float32, [4]> = zeros([4])`");
	else if (!w)
		diag_help(diags, g, "add `weights = FILE.safetensors` to the model");
}

/* By the language that is no error; but a file that was written for another spelling would end in a random model. */
static void warn_default(struct arena *a, const struct weights *w, const struct core_program *p, const uint32_t *missing, uint32_t n, span at,
			 struct diags *diags)
{
	struct diag *g = diag_add(diags, DIAG_WEIGHTS_DEFAULT, at, "%u parameter%s not in `%s` and take%s the initial value", n,
				  n == 1 ? " is" : "s are", w->path, n == 1 ? "s" : "");
	list_missing(a, w, p, missing, n, g, diags);
}

bool weights_bind(struct arena *a, const struct weights *w, const struct core_program *p, struct weights_host host, span at,
		  struct weights_bound *out, struct diags *diags)
{
	uint32_t *missing = ARENA_ARRAY(a, uint32_t, p->n_params + 1), n_missing = 0;
	uint32_t *by_default = ARENA_ARRAY(a, uint32_t, p->n_params + 1), n_default = 0;
	bool ok = true;
	out->params = ARENA_ARRAY(a, struct tensor, p->n_params + 1);
	out->hashes = ARENA_ARRAY(a, hash128, p->n_params + 1);
	for (uint32_t i = 0; i < p->n_params; i++) {
		const struct core_param *m = &p->params[i];
		struct tensor *t = &out->params[i];
		const struct st_tensor *s = w ? safetensors_find(w->st, m->name) : NULL;
		param_tensor(m, t);
		if (!s && !m->init) {
			missing[n_missing++] = i;
			continue;
		}
		if (!s && w)
			by_default[n_default++] = i;
		if (s ? from_file(a, w, m, s, t, diags) : from_init(a, m, host, t, diags))
			out->hashes[i] = t->data || tensor_bytes(t) == 0 ? content_hash(t, t->elem, t->data)
					 : s                         ? content_hash(t, s->elem, s->data)
								     : host.name(host.ctx, m, seed_of(m));
		else
			ok = false;
	}
	if (n_default)
		warn_default(a, w, p, by_default, n_default, at, diags);
	if (n_missing)
		report_missing(a, w, p, missing, n_missing, at, diags);
	return ok && n_missing == 0;
}

bool weights_load(struct arena *a, const struct weights *w, const struct core_program *p, struct weights_host host, uint32_t i, struct tensor *out,
		  const char **error)
{
	const struct st_tensor *s = w ? safetensors_find(w->st, p->params[i].name) : NULL;
	size_t bad, n;
	double value;
	param_tensor(&p->params[i], out);
	if (s) {
		n = (size_t)tensor_count(out);
		out->data = arena_alloc(a, n * dtype_size(out->elem), 64);
		return convert_elements(s->elem, s->data, out->elem, out->data, n, &bad, &value);
	}
	return host.init(host.ctx, a, &p->params[i], seed_of(&p->params[i]), out, error);
}
