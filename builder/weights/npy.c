/* Format: "\x93NUMPY", major, minor, header length (2 bytes in version 1, 4 later), a Python dict literal with 'descr', 'fortran_order'
 * and 'shape', then the elements. https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html */
#include "builder/weights/npy.h"
#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include "backend/ir/tensor.h"
#include "base/arena.h"
#include "base/buf.h"

#define MAGIC "\x93NUMPY"
enum { MAGIC_LEN = 6, MAX_RANK = 8 };

static const struct {
	const char *descr;
	dtype elem;
} types[] = {{"|b1", DT_BOOL},  {"|i1", DT_INT8},  {"<i1", DT_INT8},    {"|u1", DT_UINT8},   {"<u1", DT_UINT8},  {"<i2", DT_INT16},
	     {"<i4", DT_INT32}, {"<i8", DT_INT64}, {"<f2", DT_FLOAT16}, {"<f4", DT_FLOAT32}, {"<f8", DT_FLOAT64}};

/* Scans the dict literal. Every step checks the end. */
struct dict_scanner {
	const char *at, *end;
};

static void skip(struct dict_scanner *s)
{
	while (s->at < s->end && isspace((unsigned char)*s->at))
		s->at++;
}

static bool npy_accept(struct dict_scanner *s, char c)
{
	skip(s);
	if (s->at == s->end || *s->at != c)
		return false;
	s->at++;
	return true;
}

static bool accept_string(struct dict_scanner *s, const char **text, size_t *len)
{
	skip(s);
	if (s->at == s->end || (*s->at != '\'' && *s->at != '"'))
		return false;
	const char quote = *s->at++, *start = s->at;
	while (s->at < s->end && *s->at != quote)
		s->at++;
	if (s->at == s->end)
		return false;
	*text = start;
	*len = (size_t)(s->at++ - start);
	return true;
}

static bool accept_word(struct dict_scanner *s, const char *word)
{
	size_t n = strlen(word);
	skip(s);
	if ((size_t)(s->end - s->at) < n || memcmp(s->at, word, n) != 0)
		return false;
	s->at += n;
	return true;
}

static bool accept_dim(struct dict_scanner *s, int64_t *v)
{
	skip(s);
	const char *start = s->at;
	uint64_t n = 0;
	while (s->at < s->end && isdigit((unsigned char)*s->at)) {
		if (__builtin_mul_overflow(n, 10u, &n) || __builtin_add_overflow(n, (uint64_t)(*s->at - '0'), &n) || n > INT64_MAX)
			return false;
		s->at++;
	}
	npy_accept(s, 'L'); /* Python 2 */
	*v = (int64_t)n;
	return s->at > start;
}

static bool accept_shape(struct dict_scanner *s, struct tensor *t)
{
	if (!npy_accept(s, '('))
		return false;
	t->rank = 0;
	while (!npy_accept(s, ')')) {
		if (t->rank == MAX_RANK || !accept_dim(s, &t->dims[t->rank]))
			return false;
		t->rank++;
		if (!npy_accept(s, ',')) {
			if (!npy_accept(s, ')'))
				return false;
			break;
		}
	}
	return true;
}

/* NULL, or the error. */
static const char *npy_read_header(struct dict_scanner *s, struct tensor *t, bool *fortran, struct arena *a)
{
	const char *key, *text;
	size_t key_len, len;
	unsigned seen = 0;
	if (!npy_accept(s, '{'))
		return "its header is not a dict";
	while (!npy_accept(s, '}')) {
		if (!accept_string(s, &key, &key_len) || !npy_accept(s, ':'))
			return "its header is not a dict of strings";
		if (key_len == 5 && memcmp(key, "descr", 5) == 0) {
			if (!accept_string(s, &text, &len))
				return "it contains records, not an array of numbers";
			size_t i = 0, n = sizeof types / sizeof *types;
			while (i < n && !(strlen(types[i].descr) == len && memcmp(types[i].descr, text, len) == 0))
				i++;
			if (i == n)
				return arena_printf(a, "its element type '%.*s' is not one of b1 u1 i1 i2 i4 i8 f2 f4 f8, little-endian",
						    (int)(len > 40 ? 40 : len), text);
			t->elem = types[i].elem;
			seen |= 1;
		} else if (key_len == 13 && memcmp(key, "fortran_order", 13) == 0) {
			*fortran = accept_word(s, "True");
			if (!*fortran && !accept_word(s, "False"))
				return "its fortran_order is neither True nor False";
			seen |= 2;
		} else if (key_len == 5 && memcmp(key, "shape", 5) == 0) {
			if (!accept_shape(s, t))
				return "its shape is not a tuple of at most 8 sizes";
			seen |= 4;
		} else {
			return "its header has an unknown key";
		}
		if (!npy_accept(s, ',')) {
			if (!npy_accept(s, '}'))
				return "its header is not a dict";
			break;
		}
	}
	return seen == 7 ? NULL : "its header lacks descr, fortran_order or shape";
}

/* The number of elements times their size. False: too large. Sizes beside a zero count too, so that no later product of them overflows. */
static bool byte_count(const struct tensor *t, size_t *bytes)
{
	size_t n = dtype_size(t->elem);
	bool empty = false;
	for (uint32_t i = 0; i < t->rank; i++) {
		empty |= t->dims[i] == 0;
		if (t->dims[i] && (__builtin_mul_overflow(n, (size_t)t->dims[i], &n) || n > PTRDIFF_MAX))
			return false;
	}
	*bytes = empty ? 0 : n;
	return true;
}

/* Column-major to row-major. */
static void *reorder(struct arena *a, const struct tensor *t, const char *from, size_t bytes)
{
	size_t size = dtype_size(t->elem), stride[MAX_RANK], at = 0, step = size;
	int64_t index[MAX_RANK] = {0};
	char *to = arena_alloc(a, bytes ? bytes : 1, 64);
	for (uint32_t k = 0; k < t->rank; k++) {
		stride[k] = step;
		step *= (size_t)t->dims[k];
	}
	for (size_t i = 0; i < bytes; i += size) {
		memcpy(to + i, from + at, size);
		for (uint32_t k = t->rank; k-- > 0;) {
			at += stride[k];
			if (++index[k] < t->dims[k])
				break;
			at -= stride[k] * (size_t)t->dims[k];
			index[k] = 0;
		}
	}
	return to;
}

bool npy_parse(struct arena *a, const void *bytes, size_t len, struct tensor *out, const char **error)
{
	const unsigned char *b = bytes;
	bool fortran = false;
	*out = (struct tensor){.elem = DT_COUNT};
	if (len < MAGIC_LEN + 4 || memcmp(b, MAGIC, MAGIC_LEN) != 0) {
		*error = "it does not start like a .npy file";
		return false;
	}
	unsigned major = b[6];
	size_t head = major == 1 ? 10 : 12;
	if (major < 1 || major > 3 || len < head) {
		*error = arena_printf(a, "its format version %u.%u is unknown", major, b[7]);
		return false;
	}
	size_t header_len = b[8] | (size_t)b[9] << 8;
	if (major > 1)
		header_len |= (size_t)b[10] << 16 | (size_t)b[11] << 24;
	if (header_len > len - head) {
		*error = "it is truncated inside its header";
		return false;
	}
	struct dict_scanner s = {(const char *)b + head, (const char *)b + head + header_len};
	*error = npy_read_header(&s, out, &fortran, a);
	if (*error)
		return false;
	size_t data = head + header_len, need;
	if (!byte_count(out, &need) || need > len - data) {
		*error = arena_printf(a, "it is truncated: its shape needs more than the %zu bytes of data in the file", len - data);
		return false;
	}
	const char *from = (const char *)b + data;
	if (fortran && out->rank > 1) {
		out->data = reorder(a, out, from, need);
	} else if ((uintptr_t)from % dtype_size(out->elem) == 0) {
		out->data = (void *)(uintptr_t)from;
	} else {
		out->data = arena_alloc(a, need ? need : 1, 64);
		memcpy(out->data, from, need);
	}
	return true;
}

static const char *descr_of(dtype t)
{
	if (t == DT_TRIT)
		return "|i1";
	if (t == DT_BFLOAT16)
		return "<f4";
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (types[i].elem == t)
			return types[i].descr;
	return "|V1";
}

void npy_write(const struct tensor *t, struct buf *out)
{
	struct buf h = {0};
	buf_printf(&h, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr_of(t->elem));
	for (uint32_t i = 0; i < t->rank; i++)
		buf_printf(&h, "%s%lld", i ? ", " : "", (long long)t->dims[i]);
	buf_puts(&h, t->rank == 1 ? ",), }" : "), }");
	while ((10 + h.len + 1) % 64)
		buf_putc(&h, ' ');
	buf_putc(&h, '\n');
	buf_put(out, MAGIC "\x01", MAGIC_LEN + 2);
	buf_u8(out, (uint8_t)(h.len & 255));
	buf_u8(out, (uint8_t)(h.len >> 8));
	buf_put(out, h.at, h.len);
	buf_free(&h);
	int64_t n = tensor_count(t);
	if (t->elem != DT_BFLOAT16) {
		buf_put(out, t->data, (size_t)n * dtype_size(t->elem));
		return;
	}
	for (int64_t i = 0; i < n; i++) {
		float f = (float)elem_float(DT_BFLOAT16, t->data, i);
		buf_put(out, &f, sizeof f);
	}
}
