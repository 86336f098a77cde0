/* The entries are NAME/data.pkl, NAME/data/KEY for each storage, and NAME/byteorder in newer files. */
#include "builder/weights/pytorch.h"
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/vec.h"
#include "builder/weights/pickle.h"
#include "builder/weights/zip.h"

enum { DEEPEST = 16, MOST_VISITS = 1 << 22 };

struct file {
	struct arena *a;
	const struct zip *zip;
	const char *folder; /* with the slash */
	VEC(struct file_tensor) tensors;
	uint32_t visits;
	const char *why; /* the first error, or NULL */
};

static bool pytorch_fail(struct file *f, const char *name, const char *what)
{
	f->why = f->why ? f->why : arena_printf(f->a, "tensor `%s`: %s", name, what);
	return false;
}

/* The folder of data.pkl. */
static const struct zip_entry *find_pickle(struct file *f)
{
	static const char pickle[] = "data.pkl";
	for (uint32_t i = 0; i < f->zip->n; i++) {
		const struct zip_entry *e = &f->zip->entries[i];
		size_t n = strlen(e->name), k = sizeof pickle - 1;
		if (n < k || strcmp(e->name + n - k, pickle) != 0 || (n > k && e->name[n - k - 1] != '/'))
			continue;
		f->folder = arena_strndup(f->a, e->name, n - k);
		return e;
	}
	return NULL;
}

static bool pytorch_read_shape(struct file *f, struct file_tensor *t, const struct pickle *pickle)
{
	const struct pickle *shape = pickle->at[1], *strides = pickle->at[2];
	int64_t *dims = ARENA_ARRAY(f->a, int64_t, shape->n + 1), next = 1;
	bool contiguous = true, empty = false;
	for (uint32_t k = shape->n; k-- > 0;) {
		if (shape->at[k]->kind != PICKLE_INT || strides->at[k]->kind != PICKLE_INT || shape->at[k]->number < 0)
			return pytorch_fail(f, t->name, "its shape is not a list of sizes");
		dims[k] = shape->at[k]->number;
		empty |= dims[k] == 0;
		contiguous &= dims[k] == 1 || strides->at[k]->number == next;
		if (dims[k] && (__builtin_mul_overflow(next, dims[k], &next) || next > INT64_MAX / 16))
			return pytorch_fail(f, t->name, "its shape is too large");
	}
	t->rank = shape->n;
	t->dims = dims;
	return contiguous || empty ||
	       pytorch_fail(f, t->name, "its elements are not in the order of its dimensions; save `w.contiguous()`");
}

static bool add_tensor(struct file *f, const char *name, const struct pickle *pickle)
{
	const struct pickle *s = pickle->at[0];
	struct file_tensor t = {.name = name, .type = s->type, .elem = s->elem};
	const struct zip_entry *e = zip_find(f->zip, arena_printf(f->a, "%sdata/%s", f->folder, s->text));
	if (!pytorch_read_shape(f, &t, pickle))
		return false;
	if (!e || !e->data)
		return pytorch_fail(f, name,
				    arena_printf(f->a, "the archive %s `%sdata/%s`", e ? "has compressed" : "lacks", f->folder, s->text));
	int64_t size = t.elem < DT_COUNT ? (int64_t)dtype_size(t.elem) : 1, count = file_tensor_count(&t),
		room = (int64_t)(e->size / (size_t)size);
	if (pickle->number < 0 || count > room || pickle->number > room - count)
		return pytorch_fail(f, name,
				    arena_printf(f->a, "it needs %lld elements from %lld on, but `%s` has %lld", (long long)count,
						 (long long)pickle->number, e->name, (long long)room));
	t.data = (const char *)e->data + pickle->number * size;
	t.bytes = (size_t)(count * size);
	vec_push(&f->tensors, t);
	return true;
}

/* Tensors under keys that are texts. */
static bool add_tensors(struct file *f, const char *prefix, const struct pickle *dict, int depth)
{
	if (depth > DEEPEST || ++f->visits > MOST_VISITS) {
		f->why = "its dictionaries are nested too deeply";
		return false;
	}
	for (uint32_t i = 0; i + 1 < dict->n; i += 2) {
		const struct pickle *key = dict->at[i], *value = dict->at[i + 1];
		if (key->kind != PICKLE_TEXT || (value->kind != PICKLE_TENSOR && value->kind != PICKLE_DICT))
			continue;
		const char *name = *prefix ? arena_printf(f->a, "%s.%s", prefix, key->text) : key->text;
		if (!(value->kind == PICKLE_TENSOR ? add_tensor(f, name, value) : add_tensors(f, name, value, depth + 1)))
			return false;
	}
	return true;
}

static const struct tensor_list *pytorch_finish(struct file *f)
{
	struct tensor_list *list = ARENA_NEW(f->a, struct tensor_list);
	struct file_tensor *tensors = ARENA_ARRAY(f->a, struct file_tensor, f->tensors.len + 1);
	for (uint32_t i = 0; i < f->tensors.len; i++)
		tensors[i] = f->tensors.at[i];
	tensor_list_sort(tensors, f->tensors.len);
	for (uint32_t i = 1; i < f->tensors.len; i++)
		if (strcmp(tensors[i].name, tensors[i - 1].name) == 0) {
			pytorch_fail(f, tensors[i].name, "there are two of that name");
			return NULL;
		}
	*list = (struct tensor_list){tensors, f->tensors.len};
	return list;
}

static const struct pickle *read_pickle(struct file *f, const char **error)
{
	const struct zip_entry *e = find_pickle(f);
	if (!e || !e->data) {
		*error = e ? "its data.pkl is compressed" : "it has no data.pkl";
		return NULL;
	}
	const struct zip_entry *order = zip_find(f->zip, arena_printf(f->a, "%sbyteorder", f->folder));
	if (order && order->data && order->size == 3 && memcmp(order->data, "big", 3) == 0) {
		*error = "it was saved on a big-endian machine";
		return NULL;
	}
	return pickle_read(f->a, e->data, e->size, error);
}

const struct tensor_list *pytorch_parse(struct arena *a, const void *bytes, size_t len, const char **error)
{
	struct file f = {.a = a, .zip = zip_parse(a, bytes, len, error)};
	const struct pickle *root = f.zip ? read_pickle(&f, error) : NULL;
	const struct tensor_list *list = NULL;
	if (!root)
		return NULL;
	if (root->kind != PICKLE_DICT)
		f.why = "it does not hold a dictionary of tensors";
	else if (add_tensors(&f, "", root, 0) && f.tensors.len == 0)
		f.why = "it holds no tensors with names";
	if (!f.why)
		list = pytorch_finish(&f);
	vec_free(&f.tensors);
	if (!list)
		*error = f.why;
	return list;
}
