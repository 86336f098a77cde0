/* Parameters and the weights file: conversions, misfits, missing names, initial values. */
#include "builder/weights/weights.h"
#include "tests/unit/unit.h"
#include "builder/weights/weights_file.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/map.h"
#include "frontend/hir/hir.h"

struct fixture {
	struct arena *a;
	struct diags *diags;
	struct weights *w;
	struct dims *dims;
	struct hir_param params[4];
	struct hir_program program;
	struct weights_bound bound;
	char path[64];
};

static bool init_ones(void *ctx, struct arena *a, const struct hir_param *p, uint64_t seed, struct tensor *out, const char **error)
{
	(void)p, (void)seed;
	if (ctx) {
		*error = ctx;
		return false;
	}
	float *data = arena_alloc(a, (size_t)tensor_bytes(out), 64);
	for (int64_t i = 0; i < tensor_count(out); i++)
		data[i] = 1;
	out->data = data;
	return true;
}

static hash128 init_name(void *ctx, const struct hir_param *p, uint64_t seed)
{
	(void)ctx;
	return hash_combine(map_key_str(p->name), (hash128){seed, 0});
}

static struct fixture open_file(const char *header, const void *data, size_t n)
{
	struct fixture f = {.a = arena_new(0), .diags = diags_new(0), .path = "/tmp/trib-weights-XXXXXX"};
	struct buf b = {0};
	buf_u64(&b, strlen(header));
	buf_puts(&b, header);
	buf_put(&b, data, n);
	int fd = mkstemp(f.path);
	assert_true(fd >= 0 && write(fd, b.at, b.len) == (ssize_t)b.len);
	close(fd);
	buf_free(&b);
	f.dims = dims_new(f.a);
	f.w = weights_open(f.a, f.path, SPAN_NONE, &(struct weights_options){.prefix_at = SPAN_NONE}, f.diags);
	return f;
}

static void add(struct fixture *f, const char *name, dtype elem, int64_t size, bool init)
{
	static struct hir_unit unit;
	struct hir_param *p = &f->params[f->program.n_params++];
	*p = (struct hir_param){.name = name, .dims = f->dims, .init = init ? &unit : NULL, .at = SPAN_NONE};
	p->type = (struct hir_type){.elem = elem, .rank = 1};
	p->type.dims[0] = dim_const(f->dims, size);
}

static bool bind(struct fixture *f, void *init_error)
{
	f->program.params = f->params;
	return weights_bind(f->a, f->w, &f->program, NULL,
			    (struct weights_host){.init = init_ones, .init_hash = init_name, .ctx = init_error}, SPAN_NONE, &f->bound,
			    f->diags);
}

static void done(struct fixture *f)
{
	weights_close(f->w);
	unlink(f->path);
	diags_free(f->diags);
	arena_free(f->a);
}

#define ONE(type, n, bytes) "{\"w\":{\"dtype\":\"" type "\",\"shape\":[" #n "],\"data_offsets\":[0," #bytes "]}}"

static void conversions(void **state)
{
	struct fixture f = open_file(ONE("I8", 3, 3), (int8_t[]){-1, 0, 1}, 3);
	add(&f, "w", DT_TRIT, 3, false);
	assert_true(bind(&f, NULL));
	assert_memory_equal(f.bound.params[0].data, ((int8_t[]){-1, 0, 1}), 3);
	done(&f);
	f = open_file(ONE("F32", 3, 12), (float[]){1, -1, 0}, 12);
	add(&f, "w", DT_TRIT, 3, false);
	assert_true(bind(&f, NULL));
	assert_memory_equal(f.bound.params[0].data, ((int8_t[]){1, -1, 0}), 3);
	done(&f);
	f = open_file(ONE("F16", 2, 4), (uint16_t[]){0x3c00, 0xc100}, 4);
	add(&f, "w", DT_FLOAT32, 2, false);
	assert_true(bind(&f, NULL));
	assert_memory_equal(f.bound.params[0].data, ((float[]){1, -2.5f}), 8);
	done(&f);
	f = open_file(ONE("BF16", 2, 4), (uint16_t[]){0x3f80, 0xc020}, 4);
	add(&f, "w", DT_FLOAT32, 2, false);
	assert_true(bind(&f, NULL));
	assert_memory_equal(f.bound.params[0].data, ((float[]){1, -2.5f}), 8);
	done(&f);
	f = open_file(ONE("I8", 2, 2), (int8_t[]){-100, 100}, 2);
	add(&f, "w", DT_INT64, 2, false);
	assert_true(bind(&f, NULL));
	assert_memory_equal(f.bound.params[0].data, ((int64_t[]){-100, 100}), 16);
	done(&f);
	f = open_file(ONE("U8", 2, 2), (uint8_t[]){200, 7}, 2);
	add(&f, "w", DT_INT16, 2, false);
	assert_true(bind(&f, NULL));
	assert_memory_equal(f.bound.params[0].data, ((int16_t[]){200, 7}), 4);
	done(&f);
}

static void expect(struct fixture *f, enum diag_code code, const char *word)
{
	assert_false(bind(f, NULL));
	assert_int_equal(diags_count(f->diags), 1);
	const struct diag *d = diags_at(f->diags, 0);
	assert_int_equal(d->code, code);
	bool found = strstr(d->message, word) != NULL;
	for (uint32_t i = 0; i < d->n_notes; i++)
		found |= strstr(d->notes[i], word) != NULL;
	if (!found)
		fail_msg("`%s` does not say `%s`", d->message, word);
	done(f);
}

static void misfits(void **state)
{
	struct fixture f = open_file(ONE("I8", 3, 3), (int8_t[]){-1, 2, 1}, 3);
	add(&f, "w", DT_TRIT, 3, false);
	expect(&f, DIAG_WEIGHTS_TRIT, "element [1]");
	f = open_file(ONE("F32", 1, 4), (float[]){0.5f}, 4);
	add(&f, "w", DT_TRIT, 1, false);
	expect(&f, DIAG_WEIGHTS_TRIT, "0.5");
	f = open_file(ONE("F32", 2, 8), (float[]){1, 2}, 8);
	add(&f, "w", DT_FLOAT16, 2, false);
	expect(&f, DIAG_WEIGHTS_DTYPE, "float16");
	f = open_file(ONE("I32", 2, 8), (int32_t[]){1, 2}, 8);
	add(&f, "w", DT_FLOAT32, 2, false);
	expect(&f, DIAG_WEIGHTS_DTYPE, "int32");
	f = open_file(ONE("U16", 2, 4), "abcd", 4);
	add(&f, "w", DT_FLOAT32, 2, false);
	expect(&f, DIAG_WEIGHTS_DTYPE, "U16");
	f = open_file(ONE("U8", 2, 2), "ab", 2);
	add(&f, "w", DT_INT8, 2, false);
	expect(&f, DIAG_WEIGHTS_DTYPE, "uint8");
	f = open_file(ONE("F32", 2, 8), (float[]){1, 2}, 8);
	add(&f, "w", DT_FLOAT32, 3, false);
	expect(&f, DIAG_WEIGHTS_SHAPE, "[3]");
	f = open_file(ONE("F32", 2, 8), (float[]){1, 2}, 8);
	add(&f, "weight", DT_FLOAT32, 2, false);
	add(&f, "v", DT_FLOAT32, 2, false);
	expect(&f, DIAG_WEIGHTS_MISSING, "`v`");
}

static void initial_values(void **state)
{
	struct fixture f = open_file(ONE("F32", 2, 8), (float[]){5, 6}, 8);
	add(&f, "w", DT_FLOAT32, 2, true); /* the file wins */
	add(&f, "v", DT_FLOAT32, 2, true);
	assert_false(bind(&f, NULL));
	assert_int_equal(diags_at(f.diags, 0)->code, DIAG_WEIGHTS_MISSING);
	weights_close(f.w);
	f.w = weights_open(f.a, f.path, SPAN_NONE, &(struct weights_options){.initialize = true, .prefix_at = SPAN_NONE}, f.diags);
	assert_true(bind(&f, NULL));
	assert_memory_equal(f.bound.params[0].data, ((float[]){5, 6}), 8);
	assert_memory_equal(f.bound.params[1].data, ((float[]){1, 1}), 8);
	assert_false(hash_eq(f.bound.hashes[0], f.bound.hashes[1]));
	done(&f);
	f = open_file(ONE("F32", 2, 8), (float[]){5, 6}, 8);
	add(&f, "v", DT_FLOAT32, 2, true);
	weights_close(f.w);
	f.w = NULL;
	assert_false(bind(&f, "no such row"));
	assert_int_equal(diags_at(f.diags, 0)->code, DIAG_WEIGHTS_INIT);
	done(&f);
}

/* Not computed before they are asked for, and named by what they are computed from. */
static void large_initial_values(void **state)
{
	struct tensor t;
	const char *error;
	struct fixture f = open_file(ONE("F32", 2, 8), (float[]){5, 6}, 8);
	add(&f, "a", DT_FLOAT32, WEIGHTS_LARGE / 4 + 1, true);
	add(&f, "b", DT_FLOAT32, WEIGHTS_LARGE / 4 + 1, true);
	weights_close(f.w);
	f.w = NULL;
	assert_true(bind(&f, NULL));
	assert_null(f.bound.params[0].data);
	assert_false(hash_eq(f.bound.hashes[0], f.bound.hashes[1]));
	t = f.bound.params[1];
	assert_true(weights_load(f.a, NULL, &f.program, (struct weights_host){.init = init_ones, .init_hash = init_name, .ctx = NULL}, 1,
				 &t, &error));
	assert_int_equal(tensor_count(&t), WEIGHTS_LARGE / 4 + 1);
	assert_true(((const float *)t.data)[WEIGHTS_LARGE / 4] == 1);
	done(&f);
}

static void large_conversions(void **state)
{
	enum { N = WEIGHTS_LARGE / 4 + 8 };
	static uint16_t halves[N];
	struct tensor t;
	const char *error;
	char header[100];
	snprintf(header, sizeof header, "{\"w\":{\"dtype\":\"BF16\",\"shape\":[%d],\"data_offsets\":[0,%d]}}", N, 2 * N);
	halves[N - 1] = 0xc000; /* -2 */
	struct fixture f = open_file(header, halves, sizeof halves);
	add(&f, "w", DT_FLOAT32, N, false);
	assert_true(bind(&f, NULL));
	assert_null(f.bound.params[0].data);
	t = f.bound.params[0];
	assert_true(weights_load(f.a, f.w, &f.program, (struct weights_host){.init = init_ones, .init_hash = init_name, .ctx = NULL}, 0, &t,
				 &error));
	assert_true(((const float *)t.data)[N - 1] == -2 && ((const float *)t.data)[0] == 0);
	done(&f);
}

static void files_that_cannot_be_used(void **state)
{
	struct fixture f = open_file("{", "", 0);
	assert_null(f.w);
	assert_int_equal(diags_at(f.diags, 0)->code, DIAG_SAFETENSORS);
	unlink(f.path);
	assert_null(weights_open(f.a, f.path, SPAN_NONE, &(struct weights_options){0}, f.diags));
	assert_int_equal(diags_at(f.diags, 1)->code, DIAG_FILE_READ);
	done(&f);
}

/* The first one is found at every place, in whole blocks and in what remains. */
static void infinity_is_found_anywhere(void **state)
{
	enum { COUNT = 2500 };
	static float values[COUNT];
	size_t at;
	assert_true(weights_finite(DT_FLOAT32, values, COUNT, &at));
	for (size_t i = 0; i < COUNT; i++) {
		values[i] = -INFINITY;
		assert_false(weights_finite(DT_FLOAT32, values, COUNT, &at));
		assert_int_equal(at, i);
		assert_true(weights_finite(DT_FLOAT32, values, i, &at));
		if (i + 1 < COUNT)
			values[i + 1] = NAN; /* not the first */
		assert_false(weights_finite(DT_FLOAT32, values, COUNT, &at));
		assert_int_equal(at, i);
		values[i] = 3e38f;
	}
}

/* One reading gives the hash of the file and those of its tensors, with and without elements between them. */
static void digest_of_the_file_and_its_tensors(void **state)
{
	enum { N = 40000, BAD = 39000 };
	static float values[N];
	char header[300];
	values[1] = 2.5f, values[BAD] = NAN;
	snprintf(header, sizeof header,
		 "{\"w\":{\"dtype\":\"F32\",\"shape\":[%d],\"data_offsets\":[12,%d]},\"b\":{\"dtype\":\"BF16\",\"shape\":[6],"
		 "\"data_offsets\":[0,12]},\"e\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[12,12]}}",
		 N - 3, 4 * N);
	struct fixture f = open_file(header, values, sizeof values);
	add(&f, "w", DT_FLOAT32, N - 3, false);
	add(&f, "b", DT_FLOAT32, 6, false);
	add(&f, "e", DT_FLOAT32, 0, false);
	assert_true(bind(&f, NULL));
	struct weights_bound apart = f.bound;
	const struct weights_part *part = &f.w->parts[0];
	assert_true(hash_eq(weights_digest(f.w, 0), hash_bytes(part->bytes, part->len)));
	assert_true(bind(&f, NULL));
	for (int k = 0; k < 3; k++)
		assert_true(hash_eq(f.bound.hashes[k], apart.hashes[k]));
	for (uint32_t k = 0; k < f.w->st->n; k++) {
		const struct file_tensor *t = &f.w->st->tensors[k];
		const struct weights_content *c = &f.w->contents[k];
		assert_int_equal(c->is_known, t->bytes > 0);
		assert_true(!c->is_known || hash_eq(c->hash, hash_bytes(t->data, t->bytes)));
		assert_int_equal(c->is_finite, strcmp(t->name, "b") == 0);
	}
	done(&f);
}

int test_weights(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(infinity_is_found_anywhere),
		cmocka_unit_test(digest_of_the_file_and_its_tensors),
		cmocka_unit_test(conversions),
		cmocka_unit_test(misfits),
		cmocka_unit_test(initial_values),
		cmocka_unit_test(large_initial_values),
		cmocka_unit_test(large_conversions),
		cmocka_unit_test(files_that_cannot_be_used),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
