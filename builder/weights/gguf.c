/* Format, little-endian: "GGUF", version (uint32), number of tensors and of metadata (uint64); the metadata: key, type, value; for each tensor
 * its name, rank (uint32), dimensions (uint64, the innermost first), type (uint32), offset (uint64); then the data, aligned to
 * general.alignment (32). A string is its length (uint64) and its bytes. Versions 2 and 3 are equal but for big-endian files. */
#include "builder/weights/gguf.h"
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "builder/weights/byte_reader.h"

enum { MOST_RANK = 8, MOST_NESTED = 4, STRING = 8, ARRAY = 9, VALUE_TYPES = 13 };

static const uint8_t value_sizes[VALUE_TYPES] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

static const struct {
	uint32_t id;
	const char *text;
	dtype elem;
	enum tensor_encoding encoding;
	uint32_t block, bytes; /* bytes of a block of elements; I2_S has its scale at the end */
} types[] = {
	{0, "F32", DT_FLOAT32, TENSOR_PLAIN, 1, 4},       {1, "F16", DT_FLOAT16, TENSOR_PLAIN, 1, 2},
	{24, "I8", DT_INT8, TENSOR_PLAIN, 1, 1},          {25, "I16", DT_INT16, TENSOR_PLAIN, 1, 2},
	{26, "I32", DT_INT32, TENSOR_PLAIN, 1, 4},        {27, "I64", DT_INT64, TENSOR_PLAIN, 1, 8},
	{28, "F64", DT_FLOAT64, TENSOR_PLAIN, 1, 8},      {30, "BF16", DT_BFLOAT16, TENSOR_PLAIN, 1, 2},
	{34, "TQ1_0", DT_FLOAT32, TENSOR_TQ1_0, 256, 54}, {35, "TQ2_0", DT_FLOAT32, TENSOR_TQ2_0, 256, 66},
	{36, "I2_S", DT_FLOAT32, TENSOR_I2_S, 128, 32},
};

static const char *take_string(struct byte_reader *reader)
{
	uint64_t n = take_number(reader, 8);
	const char *p = (const char *)take_bytes(reader, n);
	if (p && memchr(p, 0, (size_t)n)) {
		reader->why = arena_printf(reader->a, "the text that ends at byte %zu contains a NUL", bytes_taken(reader));
		return NULL;
	}
	return p ? arena_strndup(reader->a, p, (size_t)n) : NULL;
}

static void skip_value(struct byte_reader *reader, uint64_t type, int depth)
{
	if (type == STRING) {
		take_bytes(reader, take_number(reader, 8));
	} else if (type == ARRAY && depth < MOST_NESTED) {
		uint64_t of = take_number(reader, 4), n = take_number(reader, 8);
		if (of < VALUE_TYPES && value_sizes[of])
			take_bytes(reader, n > bytes_left(reader) ? UINT64_MAX : n * value_sizes[of]);
		else
			for (uint64_t i = 0; i < n && !reader->why; i++)
				skip_value(reader, of, depth + 1);
	} else if (type < VALUE_TYPES && value_sizes[type]) {
		take_bytes(reader, value_sizes[type]);
	} else if (!reader->why) {
		reader->why = arena_printf(reader->a, "its metadata has a value of the unknown type %llu before byte %zu",
					   (unsigned long long)type, bytes_taken(reader));
	}
}

/* Returns the alignment of data. */
static uint64_t read_metadata(struct byte_reader *reader, uint64_t n)
{
	uint64_t alignment = 32;
	for (uint64_t i = 0; i < n && !reader->why; i++) {
		const char *key = take_string(reader);
		uint64_t type = take_number(reader, 4);
		if (!key || strcmp(key, "general.alignment") != 0 || type != 4) {
			skip_value(reader, type, 0);
			continue;
		}
		alignment = take_number(reader, 4);
		if (!reader->why && (!alignment || (alignment & (alignment - 1))))
			reader->why = "its general.alignment is not a power of two";
	}
	return alignment;
}

static bool gguf_refuse(struct byte_reader *reader, const struct file_tensor *t, const char *what)
{
	reader->why = arena_printf(reader->a, "tensor `%s`: %s", t->name, what);
	return false;
}

/* The dimensions, the innermost first in the file, and the number of elements. */
static bool read_dims(struct byte_reader *reader, struct file_tensor *t, uint64_t *count)
{
	uint64_t rank = take_number(reader, 4);
	if (!reader->why && rank > MOST_RANK)
		return gguf_refuse(reader, t, "it has more than 8 dimensions");
	int64_t *dims = ARENA_ARRAY(reader->a, int64_t, MOST_RANK);
	bool empty = false;
	*count = 1;
	for (uint64_t k = rank; k-- > 0;) {
		uint64_t d = take_number(reader, 8);
		empty |= d == 0;
		dims[k] = (int64_t)d;
		if (d > INT64_MAX || (d && __builtin_mul_overflow(*count, d, count)) || *count > INT64_MAX / 16)
			return gguf_refuse(reader, t, "its shape is too large");
	}
	*count = empty ? 0 : *count;
	t->rank = (uint32_t)rank;
	t->dims = dims;
	return !reader->why;
}

static bool find_type(struct byte_reader *reader, struct file_tensor *t, uint64_t id, uint64_t count)
{
	size_t k = 0, n = sizeof types / sizeof *types;
	while (k < n && types[k].id != id)
		k++;
	t->elem = DT_COUNT;
	t->type = k < n ? types[k].text : arena_printf(reader->a, "GGUF type %llu", (unsigned long long)id);
	if (k == n)
		return true;
	if (types[k].block > 1 && (count % types[k].block || (t->rank && t->dims[t->rank - 1] % types[k].block)))
		return gguf_refuse(reader, t, arena_printf(reader->a, "its rows are not whole blocks of %u elements", types[k].block));
	t->elem = types[k].elem;
	t->encoding = types[k].encoding;
	t->bytes = (size_t)(count / types[k].block * types[k].bytes) + (t->encoding == TENSOR_I2_S ? 32 : 0);
	return true;
}

/* The tensors with their offsets, which count from the start of the data. */
static bool gguf_read_tensor(struct byte_reader *reader, struct file_tensor *t, uint64_t *offset)
{
	uint64_t count = 0;
	t->name = take_string(reader);
	if (!t->name || !read_dims(reader, t, &count))
		return false;
	uint64_t type = take_number(reader, 4);
	*offset = take_number(reader, 8);
	return !reader->why && find_type(reader, t, type, count);
}

static bool place_tensor(struct byte_reader *reader, struct file_tensor *t, uint64_t offset, uint64_t alignment)
{
	if (offset % alignment)
		return gguf_refuse(reader, t, "its data is not aligned");
	if (offset > bytes_left(reader) || t->bytes > bytes_left(reader) - offset)
		return gguf_refuse(reader, t,
				   arena_printf(reader->a, "its data ends at byte %llu, but the file has only %zu: it is truncated",
						(unsigned long long)(offset + bytes_taken(reader)) + t->bytes,
						bytes_taken(reader) + bytes_left(reader)));
	t->data = reader->at + offset;
	return true;
}

static const struct tensor_list *read_tensors(struct byte_reader *reader, uint64_t n, uint64_t alignment)
{
	if (n > bytes_left(reader) / 24) {
		reader->why = "it is truncated: its list of tensors is longer than the file";
		return NULL;
	}
	struct tensor_list *list = ARENA_NEW(reader->a, struct tensor_list);
	struct file_tensor *tensors = ARENA_ARRAY(reader->a, struct file_tensor, n + 1);
	uint64_t *offsets = ARENA_ARRAY(reader->a, uint64_t, n + 1);
	for (uint64_t i = 0; i < n; i++)
		if (!gguf_read_tensor(reader, &tensors[i], &offsets[i]))
			return NULL;
	uint64_t at = bytes_taken(reader), gap = (alignment - at % alignment) % alignment;
	if (n && !take_bytes(reader, gap))
		return NULL;
	for (uint64_t i = 0; i < n; i++)
		if (!place_tensor(reader, &tensors[i], offsets[i], alignment))
			return NULL;
	tensor_list_sort(tensors, (uint32_t)n);
	for (uint64_t i = 1; i < n; i++)
		if (strcmp(tensors[i].name, tensors[i - 1].name) == 0) {
			gguf_refuse(reader, &tensors[i], "there are two of that name");
			return NULL;
		}
	*list = (struct tensor_list){tensors, (uint32_t)n};
	return list;
}

const struct tensor_list *gguf_parse(struct arena *a, const void *bytes, size_t len, const char **error)
{
	struct byte_reader r = byte_reader(a, "it", bytes, len);
	const unsigned char *magic = take_bytes(&r, 4);
	const struct tensor_list *list = NULL;
	uint64_t version = take_number(&r, 4), n = take_number(&r, 8), n_metadata = take_number(&r, 8);
	if (!r.why && memcmp(magic, "GGUF", 4) != 0)
		r.why = "it does not begin with `GGUF`";
	else if (!r.why && version != 2 && version != 3)
		r.why = arena_printf(a, "it has version %llu of GGUF; versions 2 and 3, little-endian, are read",
				     (unsigned long long)version);
	uint64_t alignment = r.why ? 0 : read_metadata(&r, n_metadata);
	if (!r.why)
		list = read_tensors(&r, n, alignment);
	if (!list)
		*error = r.why;
	return list;
}
