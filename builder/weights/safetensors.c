/* Format: header length (8 bytes, little-endian), the header {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, …,
 * "__metadata__": {…}}, then the data; offsets count from its start. The tensors cover the data exactly: no gaps, no
 * overlaps, and nothing after them. */
#include "base/buf.h"
#include "builder/json_read.h"
#include "builder/weights/safetensors.h"
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "builder/weights/byte_reader.h"

#define MAX_HEADER ((uint64_t)100 << 20) /* as the reference implementation has it */

static const struct {
	const char *text;
	dtype elem;
	uint32_t size;
} types[] = {{"BOOL", DT_BOOL, 1},   {"I8", DT_INT8, 1},       {"I16", DT_INT16, 2},   {"I32", DT_INT32, 4},     {"I64", DT_INT64, 8},
	     {"F16", DT_FLOAT16, 2}, {"BF16", DT_BFLOAT16, 2}, {"F32", DT_FLOAT32, 4}, {"F64", DT_FLOAT64, 8},   {"U8", DT_UINT8, 1},
	     {"U16", DT_COUNT, 2},   {"U32", DT_COUNT, 4},     {"U64", DT_COUNT, 8},   {"F8_E4M3", DT_COUNT, 1}, {"F8_E5M2", DT_COUNT, 1}};

struct entry {
	struct file_tensor t;
	uint64_t begin, end;
};

/* `shape` into t; false with *why. */
static bool safetensors_read_shape(struct arena *a, json_t *shape, uint32_t size, struct entry *e, const char **why)
{
	uint64_t bytes = size;
	bool empty = false;
	if (!json_is_array(shape) || json_array_size(shape) > 64) {
		*why = "its shape is not a list of sizes";
		return false;
	}
	size_t n = json_array_size(shape);
	int64_t *dims = ARENA_ARRAY(a, int64_t, n ? n : 1);
	for (size_t i = 0; i < n; i++) {
		json_t *d = json_array_get(shape, i);
		dims[i] = json_is_integer(d) ? json_integer_value(d) : -1;
		if (dims[i] < 0) {
			*why = "its shape is not a list of sizes";
			return false;
		}
		empty |= dims[i] == 0;
		if (dims[i] && (__builtin_mul_overflow(bytes, (uint64_t)dims[i], &bytes) || bytes > PTRDIFF_MAX)) {
			*why = "its shape is too large";
			return false;
		}
	}
	e->t.rank = (uint32_t)n;
	e->t.dims = dims;
	e->t.bytes = empty ? 0 : (size_t)bytes;
	return true;
}

static bool safetensors_read_entry(struct arena *a, json_t *o, struct entry *e, uint64_t data_len, const char **why)
{
	json_t *off = json_object_get(o, "data_offsets");
	const char *type = json_string_value(json_object_get(o, "dtype"));
	size_t k = 0, n = sizeof types / sizeof *types;
	while (type && k < n && strcmp(types[k].text, type) != 0)
		k++;
	if (!type) {
		*why = "it has no dtype";
		return false;
	}
	bool known = k < n;
	e->t.type = known ? types[k].text : arena_strdup(a, type);
	e->t.elem = known ? types[k].elem : DT_COUNT;
	if (!safetensors_read_shape(a, json_object_get(o, "shape"), known ? types[k].size : 1, e, why))
		return false;
	json_t *b = json_array_get(off, 0), *t = json_array_get(off, 1);
	if (json_array_size(off) != 2 || !json_is_integer(b) || !json_is_integer(t) || json_integer_value(b) < 0 ||
	    json_integer_value(t) < json_integer_value(b)) {
		*why = "its data_offsets are not two offsets in ascending order";
		return false;
	}
	e->begin = (uint64_t)json_integer_value(b);
	e->end = (uint64_t)json_integer_value(t);
	if (e->end > data_len) {
		*why = arena_printf(a, "its data ends at byte %llu, but the file holds only %llu: it is truncated",
				    (unsigned long long)e->end, (unsigned long long)data_len);
		return false;
	}
	if (!known)
		e->t.bytes = (size_t)(e->end - e->begin);
	if (e->end - e->begin != e->t.bytes) {
		*why = arena_printf(a, "its data has %llu bytes, its shape and type need %zu", (unsigned long long)(e->end - e->begin),
				    e->t.bytes);
		return false;
	}
	return true;
}

static int by_begin(const void *x, const void *y)
{
	const struct entry *a = x, *b = y;
	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	return a->end != b->end ? (a->end < b->end ? -1 : 1) : strcmp(a->t.name, b->t.name);
}

static bool check_cover(struct arena *a, struct entry *e, uint32_t n, uint64_t data_len, const char **error)
{
	if (n)
		qsort(e, n, sizeof *e, by_begin);
	uint64_t end = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (i && e[i].begin < end) {
			*error = arena_printf(a, "tensor `%s`: its data overlaps that of `%s`", e[i].t.name, e[i - 1].t.name);
			return false;
		}
		if (e[i].begin > end)
			break;
		end = e[i].end;
	}
	if (end == data_len)
		return true;
	*error = arena_printf(a, "the data from byte %llu on belongs to no tensor: the file is damaged", (unsigned long long)end);
	return false;
}

static const struct tensor_list *safetensors_read_header(struct arena *a, json_t *root, const char *data, uint64_t data_len,
							 const char **error)
{
	struct entry *entries = ARENA_ARRAY(a, struct entry, json_object_size(root) + 1);
	uint32_t n = 0;
	const char *name;
	json_t *value;
	json_object_foreach(root, name, value)
	{
		if (strcmp(name, "__metadata__") == 0)
			continue;
		struct entry *e = &entries[n++];
		const char *why = "its entry in the header is not a JSON object";
		e->t.name = arena_strdup(a, name);
		if (!json_is_object(value) || !safetensors_read_entry(a, value, e, data_len, &why)) {
			*error = arena_printf(a, "tensor `%s`: %s", name, why);
			return NULL;
		}
		e->t.data = data + e->begin;
	}
	if (!check_cover(a, entries, n, data_len, error))
		return NULL;
	struct tensor_list *s = ARENA_NEW(a, struct tensor_list);
	struct file_tensor *list = ARENA_ARRAY(a, struct file_tensor, n ? n : 1);
	for (uint32_t i = 0; i < n; i++)
		list[i] = entries[i].t;
	tensor_list_sort(list, n);
	*s = (struct tensor_list){list, n};
	return s;
}

const struct tensor_list *safetensors_parse(struct arena *a, const void *bytes, size_t len, const char **error)
{
	const unsigned char *b = bytes;
	if (len < 8) {
		*error = arena_printf(a, "it is truncated: it has %zu bytes, less than the length of its header", len);
		return NULL;
	}
	uint64_t header = little_endian(b, 8);
	if (header > MAX_HEADER || header > len - 8) {
		*error = header > MAX_HEADER || b[8 * (len > 8)] != '{'
				 ? "it does not begin with the length of a JSON header, as safetensors files do"
				 : arena_printf(a, "it is truncated: its header needs %llu bytes, the file has %zu",
						(unsigned long long)header + 8, len);
		return NULL;
	}
	struct buf why = {0};
	json_t *root = json_read((const char *)b + 8, (size_t)header, JSON_REJECT_DUPLICATES, &why);
	const struct tensor_list *s = NULL;
	if (!root)
		*error = arena_printf(a, "its header is not valid JSON: %s", why.at);
	else if (!json_is_object(root))
		*error = "its header is not a JSON object";
	else
		s = safetensors_read_header(a, root, (const char *)b + 8 + header, len - 8 - header, error);
	json_decref(root);
	buf_free(&why);
	return s;
}
