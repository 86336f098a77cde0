/* Gives every parameter its value. */
#include <math.h>
#include <string.h>
#include "backend/ir/tensor.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "builder/weights/convert.h"
#include "builder/weights/weights_file.h"
#include "frontend/hir/hir.h"

#define NOT_FINITE_HELP "find where training left the finite numbers, or replace such values before saving: `torch.nan_to_num(w)`"

static void param_tensor(const struct hir_param *p, struct tensor *t)
{
	*t = (struct tensor){.elem = p->type.elem, .rank = p->type.rank};
	for (uint32_t i = 0; i < t->rank; i++)
		t->dims[i] = dim_eval(p->dims, p->type.dims[i], NULL);
}

static bool weights_bind_same_shape(const struct tensor *t, const struct file_tensor *tensor)
{
	return t->rank == tensor->rank && memcmp(t->dims, tensor->dims, t->rank * sizeof *t->dims) == 0;
}

static void report_shape(const struct weights *w, const struct hir_param *p, const struct tensor *t, const struct file_tensor *tensor,
			 struct diags *diags)
{
	struct buf want = {0}, got = {0};
	weights_print_shape(&want, t->dims, t->rank);
	weights_print_shape(&got, tensor->dims, tensor->rank);
	struct diag *g = diag_add(diags, DIAG_WEIGHTS_SHAPE, p->at, "parameter `%s` is %s%s, but `%s` holds %s%s", p->name,
				  dtype_text(t->elem), want.at, w->path, weights_type_text(tensor), got.at);
	if (t->rank == 2 && tensor->rank == 2 && t->dims[0] == tensor->dims[1] && t->dims[1] == tensor->dims[0])
		diag_help(diags, g, "the file's tensor is transposed; transpose it before saving: `w.T.contiguous()`");
	buf_free(&want);
	buf_free(&got);
}

static void report_type(struct arena *a, const struct weights *w, const struct hir_param *p, const struct file_tensor *tensor,
			struct diags *diags)
{
	struct diag *g = diag_add(diags, DIAG_WEIGHTS_DTYPE, p->at, "parameter `%s` is %s, but `%s` holds it as %s", p->name,
				  dtype_text(p->type.elem), w->path, weights_type_text(tensor));
	if (tensor->elem < DT_COUNT)
		diag_note(diags, g, "reading weights only widens element types, and converts whole numbers to trits");
	else
		diag_help(diags, g, "%s", weights_remedy(a, tensor, p->type.elem));
}

/* "[3, 17]" of element `at`. */
static const char *index_text(struct arena *a, const struct tensor *t, size_t at)
{
	struct tensor index = {.rank = t->rank};
	struct buf b = {0};
	for (uint32_t k = t->rank; k-- > 0; at /= (size_t)t->dims[k])
		index.dims[k] = (int64_t)(at % (size_t)t->dims[k]);
	weights_print_shape(&b, index.dims, index.rank);
	const char *text = arena_strdup(a, b.at);
	buf_free(&b);
	return text;
}

static void weights_bind_report_value(struct arena *a, const struct weights *w, const struct hir_param *p, const struct tensor *t,
				      size_t at, double value, struct diags *diags)
{
	struct diag *g = diag_add(diags, DIAG_WEIGHTS_TRIT, p->at, "parameter `%s` is %s, but its element %s in `%s` is %g", p->name,
				  dtype_text(p->type.elem), index_text(a, t, at), w->path, value);
	if (!isfinite(value))
		diag_help(diags, g, NOT_FINITE_HELP);
	else if (p->type.elem == DT_TRIT)
		diag_help(diags, g, "declare it float32 and quantize it in the layer: `absmean_quantize(w)` gives trits and a scale");
}

/* The hash of a tensor's bytes, if they were read for another reason. */
struct content {
	const void *data; /* NULL: not read */
	bool is_finite;
	hash128 hash;
};
static struct content content_of(const struct weights *w, const struct file_tensor *tensor)
{
	struct weights_content c = tensor ? w->contents[tensor - w->st->tensors] : (struct weights_content){.is_known = false};
	return (struct content){c.is_known ? tensor->data : NULL, c.is_finite, c.hash};
}

/* Reads a tensor once: finds values that are not finite, and hashes it. */
static bool plain_is_finite(const struct file_tensor *tensor, size_t *bad, struct content *content)
{
	enum { SOME = 1 << 16 };
	size_t n = (size_t)file_tensor_count(tensor), size = dtype_size(tensor->elem), at;
	struct hasher *h = hasher_new();
	bool ok = true;
	for (size_t first = 0; first < n && ok; first += SOME) {
		size_t some = n - first < SOME ? n - first : SOME;
		const char *data = (const char *)tensor->data + first * size;
		hasher_add(h, data, some * size);
		ok = weights_finite(tensor->elem, data, some, &at);
		*bad = first + at;
	}
	*content = (struct content){ok ? tensor->data : NULL, ok, hasher_finish(h)};
	return ok;
}

/* False: element *bad is *value. */
static bool tensor_is_finite(const struct file_tensor *tensor, size_t *bad, double *value, struct content *content)
{
	enum { SOME = 1024 };
	double one;
	float floats[SOME];
	size_t n = (size_t)file_tensor_count(tensor), at, no;
	if (tensor->encoding == TENSOR_PLAIN && plain_is_finite(tensor, bad, content))
		return true;
	for (size_t first = 0; tensor->encoding != TENSOR_PLAIN; first += SOME) {
		size_t some = n - first < SOME ? n - first : SOME;
		if (first >= n)
			return true;
		tensor_read(tensor, (int64_t)first, some, DT_FLOAT32, floats, &no, &one);
		*bad = first;
		if (!weights_finite(DT_FLOAT32, floats, some, &at)) {
			*bad += at;
			break;
		}
	}
	tensor_read(tensor, (int64_t)*bad, 1, DT_FLOAT64, value, &no, &one);
	return false;
}

/* `quantizer`: the place of the quantizer that the value reaches. */
static bool check_finite(struct arena *a, const struct weights *w, const struct hir_param *p, const struct file_tensor *tensor,
			 const struct tensor *t, span quantizer, struct content *content, struct diags *diags)
{
	size_t bad;
	double value;
	if (quantizer.source == SPAN_NO_SOURCE || content->is_finite || tensor_is_finite(tensor, &bad, &value, content))
		return true;
	struct diag *g = diag_add(diags, DIAG_WEIGHTS_FINITE, p->at, "parameter `%s` is quantized, but its element %s in `%s` is %g",
				  p->name, index_text(a, t, bad), w->path, value);
	diag_secondary(diags, g, quantizer, "it is quantized here");
	diag_help(diags, g, NOT_FINITE_HELP);
	return false;
}

/* Large tensors whose conversion cannot fail are converted when they are packed, one at a time. */
static bool is_converted_later(const struct tensor *t, const struct file_tensor *tensor)
{
	return tensor_bytes(t) > WEIGHTS_LARGE && (tensor->encoding != TENSOR_PLAIN || (t->elem != DT_TRIT && t->elem != DT_BOOL));
}

/* A parameter from its tensor in the file. */
static bool bind_from_file(struct arena *a, const struct weights *w, const struct hir_param *p, const struct file_tensor *tensor,
			   struct tensor *t, struct diags *diags)
{
	if (!weights_bind_same_shape(t, tensor)) {
		report_shape(w, p, t, tensor, diags);
		return false;
	}
	if (!convert_allowed(tensor->elem, t->elem)) {
		report_type(a, w, p, tensor, diags);
		return false;
	}
	size_t n = (size_t)tensor_count(t), bad;
	double value;
	bool as_is = tensor->encoding == TENSOR_PLAIN && tensor->elem == t->elem && t->elem != DT_BOOL &&
		     (uintptr_t)tensor->data % dtype_size(t->elem) == 0;
	if (as_is) {
		t->data = (void *)(uintptr_t)tensor->data;
		return true;
	}
	if (is_converted_later(t, tensor))
		return true;
	t->data = arena_alloc(a, n ? n * dtype_size(t->elem) : 1, 64);
	if (tensor_read(tensor, 0, n, t->elem, t->data, &bad, &value))
		return true;
	weights_bind_report_value(a, w, p, t, bad, value, diags);
	return false;
}

static bool same_tensor(const struct file_tensor *a, const struct file_tensor *b)
{
	return a->elem == b->elem && a->encoding == b->encoding && a->rank == b->rank && a->bytes == b->bytes &&
	       memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0 && (a->data == b->data || memcmp(a->data, b->data, a->bytes) == 0);
}

/* The file may have a tied parameter under each of its names. False: with different values (reported). */
static bool check_tied(const struct weights *w, const struct hir_param *p, const struct file_tensor *tensor, struct diags *diags)
{
	for (uint32_t i = 0; i < p->n_aliases; i++) {
		const struct file_tensor *other = tensor_list_find(w->st, p->aliases[i]);
		if (!other || same_tensor(tensor, other))
			continue;
		struct diag *g =
			diag_add(diags, DIAG_WEIGHTS_TIED, p->at, "`%s` and `%s` are one parameter, but their tensors in `%s` differ",
				 tensor->name, other->name, w->path);
		diag_help(diags, g,
			  "tie them when training, too, or give the second layer a parameter of its own: remove the argument that ties it");
		return false;
	}
	return true;
}

/* Of n bytes with elements of the type `from`; they are converted if the tensor's type is another. */
static hash128 content_hash(const struct tensor *t, uint64_t from, const void *bytes, size_t n, const struct content *read)
{
	struct hasher *h = hasher_new();
	hasher_add_u64(h, from << 16 | (uint64_t)t->elem << 8 | t->rank);
	hasher_add(h, t->dims, t->rank * sizeof *t->dims);
	hasher_add_hash(h, n && read->data == bytes ? read->hash : hash_bytes(bytes, n));
	return hasher_finish(h);
}

static bool bind_initial(struct arena *a, const struct hir_param *p, struct weights_host host, struct tensor *t, struct diags *diags)
{
	const char *error = "";
	if (tensor_bytes(t) > WEIGHTS_LARGE || host.init(host.ctx, a, p, weights_seed(p), t, &error))
		return true;
	diag_add(diags, DIAG_WEIGHTS_INIT, p->at, "the initial value of parameter `%s` cannot be computed: %s", p->name, error);
	return false;
}

/* `missing`: parameters without a tensor in the file; n_without of them have no initial value. True: the build can go on. */
static bool weights_bind_report_missing(struct arena *a, const struct weights *w, const struct hir_program *p, const uint32_t *missing,
					uint32_t n, uint32_t n_without, span at, struct diags *diags)
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

static hash128 hash_of(const struct hir_param *param, const struct tensor *t, const struct file_tensor *tensor, const struct content *read,
		       struct weights_host host)
{
	if (t->data || tensor_bytes(t) == 0)
		return content_hash(t, t->elem, t->data, (size_t)tensor_bytes(t), read);
	return tensor ? content_hash(t, (uint64_t)tensor->encoding << 8 | tensor->elem, tensor->data, tensor->bytes, read)
		      : host.init_hash(host.ctx, param, weights_seed(param));
}

bool weights_bind(struct arena *a, const struct weights *w, const struct hir_program *p, const dtype *types, struct weights_host host,
		  span at, struct weights_bound *out, struct diags *diags)
{
	const span *quantizers = w ? weights_quantizers(a, p) : NULL;
	uint32_t *missing = ARENA_ARRAY(a, uint32_t, p->n_params + 1), n_missing = 0, n_without = 0;
	bool ok = true;
	out->params = ARENA_ARRAY(a, struct tensor, p->n_params + 1);
	out->hashes = ARENA_ARRAY(a, hash128, p->n_params + 1);
	out->is_initial = ARENA_ARRAY(a, bool, p->n_params + 1);
	for (uint32_t i = 0; i < p->n_params; i++) {
		const struct hir_param *m = &p->params[i];
		struct tensor *t = &out->params[i];
		const struct file_tensor *s = weights_find(w, m);
		struct content read = content_of(w, s);
		param_tensor(m, t);
		t->elem = types ? types[i] : t->elem;
		out->is_initial[i] = !s;
		if (!s && (w || !m->init)) {
			missing[n_missing++] = i;
			n_without += !m->init;
			if (!m->init || !w->initialize)
				continue;
		}
		bool bound = s ? bind_from_file(a, w, m, s, t, diags) && check_tied(w, m, s, diags) &&
					     check_finite(a, w, m, s, t, quantizers[i], &read, diags)
			       : bind_initial(a, m, host, t, diags);
		if (bound)
			out->hashes[i] = hash_of(m, t, s, &read, host);
		ok &= bound;
	}
	return weights_bind_report_missing(a, w, p, missing, n_missing, n_without, at, diags) && ok;
}
