#include "builder/weights/weights.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "backend/ir/tensor.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/bug.h"
#include "base/diag.h"
#include "base/os.h"
#include "base/path.h"
#include "builder/manifest/glob.h"
#include "builder/weights/convert.h"
#include "builder/weights/file_kind.h"
#include "builder/weights/safetensors.h"
#include "builder/weights/weights_finite.h"
#include "builder/weights/weights_missing.h"
#include "frontend/frontend.h"
#include "frontend/hir/hir.h"

#define NOT_FINITE_HELP "find where training left the finite numbers, or replace such values before saving: `torch.nan_to_num(w)`"

struct weights {
	const char *path;
	span at;
	bool initialize;         /* parameters that the file lacks take initial values */
	struct file_stamp stamp; /* before it was opened */
	const void *bytes;
	size_t len;
	const struct safetensors *st;
	const char **names;
};

/* Suggests the file in the same folder with the nearest name. */
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

/* Names the format of the file, and says how to convert it to safetensors. */
static void explain_format(struct arena *a, const char *path, enum file_kind kind, const char *error, span at, struct diags *diags)
{
	const char *base = path_base(path), *dot = strrchr(base, '.');
	const char *target = arena_printf(a, "%.*s.safetensors", (int)(dot && dot > base ? dot - base : (ptrdiff_t)strlen(base)), base);
	struct diag *g = kind == FILE_UNKNOWN
				 ? diag_add(diags, DIAG_SAFETENSORS, at, "`%s` cannot be used: %s", path, error)
				 : diag_add(diags, DIAG_SAFETENSORS, at, "`%s` is %s, not a safetensors file", path, file_kind_text(kind));
	if (kind == FILE_PYTORCH || kind == FILE_PICKLE) {
		diag_note(diags, g, "in Python: `import torch, safetensors.torch`");
		diag_note(diags, g, "`safetensors.torch.save_file(torch.load(\"%s\", map_location=\"cpu\"), \"%s\")`", base, target);
		diag_help(diags, g, "convert it by these two lines, and write `weights = %s`", path_join(a, path_dir(a, path), target));
	} else if (kind == FILE_NPZ || kind == FILE_NPY) {
		diag_note(diags, g, "in Python: `import numpy, safetensors.numpy`");
		diag_note(diags, g,
			  kind == FILE_NPZ ? "`safetensors.numpy.save_file(dict(numpy.load(\"%s\")), \"%s\")`"
					   : "`safetensors.numpy.save_file({\"NAME\": numpy.load(\"%s\")}, \"%s\")`",
			  base, target);
		diag_help(diags, g, "convert it by these two lines, and write `weights = %s`", path_join(a, path_dir(a, path), target));
	} else if (kind == FILE_LFS) {
		diag_help(diags, g, "fetch it: `git lfs pull --include \"%s\"`", path);
	} else if (kind == FILE_HTML) {
		diag_help(diags, g, "download the file itself; on Hugging Face its address has `resolve` where the page's has `blob`");
	} else if (kind == FILE_INDEX) {
		diag_help(diags, g, "join the files that it names into one safetensors file");
	} else if (kind == FILE_EMPTY) {
		diag_help(diags, g, "save or download it again");
	}
}

static int by_name(const void *x, const void *y)
{
	const struct st_tensor *a = x, *b = y;
	int c = strcmp(a->name, b->name);
	return c ? c : (a->type < b->type) - (a->type > b->type);
}

/* Removes the prefix from the names that have it. */
static bool strip_prefix(struct arena *session, struct weights *w, const struct weights_options *o, struct diags *diags)
{
	size_t len = strlen(o->prefix);
	struct st_tensor *list = ARENA_ARRAY(session, struct st_tensor, w->st->n + 1);
	struct safetensors *st = ARENA_NEW(session, struct safetensors);
	uint32_t stripped = 0;
	for (uint32_t i = 0; i < w->st->n; i++) {
		list[i] = w->st->tensors[i];
		if (strncmp(list[i].name, o->prefix, len) != 0 || !list[i].name[len])
			continue;
		list[i].name += len;
		stripped++;
	}
	if (!stripped) {
		struct diag *g =
			diag_add(diags, DIAG_MANIFEST_VALUE, o->prefix_at, "no tensor in `%s` has the prefix `%s`", w->path, o->prefix);
		if (w->st->n)
			diag_note(diags, g, "the file has `%s`", w->st->tensors[0].name);
		diag_help(diags, g, "`trib build` without `weights.prefix` lists the names that are missing");
		return false;
	}
	qsort(list, w->st->n, sizeof *list, by_name);
	for (uint32_t i = 1; i < w->st->n; i++)
		if (strcmp(list[i].name, list[i - 1].name) == 0) {
			diag_add(diags, DIAG_MANIFEST_VALUE, o->prefix_at, "`%s` has both `%s` and `%s%s`", w->path, list[i].name,
				 o->prefix, list[i].name);
			return false;
		}
	*st = (struct safetensors){list, w->st->n};
	w->st = st;
	return true;
}

struct weights *weights_open(struct arena *session, const char *path, span at, const struct weights_options *o, struct diags *diags)
{
	struct weights *w = calloc(1, sizeof *w);
	const char *error = NULL;
	if (!w)
		bug_no_memory();
	w->path = arena_strdup(session, path);
	w->at = at;
	w->initialize = o->initialize;
	os_stamp(path, &w->stamp);
	if (!os_map_file(path, &w->bytes, &w->len)) {
		struct diag *g = diag_add(diags, DIAG_FILE_READ, at, "cannot read the weights file `%s`: %s", path, strerror(errno));
		if (errno == ENOENT)
			suggest_file(session, path, g, diags);
		goto fail;
	}
	w->st = safetensors_parse(session, w->bytes, w->len, &error);
	if (!w->st) {
		explain_format(session, path, file_kind_of(w->bytes, w->len), error, at, diags);
		goto fail;
	}
	if (o->prefix && !strip_prefix(session, w, o, diags))
		goto fail;
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

static void print_shape(struct buf *b, const int64_t *dims, uint32_t rank)
{
	buf_putc(b, '[');
	for (uint32_t i = 0; i < rank; i++)
		buf_printf(b, "%s%lld", i ? ", " : "", (long long)dims[i]);
	buf_putc(b, ']');
}

static const char *type_text(const struct st_tensor *s) { return s->elem < DT_COUNT ? dtype_text(s->elem) : s->type; }

/* How to save a tensor whose element type or rank is not supported. `want`: the parameter's type, or DT_COUNT. */
static const char *remedy(struct arena *a, const struct st_tensor *s, dtype want)
{
	static const char *const widened[][2] = {{"U8", "int16"}, {"U16", "int32"}, {"U32", "int64"}, {"U64", "int64"}};
	const char *to = strncmp(s->type, "F8", 2) == 0 ? "float16" : strncmp(s->type, "F", 1) == 0 ? "float32" : NULL;
	if (s->elem < DT_COUNT)
		return arena_printf(a, "save it with at most 8 dimensions: `w.flatten(0, %u)`", s->rank - 8);
	for (size_t i = 0; i < sizeof widened / sizeof *widened; i++)
		if (strcmp(s->type, widened[i][0]) == 0)
			to = widened[i][1];
	if (want == DT_TRIT)
		to = "int8";
	else if (want < DT_COUNT && want != DT_BOOL)
		to = dtype_text(want);
	if (!to)
		return "save it with an element type that the language has, e.g. float32";
	return arena_printf(a, "convert it before saving: `w.to(torch.%s)`", to);
}

const struct elab_input *weights_tensors(struct arena *a, const struct weights *w, uint32_t *n)
{
	struct elab_input *list = ARENA_ARRAY(a, struct elab_input, (w ? w->st->n : 0) + 1);
	*n = w ? w->st->n : 0;
	for (uint32_t i = 0; i < *n; i++) {
		const struct st_tensor *t = &w->st->tensors[i];
		struct elab_input *in = &list[i];
		*in = (struct elab_input){.name = t->name, .elem = t->elem, .at = w->at};
		if (t->elem < DT_COUNT && t->rank <= 8) {
			in->rank = (uint8_t)t->rank;
			memcpy(in->dims, t->dims, t->rank * sizeof *t->dims);
			continue;
		}
		struct buf b = {0};
		buf_printf(&b, "`%s` holds `%s` as %s", w->path, t->name, type_text(t));
		print_shape(&b, t->dims, t->rank);
		buf_puts(&b, t->elem == DT_COUNT ? ": the language has no such element type" : ": tensors have at most 8 dimensions");
		in->unusable = arena_strdup(a, b.at);
		in->remedy = remedy(a, t, DT_COUNT);
		buf_free(&b);
	}
	return list;
}

static void param_tensor(const struct hir_param *p, struct tensor *t)
{
	*t = (struct tensor){.elem = p->type.elem, .rank = p->type.rank};
	for (uint32_t i = 0; i < t->rank; i++)
		t->dims[i] = dim_eval(p->dims, p->type.dims[i], NULL);
}

static bool same_shape(const struct tensor *t, const struct st_tensor *s)
{
	return t->rank == s->rank && memcmp(t->dims, s->dims, t->rank * sizeof *t->dims) == 0;
}

static void report_shape(const struct weights *w, const struct hir_param *p, const struct tensor *t, const struct st_tensor *s,
			 struct diags *diags)
{
	struct buf want = {0}, got = {0};
	print_shape(&want, t->dims, t->rank);
	print_shape(&got, s->dims, s->rank);
	struct diag *g = diag_add(diags, DIAG_WEIGHTS_SHAPE, p->at, "parameter `%s` is %s%s, but `%s` holds %s%s", p->name,
				  dtype_text(t->elem), want.at, w->path, type_text(s), got.at);
	if (t->rank == 2 && s->rank == 2 && t->dims[0] == s->dims[1] && t->dims[1] == s->dims[0])
		diag_help(diags, g, "the file's tensor is transposed; transpose it before saving: `w.T.contiguous()`");
	buf_free(&want);
	buf_free(&got);
}

static void report_type(struct arena *a, const struct weights *w, const struct hir_param *p, const struct st_tensor *s, struct diags *diags)
{
	struct diag *g = diag_add(diags, DIAG_WEIGHTS_DTYPE, p->at, "parameter `%s` is %s, but `%s` holds it as %s", p->name,
				  dtype_text(p->type.elem), w->path, type_text(s));
	if (s->elem < DT_COUNT)
		diag_note(diags, g, "reading weights only widens element types, and converts whole numbers to trits");
	else
		diag_help(diags, g, "%s", remedy(a, s, p->type.elem));
}

/* "[3, 17]" of element `at`. */
static const char *index_text(struct arena *a, const struct tensor *t, size_t at)
{
	struct tensor index = {.rank = t->rank};
	struct buf b = {0};
	for (uint32_t k = t->rank; k-- > 0; at /= (size_t)t->dims[k])
		index.dims[k] = (int64_t)(at % (size_t)t->dims[k]);
	print_shape(&b, index.dims, index.rank);
	const char *text = arena_strdup(a, b.at);
	buf_free(&b);
	return text;
}

static void report_value(struct arena *a, const struct weights *w, const struct hir_param *p, const struct tensor *t, size_t at,
			 double value, struct diags *diags)
{
	struct diag *g = diag_add(diags, DIAG_WEIGHTS_TRIT, p->at, "parameter `%s` is %s, but its element %s in `%s` is %g", p->name,
				  dtype_text(p->type.elem), index_text(a, t, at), w->path, value);
	if (!isfinite(value))
		diag_help(diags, g, NOT_FINITE_HELP);
	else if (p->type.elem == DT_TRIT)
		diag_help(diags, g, "declare it float32 and quantize it in the layer: `absmean_quantize(w)` gives trits and a scale");
}

/* The value reaches the quantizer at `quantizer`. */
static bool check_finite(struct arena *a, const struct weights *w, const struct hir_param *p, const struct st_tensor *s,
			 const struct tensor *t, span quantizer, struct diags *diags)
{
	const char *bytes = s->data;
	size_t bad;
	int64_t value;
	if (quantizer.source == SPAN_NO_SOURCE || weights_finite(s->elem, bytes, (size_t)tensor_count(t), &bad))
		return true;
	memcpy(&value, bytes + bad * dtype_size(s->elem), dtype_size(s->elem));
	struct diag *g = diag_add(diags, DIAG_WEIGHTS_FINITE, p->at, "parameter `%s` is quantized, but its element %s in `%s` is %g",
				  p->name, index_text(a, t, bad), w->path, elem_float(s->elem, &value, 0));
	diag_secondary(diags, g, quantizer, "it is quantized here");
	diag_help(diags, g, NOT_FINITE_HELP);
	return false;
}

/* Large tensors whose conversion cannot fail are converted when they are packed, one at a time. */
static bool is_converted_later(const struct tensor *t)
{
	return tensor_bytes(t) > WEIGHTS_LARGE && t->elem != DT_TRIT && t->elem != DT_BOOL;
}

/* A parameter from its tensor in the file. */
static bool bind_from_file(struct arena *a, const struct weights *w, const struct hir_param *p, const struct st_tensor *s, struct tensor *t,
			   struct diags *diags)
{
	if (!same_shape(t, s)) {
		report_shape(w, p, t, s, diags);
		return false;
	}
	if (!convert_allowed(s->elem, t->elem)) {
		report_type(a, w, p, s, diags);
		return false;
	}
	size_t n = (size_t)tensor_count(t), bad;
	double value;
	bool as_is = s->elem == t->elem && t->elem != DT_BOOL && (uintptr_t)s->data % dtype_size(t->elem) == 0;
	if (as_is) {
		t->data = (void *)(uintptr_t)s->data;
		return true;
	}
	if (is_converted_later(t))
		return true;
	t->data = arena_alloc(a, n ? n * dtype_size(t->elem) : 1, 64);
	if (convert_elements(s->elem, s->data, t->elem, t->data, n, &bad, &value))
		return true;
	report_value(a, w, p, t, bad, value, diags);
	return false;
}

/* `bytes`: the elements of type `from`; they are converted if the tensor's type is another. */
static hash128 content_hash(const struct tensor *t, dtype from, const void *bytes)
{
	struct hasher *h = hasher_new();
	hasher_add_u64(h, (uint64_t)from << 16 | (uint64_t)t->elem << 8 | t->rank);
	hasher_add(h, t->dims, t->rank * sizeof *t->dims);
	hasher_add_hash(h, hash_bytes(bytes, (size_t)tensor_count(t) * dtype_size(from)));
	return hasher_finish(h);
}

static uint64_t seed_of(const struct hir_param *p) { return hash64_bytes(p->name, strlen(p->name)); }

static bool bind_initial(struct arena *a, const struct hir_param *p, struct weights_host host, struct tensor *t, struct diags *diags)
{
	const char *error = "";
	if (tensor_bytes(t) > WEIGHTS_LARGE || host.init(host.ctx, a, p, seed_of(p), t, &error))
		return true;
	diag_add(diags, DIAG_WEIGHTS_INIT, p->at, "the initial value of parameter `%s` cannot be computed: %s", p->name, error);
	return false;
}

/* `missing`: parameters without a tensor in the file; n_without of them have no initial value. True: the build can go on. */
static bool report_missing(struct arena *a, const struct weights *w, const struct hir_program *p, const uint32_t *missing, uint32_t n,
			   uint32_t n_without, span at, struct diags *diags)
{
	struct weights_missing m = {.program = p, .params = missing, .n = n, .n_without = n_without, .at = at};
	if (n == 0)
		return true;
	if (w) {
		m.path = w->path;
		m.names = w->names;
		m.n_names = w->st->n;
		m.initialized = w->initialize && n_without == 0;
	}
	weights_report_missing(a, &m, diags);
	return m.initialized;
}

static hash128 hash_of(const struct hir_param *m, const struct tensor *t, const struct st_tensor *s, struct weights_host host)
{
	if (t->data || tensor_bytes(t) == 0)
		return content_hash(t, t->elem, t->data);
	return s ? content_hash(t, s->elem, s->data) : host.init_hash(host.ctx, m, seed_of(m));
}

bool weights_bind(struct arena *a, const struct weights *w, const struct hir_program *p, struct weights_host host, span at,
		  struct weights_bound *out, struct diags *diags)
{
	const span *quantizers = w ? weights_quantizers(a, p) : NULL;
	uint32_t *missing = ARENA_ARRAY(a, uint32_t, p->n_params + 1), n_missing = 0, n_without = 0;
	bool ok = true;
	out->params = ARENA_ARRAY(a, struct tensor, p->n_params + 1);
	out->hashes = ARENA_ARRAY(a, hash128, p->n_params + 1);
	for (uint32_t i = 0; i < p->n_params; i++) {
		const struct hir_param *m = &p->params[i];
		struct tensor *t = &out->params[i];
		const struct st_tensor *s = w ? safetensors_find(w->st, m->name) : NULL;
		param_tensor(m, t);
		if (!s && (w || !m->init)) {
			missing[n_missing++] = i;
			n_without += !m->init;
			if (!m->init || !w->initialize)
				continue;
		}
		bool bound = s ? bind_from_file(a, w, m, s, t, diags) && check_finite(a, w, m, s, t, quantizers[i], diags)
			       : bind_initial(a, m, host, t, diags);
		if (bound)
			out->hashes[i] = hash_of(m, t, s, host);
		ok &= bound;
	}
	return report_missing(a, w, p, missing, n_missing, n_without, at, diags) && ok;
}

bool weights_load(struct arena *a, const struct weights *w, const struct hir_program *p, struct weights_host host, uint32_t i,
		  struct tensor *out, const char **error)
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
