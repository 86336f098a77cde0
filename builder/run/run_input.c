#include "builder/run/run_input.h"
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include "backend/ir/tensor.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/os.h"
#include "base/vec.h"
#include "builder/weights/convert.h"
#include "builder/weights/file_kind.h"
#include "builder/weights/npy.h"

static const char *const kinds[] = {[SOURCE_FILE] = "", [SOURCE_RANDOM] = "random", [SOURCE_ZEROS] = "zeros", [SOURCE_ONES] = "ones"};

const char *run_source_text(enum run_source_kind kind) { return kinds[kind]; }

/* 4x16 */
static bool run_input_parse_shape(const char *s, struct run_source *out)
{
	for (out->rank = 0; out->rank < TRI_MAX_RANK; s++) {
		int64_t v = 0;
		if (!isdigit((unsigned char)*s))
			return false;
		for (; isdigit((unsigned char)*s); s++)
			if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *s - '0', &v))
				return false;
		out->dims[out->rank++] = v;
		if (!*s)
			return true;
		if (*s != 'x')
			return false;
	}
	return false;
}

bool run_source_parse(const char *text, struct run_source *out, struct buf *error)
{
	*out = (struct run_source){.path = text};
	for (uint32_t k = SOURCE_RANDOM; k <= SOURCE_ONES; k++) {
		size_t n = strlen(kinds[k]);
		if (strncmp(text, kinds[k], n) != 0 || (text[n] && text[n] != ':'))
			continue;
		out->kind = (enum run_source_kind)k;
		out->has_shape = text[n] == ':';
		if (!out->has_shape || run_input_parse_shape(text + n + 1, out))
			return true;
		buf_printf(error, "`%s` has no shape after the colon: write `%s:4x16`", text, kinds[k]);
		return false;
	}
	return true;
}

bool run_read_npy(struct arena *a, const char *path, struct tensor *out, struct buf *error)
{
	char *bytes;
	size_t len;
	const char *why;
	if (!os_read_stream(path, 0, &bytes, &len)) {
		buf_printf(error, "cannot read `%s`: %s", path, os_read_error(errno));
		return false;
	}
	char *copy = memcpy(arena_alloc(a, len + 1, 64), bytes, len);
	vec_free_raw(bytes);
	if (npy_parse(a, copy, len, out, &why))
		return true;
	enum file_kind kind = file_kind_of(copy, len);
	if (kind == FILE_UNKNOWN || kind == FILE_NPY)
		buf_printf(error, "`%s` cannot be read: %s", path, why);
	else
		buf_printf(error, "`%s` is %s, not an array that numpy.save wrote", path, file_kind_text(kind));
	return false;
}

/* Element types widen as in the language. float16 and bfloat16 inputs also take float32 files, because .npy has no bfloat16. */
static bool run_input_convert(struct arena *a, const struct tensor *from, dtype to, struct tensor *out, struct buf *error)
{
	int64_t n = tensor_count(from);
	size_t bad;
	double value;
	*out = *from;
	out->elem = to;
	if (from->elem == to && to != DT_BOOL)
		return true;
	out->data = arena_alloc(a, (size_t)n * dtype_size(to) + 1, 64);
	if (convert_allowed(from->elem, to)) {
		if (convert_elements(from->elem, from->data, to, out->data, (size_t)n, &bad, &value))
			return true;
		buf_printf(error, "element %zu is %g, which is not a %s", bad, value, dtype_text(to));
		return false;
	}
	if (dtype_class(from->elem) == DTC_FLOAT && (to == DT_FLOAT16 || to == DT_BFLOAT16)) {
		for (int64_t i = 0; i < n; i++)
			elem_put_float(to, out->data, i, elem_float(from->elem, from->data, i));
		return true;
	}
	buf_printf(error, "its elements are %s", dtype_text(from->elem));
	return false;
}

bool run_read_input(struct arena *a, const tri_io_desc *d, const char *path, tri_tensor *out, struct buf *error)
{
	struct tensor raw, t;
	struct buf detail = {0};
	if (!run_read_npy(a, path, &raw, error))
		return false;
	bool ok = run_input_convert(a, &raw, (dtype)d->dtype, &t, &detail);
	if (!ok)
		buf_printf(error, "input `%s` is %s, but in `%s` %s", d->name, dtype_text((dtype)d->dtype), path, detail.at);
	buf_free(&detail);
	*out = (tri_tensor){.data = t.data, .rank = t.rank, .dtype = d->dtype};
	memcpy(out->shape, t.dims, sizeof out->shape);
	return ok;
}

/* splitmix64 */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
	z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
	return z ^ z >> 31;
}

/* The sum of twelve uniform numbers minus six. It is equal on every machine, because only additions round. */
static double next_normal(uint64_t *state)
{
	double sum = -6;
	for (int i = 0; i < 12; i++)
		sum += (double)(next_random(state) >> 11) * 0x1p-53;
	return sum;
}

static int64_t random_int(dtype t, uint64_t *state)
{
	uint64_t v = next_random(state) >> 32;
	return dtype_class(t) == DTC_TRIT ? (int64_t)(v % 3) - 1 : (int64_t)(v % (dtype_class(t) == DTC_BOOL ? 2 : 10));
}

void run_make_input(const char *name, enum run_source_kind kind, tri_tensor *t)
{
	dtype type = (dtype)t->dtype;
	uint64_t state = hash64_bytes(name, strlen(name));
	int64_t n = 1;
	for (int32_t k = 0; k < t->rank; k++)
		n *= t->shape[k];
	for (int64_t i = 0; i < n; i++) {
		if (dtype_class(type) == DTC_FLOAT)
			elem_put_float(type, t->data, i, kind == SOURCE_RANDOM ? next_normal(&state) : kind == SOURCE_ONES);
		else
			elem_put_int(type, t->data, i, kind == SOURCE_RANDOM ? random_int(type, &state) : kind == SOURCE_ONES);
	}
}
