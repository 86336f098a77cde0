/* The manifest: blocks, values, variables, includes, and the errors of each. */
#include "builder/manifest/manifest.h"
#include "tests/unit/unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"

/* A fake disk of at most three files. */
struct disk {
	struct sources *sources;
	const char *names[3], *texts[3];
	const struct source *loaded[3];
};

static const struct source *load(void *ctx, const char *path)
{
	struct disk *d = ctx;
	for (int i = 0; i < 3; i++) {
		if (!d->names[i] || strcmp(d->names[i], path) != 0)
			continue;
		if (!d->loaded[i])
			d->loaded[i] = sources_add(d->sources, path, d->texts[i], strlen(d->texts[i]));
		return d->loaded[i];
	}
	return NULL;
}

struct fixture {
	struct arena *a;
	struct diags *diags;
	struct disk disk;
	struct manifest *m;
};

static void read_all(struct fixture *f)
{
	f->a = arena_new(0);
	f->diags = diags_new(0);
	f->disk.sources = sources_new();
	f->m = manifest_read(f->a, (struct frontend_host){load, &f->disk}, "tri.build", f->diags);
}

static struct fixture read_text(const char *text)
{
	struct fixture f = {.disk = {.names = {"tri.build"}, .texts = {text}}};
	read_all(&f);
	return f;
}

static void done(struct fixture *f)
{
	diags_free(f->diags);
	sources_free(f->disk.sources);
	arena_free(f->a);
}

static void expect_errors(const char *text, const char *codes)
{
	struct fixture f = read_text(text);
	char got[256] = "";
	diags_sort(f.diags);
	for (uint32_t i = 0; i < diags_count(f.diags); i++) {
		strcat(got, i ? " " : "");
		strcat(got, diag_code_text(diags_at(f.diags, i)->code));
	}
	assert_string_equal(got, codes);
	done(&f);
}

static const char *value(const struct fixture *f, enum manifest_block_kind kind, const char *name, enum manifest_key key)
{
	const struct manifest_value *v = manifest_get(manifest_find(f->m, kind, name), key);
	return v ? v->text : NULL;
}

static void example(void **state)
{
	struct fixture f = read_text("project digits\n    version = 1.0\n\n"
				     "model digits\n    sources = src/*.tri more.tri\n    entry   = Net.prefill Net.decode\n"
				     "    weights = w.safetensors # the weights\n    weights.names = a b\n    input x = float32 [?, 64]\n"
				     "    input s = int32\n    emit    = library header\n    opt     = s\n    cpu = native\n\n"
				     "profile ci\n    jobs = 8\n    opt = 1\n    timing = yes\n\n"
				     "cache\n    max_size = 4GiB\n    read_only = true\n\n"
				     "dependency blocks\n    git = ../blocks.git\n    rev = v1.2\n");
	assert_int_equal(diags_errors(f.diags), 0);
	assert_int_equal(f.m->n_blocks, 5);
	const struct manifest_block *m = manifest_find(f.m, BLOCK_MODEL, "digits");
	assert_non_null(m);
	const struct manifest_value *v = manifest_get(m, KEY_SOURCES);
	assert_int_equal(v->n_words, 2);
	assert_string_equal(v->words[1], "more.tri");
	assert_string_equal(manifest_get(m, KEY_ENTRY)->words[1], "Net.decode");
	assert_string_equal(manifest_get(m, KEY_WEIGHTS)->text, "w.safetensors");
	v = manifest_get(m, KEY_INPUT);
	assert_string_equal(v->input->name, "x");
	assert_int_equal(v->input->rank, 2);
	assert_int_equal(v->input->dims[0], DIM_DYNAMIC);
	assert_int_equal(v->input->dims[1], 64);
	assert_int_equal(v->input->elem, DT_FLOAT32);
	assert_int_equal(v[1].input->rank, 0);
	assert_int_equal(manifest_get(m, KEY_EMIT)->number, 1u << EMIT_LIBRARY | 1u << EMIT_HEADER);
	assert_int_equal(manifest_get(m, KEY_OPT)->number, MANIFEST_OPT_SIZE);
	assert_int_equal(manifest_get(manifest_find(f.m, BLOCK_PROFILE, "ci"), KEY_TIMING)->number, 1);
	assert_true(manifest_get(manifest_find(f.m, BLOCK_CACHE, NULL), KEY_MAX_SIZE)->number == 4ull << 30);
	assert_string_equal(value(&f, BLOCK_DEPENDENCY, "blocks", KEY_REV), "v1.2");
	done(&f);
}

static void variables(void **state)
{
	struct fixture f =
		read_text("dir = weights\nname = digits\nfile = $dir/${name}.st\ncost = 5$$\n"
			  "model m\n    sources = a$ b.tri c.tri\n    entry = E\n    weights = $file\n    out = $cost$\n        more\n");
	assert_int_equal(diags_count(f.diags), 0);
	assert_string_equal(value(&f, BLOCK_MODEL, "m", KEY_WEIGHTS), "weights/digits.st");
	assert_string_equal(value(&f, BLOCK_MODEL, "m", KEY_OUT), "5$more");
	const struct manifest_value *v = manifest_get(manifest_find(f.m, BLOCK_MODEL, "m"), KEY_SOURCES);
	assert_int_equal(v->n_words, 2);
	assert_string_equal(v->words[0], "a b.tri");
	done(&f);
}

static void includes(void **state)
{
	struct fixture f = {
		.disk = {.names = {"tri.build", "sub/one.build", "sub/two.build"},
			 .texts = {"include sub/one.build\nmodel m\n    cpu = $level\n", "include two.build\n", "level = native\n"}}};
	read_all(&f);
	assert_int_equal(diags_count(f.diags), 0);
	assert_string_equal(value(&f, BLOCK_MODEL, "m", KEY_CPU), "native");
	done(&f);
	f = (struct fixture){.disk = {.names = {"tri.build", "one.build"}, .texts = {"include one.build\n", "include tri.build\n"}}};
	read_all(&f);
	assert_int_equal(diags_errors(f.diags), 1);
	assert_int_equal(diags_at(f.diags, 0)->code, DIAG_MANIFEST_INCLUDE);
	done(&f);
	expect_errors("include nowhere.build\n", "E0707");
}

static void errors(void **state)
{
	expect_errors("", "");
	expect_errors("modl m\n    entry = E\n", "E0702");
	expect_errors("model m\n    wieghts = f\n", "E0703");
	expect_errors("model m\n    remote = f\n", "E0703");
	expect_errors("model m\n    opt = 7\n    cpu =\n    emit = libary\n", "E0704 E0704 E0704");
	expect_errors("model m\n    input x = float31 [2]\n", "E0704");
	expect_errors("model m\n    input x = float32 [2, -1]\n    input y = float32 [1\n    input z = int8 [] x\n", "E0704 E0704 E0704");
	expect_errors("model m\n    input = float32\n", "E0701");
	expect_errors("model m\n    opt = 1\n    opt = 2\n", "E0705");
	expect_errors("model m\n    input x = int8\n    input x = int8\n", "E0705");
	expect_errors("model m\nmodel m\nproject a\nproject b\n", "E0705 E0705");
	expect_errors("model m\n    cpu = $nothing\n", "E0706");
	expect_errors("a = $\nb = ${x\n", "E0701");
	expect_errors("model 3d\nmodel two words\nmodel\n", "E0709 E0701 E0701");
	expect_errors("model double\nmodel tri\nmodel tri_error\nmodel doubles\nmodel tritium\n", "E0709 E0709 E0709");
	expect_errors(
		"model TRI_OK\nmodel uint8_t\nmodel INT8_C\nmodel size_t\nmodel NULL\nmodel NAN\nmodel linux\nmodel integer\nmodel INT_t\n",
		"E0709 E0709 E0709 E0709 E0709 E0709 E0709");
	expect_errors("    opt = 1\n", "E0701");
	expect_errors("model m\n    entry = \x01\n", "E0701");
	expect_errors("profile p\n    jobs = 0\n    timing = perhaps\ncache\n    max_size = many\n", "E0704 E0704 E0704");
}

static void nearest_key_is_an_edit(void **state)
{
	struct fixture f = read_text("model m\n    wieghts = f\n");
	const struct diag *d = diags_at(f.diags, 0);
	assert_string_equal(d->replacement, "weights");
	assert_int_equal(d->edit.start, 12);
	assert_int_equal(d->edit.end, 19);
	done(&f);
}

static void sizes(void **state)
{
	uint64_t n;
	assert_true(manifest_parse_size("512", &n) && n == 512);
	assert_true(manifest_parse_size("64KiB", &n) && n == 65536);
	assert_true(manifest_parse_size("1GB", &n) && n == 1000000000);
	assert_false(manifest_parse_size("1XB", &n));
	assert_false(manifest_parse_size("-1", &n));
	assert_false(manifest_parse_size("99999999999999TiB", &n));
}

int test_manifest(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(example),
		cmocka_unit_test(variables),
		cmocka_unit_test(includes),
		cmocka_unit_test(errors),
		cmocka_unit_test(nearest_key_is_an_edit),
		cmocka_unit_test(sizes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
