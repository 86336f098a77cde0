#include "builder/weights/safetensors.h"
#include "tests/unit/unit.h"
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"

static struct buf file(const char *header, size_t data)
{
	struct buf b = {0};
	buf_u64(&b, strlen(header));
	buf_puts(&b, header);
	for (size_t i = 0; i < data; i++)
		buf_u8(&b, (uint8_t)i);
	return b;
}

static void rejects(const char *header, size_t data, const char *why)
{
	struct arena *a = arena_new(0);
	struct buf b = file(header, data);
	const char *error = NULL;
	assert_null(safetensors_parse(a, b.at, b.len, &error));
	assert_non_null(error);
	if (!strstr(error, why))
		fail_msg("`%s` does not say `%s`", error, why);
	buf_free(&b);
	arena_free(a);
}

static void views(void **state)
{
	struct arena *a = arena_new(0);
	struct buf b = file(
		"{\"__metadata__\":{\"format\":\"pt\"},\"w\":{\"dtype\":\"I8\",\"shape\":[2,2],\"data_offsets\":[4,8]},"
		"\"b\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]},\"e\":{\"dtype\":\"U16\",\"shape\":[0],\"data_offsets\":[8,8]}}",
		8);
	const char *error = NULL;
	const struct tensor_list *s = safetensors_parse(a, b.at, b.len, &error);
	assert_non_null(s);
	assert_int_equal(s->n, 3);
	const struct file_tensor *w = tensor_list_find(s, "w");
	assert_int_equal(w->elem, DT_INT8);
	assert_int_equal(w->rank, 2);
	assert_memory_equal(w->data, "\4\5\6\7", 4);
	assert_int_equal(tensor_list_find(s, "b")->rank, 0);
	assert_int_equal(tensor_list_find(s, "e")->elem, DT_COUNT);
	assert_null(tensor_list_find(s, "x"));
	for (size_t n = 0; n < b.len; n++) { /* cut anywhere, it is refused */
		char *exact = malloc(n ? n : 1);
		memcpy(exact, b.at, n);
		error = NULL;
		assert_null(safetensors_parse(a, exact, n, &error));
		assert_non_null(error);
		free(exact);
	}
	buf_free(&b);
	arena_free(a);
}

/* Of a type that is not in the table the offsets alone say how long it is. */
static void unknown_types(void **state)
{
	struct arena *a = arena_new(0);
	struct buf b = file("{\"w\":{\"dtype\":\"F6_E3M2\",\"shape\":[4],\"data_offsets\":[0,3]}}", 3);
	const char *error = NULL;
	const struct tensor_list *s = safetensors_parse(a, b.at, b.len, &error);
	assert_non_null(s);
	assert_string_equal(s->tensors[0].type, "F6_E3M2");
	assert_int_equal(s->tensors[0].elem, DT_COUNT);
	assert_int_equal(s->tensors[0].bytes, 3);
	buf_free(&b);
	arena_free(a);
	rejects("{\"w\":{\"dtype\":\"F33\",\"shape\":[2],\"data_offsets\":[0,8]}}", 4, "truncated");
}

static void damage(void **state)
{
	rejects("", 0, "JSON");
	rejects("[]", 0, "object");
	rejects("{\"w\":5}", 0, "tensor `w`");
	rejects("{\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,8]}}", 8, "shape and type need 4");
	rejects("{\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 4, "truncated");
	rejects("{\"w\":{\"dtype\":\"F32\",\"shape\":[-2],\"data_offsets\":[0,8]}}", 8, "shape");
	rejects("{\"w\":{\"dtype\":\"F32\",\"shape\":[4611686018427387904, 8],\"data_offsets\":[0,8]}}", 8, "large");
	rejects("{\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,0]}}", 8, "ascending");
	rejects("{\"w\":{\"dtype\":\"F32\",\"shape\":[2]}}", 8, "data_offsets");
	rejects("{\"w\":{\"dtype\":\"I8\",\"shape\":[4],\"data_offsets\":[0,4]},\"v\":{\"dtype\":\"I8\",\"shape\":[4],\"data_offsets\":[2,6]}}",
		6, "overlaps");
	rejects("{\"w\":{\"dtype\":\"I8\",\"shape\":[4],\"data_offsets\":[0,4]},\"w\":{\"dtype\":\"I8\",\"shape\":[4],\"data_offsets\":[0,4]}}",
		4, "JSON");
	rejects("{\"w\":{\"dtype\":\"I8\",\"shape\":[4],\"data_offsets\":[0,4]}}", 5, "belongs to no tensor");
	rejects("{\"w\":{\"dtype\":\"I8\",\"shape\":[4],\"data_offsets\":[1,5]}}", 5, "belongs to no tensor");
}

static void header_length(void **state)
{
	struct arena *a = arena_new(0);
	const char *error = NULL;
	uint64_t lengths[] = {3, UINT64_MAX, 1ull << 62, 101ull << 20};
	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		struct buf b = {0};
		buf_u64(&b, lengths[i]);
		buf_puts(&b, "{}");
		assert_null(safetensors_parse(a, b.at, b.len, &error));
		buf_free(&b);
	}
	arena_free(a);
}

int test_safetensors(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(views), cmocka_unit_test(unknown_types), cmocka_unit_test(damage),
					   cmocka_unit_test(header_length)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
