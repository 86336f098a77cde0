/* The linker: libraries that run, the same outcome as the system's linkers, errors that name what is wrong. */
#include "tests/unit/backend/link/elf/link_fixture.h"
#include "backend/link/elf/object.h"
#include "base/arena.h"
#include <elf.h>
#include "backend/link/elf/link_system.h"

static const char one[] =
	"#include <string.h>\n#include <stdio.h>\n#include <math.h>\n"
	"extern int two_add(int, int); extern int shared_counter; extern const char *two_name(int);\n"
	"extern int maybe(void) __attribute__((weak)); extern double unused_thing(double);\n"
	"static char big[10000]; static int start = 5; static const double factors[] = {0.5, 1.25};\n"
	"int one_sum(int x) { shared_counter++; return two_add(x, start++) + shared_counter; }\n"
	"int one_text(char *out, int n, int x) { memset(big, 'x', sizeof big); return snprintf(out, (size_t)n, \"%s-%d-%c-%.2f\", two_name(x), x, big[9999], factors[x & 1]); }\n"
	"double one_math(double x) { return pow(x, 3.0) + (double)expf((float)x) + tanh(x); }\n"
	"double never_called(double x) { return unused_thing(x); }\n"
	"int one_weak(void) { return maybe ? maybe() : -1; }\n";
static const char two[] = "#include <string.h>\n"
			  "int shared_counter; static int (*const ops[])(int, int); static int plus(int a, int b) { return a + b; }\n"
			  "static int minus(int a, int b) { return a - b; }\n"
			  "static int (*const ops[])(int, int) = {plus, minus}; static const char *const names[] = {\"zero\", \"one\"};\n"
			  "void *(*const copier)(void *, const void *, size_t) = memcpy;\n"
			  "__attribute__((weak)) int twice(int x) { return -x; }\n"
			  "extern int three(int);\n"
			  "int two_add(int a, int b) { int c; copier(&c, &b, sizeof c); return ops[a & 1](a, c) + twice(a) + three(a); }\n"
			  "const char *two_name(int x) { return names[x & 1]; }\n";
static const char three[] = "int twice(int x) { return 2 * x; }\n"
			    "__attribute__((aligned(64))) static const int table[16] = {0, 1, 4, 9, 16, 25, 36, 49};\n"
			    "int three(int x) { return (unsigned long)table % 64 ? -1000 : table[x & 7]; }\n";
static const char *const exports[] = {"one_sum", "one_text", "one_math", "one_weak"};
static const char *const needed[] = {"libc.so.6", "libm.so.6"};

struct outcome {
	int sums[6], weak;
	char text[64];
	double math;
};
static struct outcome use(void *h)
{
	struct outcome o;
	int (*sum)(int), (*text)(char *, int, int), (*weak)(void);
	double (*math)(double);
	memset(&o, 0, sizeof o);
	*(void **)&sum = symbol(h, "one_sum");
	*(void **)&text = symbol(h, "one_text");
	*(void **)&math = symbol(h, "one_math");
	*(void **)&weak = symbol(h, "one_weak");
	for (int i = 0; i < 6; i++)
		o.sums[i] = sum(i);
	text(o.text, sizeof o.text, 1);
	o.math = math(1.5);
	o.weak = weak();
	dlclose(h);
	return o;
}

static struct object *const *three_objects(struct arena *a)
{
	struct object **o = ARENA_ARRAY(a, struct object *, 3);
	o[0] = compile(a, "one.o", one);
	o[1] = compile(a, "two.o", two);
	o[2] = compile(a, "three.o", three);
	return o;
}

static void runs(void **state)
{
	struct arena *a = arena_new(0);
	struct outcome o = use(link_open(a, three_objects(a), 3, exports, 4));
	assert_int_equal(o.sums[0], 0 + 5 + 0 + 0 + 1);
	assert_int_equal(o.sums[1], 1 - 6 + 2 + 1 + 2);
	assert_string_equal(o.text, "one-1-x-1.25");
	assert_true(o.math > 8.7 && o.math < 8.8);
	assert_int_equal(o.weak, -1);
	arena_free(a);
}

/* The same objects through object_write and a system linker behave the same. */
static void check_system(struct arena *a, const struct link_request *r, const char *cc, const char *flag, const struct outcome *want)
{
	const char *paths[3], *script = temp_path(a, ".map"), *so = temp_path(a, ".so");
	struct buf text = {0}, command = {0};
	for (uint32_t i = 0; i < 3; i++) {
		struct buf b = {0};
		object_write(r->objects[i], &b);
		paths[i] = temp_path(a, ".o");
		write_file(paths[i], b.at, b.len);
		buf_free(&b);
	}
	link_version_script(r, &text);
	write_file(script, text.at, text.len);
	const char *const *argv = link_system_command(a, r, cc, paths, script, so);
	for (uint32_t i = 0; argv[i]; i++)
		buf_printf(&command, "%s ", argv[i]);
	buf_puts(&command, flag);
	run_command(command.at);
	void *h = dlopen(so, RTLD_NOW | RTLD_LOCAL);
	if (!h)
		fail_msg("%s", dlerror());
	struct outcome got = use(h);
	assert_memory_equal(&got, want, sizeof got);
	for (uint32_t i = 0; i < 3; i++)
		unlink(paths[i]);
	unlink(script);
	unlink(so);
	buf_free(&text);
	buf_free(&command);
}
static void agrees_with_system_linkers(void **state)
{
	struct arena *a = arena_new(0);
	struct link_request r = {"libtest.so", three_objects(a), 3, exports, 4, needed, 2, NULL, 0};
	struct outcome want = use(link_open(a, r.objects, 3, exports, 4));
	check_system(a, &r, "cc", "", &want);
	if (system("command -v ld.lld >/dev/null 2>&1") == 0)
		check_system(a, &r, "cc", "-fuse-ld=lld", &want);
	arena_free(a);
}

static void expect_error(struct arena *a, const struct link_request *r, const char *first, const char *second)
{
	struct buf out = {0};
	const char *error = NULL;
	assert_false(link_shared(a, r, &out, &error));
	assert_int_equal(out.len, 0);
	if (!strstr(error, first) || !strstr(error, second))
		fail_msg("%s", error);
	buf_free(&out);
}
static void errors(void **state)
{
	struct arena *a = arena_new(0);
	struct object *o[4];
	static const char *const f[] = {"f"}, *const missing[] = {"g"};
	memcpy(o, three_objects(a), 3 * sizeof *o);
	o[3] = o[2];
	expect_error(a, &(struct link_request){"x", o, 4, exports, 4, needed, 2, NULL, 0}, "twice", "three.o");
	expect_error(a, &(struct link_request){"x", o, 2, exports, 4, needed, 2, NULL, 0}, "three", "two.o");
	expect_error(a, &(struct link_request){"x", o, 3, exports, 4, NULL, 0, NULL, 0}, "undefined symbol", "o");
	expect_error(a, &(struct link_request){"x", o, 3, missing, 1, needed, 2, NULL, 0}, "exported symbol g", "not defined");
	o[0] = compile(a, "f.o", "extern int pthread_cond_wait(void *, void *); int f(void) { return pthread_cond_wait(0, 0); }");
	expect_error(a, &(struct link_request){"x", o, 1, f, 1, needed, 2, NULL, 0}, "pthread_cond_wait", "f.o");
	o[0] = object_new(a, "hand.o");
	static const unsigned char code[16] = {0};
	uint32_t text = object_section(o[0], SECTION_TEXT, ".text", code, 16, 16), sym = object_symbol(o[0], "f", text, 0, 16, true, true);
	object_reloc(o[0], text, 0, sym, RELOC_ABS64, 0);
	expect_error(a, &(struct link_request){"x", o, 1, f, 1, NULL, 0, NULL, 0}, "absolute", "hand.o");
	o[0]->relocs[0].kind = RELOC_ABS32S;
	expect_error(a, &(struct link_request){"x", o, 1, f, 1, NULL, 0, NULL, 0}, "-fPIC", "hand.o");
	arena_free(a);
}

static uint64_t elf_word(const struct buf *b, size_t at)
{
	uint64_t v;
	memcpy(&v, b->at + at, 8);
	return v;
}

static void image_is_sound(void **state)
{
	struct arena *a = arena_new(0);
	struct buf out = {0}, again = {0};
	struct link_request r = {"libtest.so", three_objects(a), 3, exports, 4, needed, 2, NULL, 0};
	const char *error = NULL, *so = temp_path(a, ".so");
	assert_true(link_shared(a, &r, &out, &error));
	assert_true(link_shared(a, &r, &again, &error));
	assert_int_equal(out.len, again.len);
	assert_memory_equal(out.at, again.at, out.len);
	bool relro = false;
	for (size_t p = elf_word(&out, 32), i = 0; i < 6; i++, p += sizeof(Elf64_Phdr)) {
		Elf64_Phdr h;
		memcpy(&h, out.at + p, sizeof h);
		assert_false((h.p_flags & PF_W) && (h.p_flags & PF_X));
		relro |= h.p_type == PT_GNU_RELRO;
	}
	assert_true(relro);
	assert_null(memmem(out.at, out.len, "never_called", 12)); /* collected */
	write_file(so, out.at, out.len);
	if (system("command -v readelf >/dev/null 2>&1") == 0) {
		run_command(arena_printf(a, "! readelf -aW %s 2>&1 | grep -iE 'warning|error|corrupt|<unknown'", so));
		run_command(arena_printf(a, "test \"$(nm -D --defined-only %s | wc -l)\" = 4", so));
		run_command(arena_printf(a, "objdump -d %s | grep -q '<one_sum>:'", so));
	}
	unlink(so);
	buf_free(&out);
	buf_free(&again);
	arena_free(a);
}

/* Weights are in the file before it is linked: `out` has what surrounds them. */
static void weights_come_first(void **state)
{
	enum { N = 5000, GAP = 8192 };
	static const char *const names[] = {"table"};
	static char weights[GAP];
	struct arena *a = arena_new(0);
	struct object *o = object_new(a, "model");
	struct buf out = {0}, file = {0};
	const char *error = NULL, *so = temp_path(a, ".so");
	uint32_t all = object_section(o, SECTION_WEIGHTS, ".weights", NULL, N, 64);
	uint32_t blob = object_symbol(o, "", all, 4992, 8, false, false);
	uint32_t table = object_section(o, SECTION_RELRO, ".data.rel.ro.table", "\0\0\0\0\0\0\0", 8, 8);
	object_reloc(o, table, 0, blob, RELOC_ABS64, 0);
	object_symbol(o, "table", table, 0, 8, true, false);
	strcpy(weights + 4992, "weights");
	assert_true(link_shared(a, &(struct link_request){"x", &o, 1, names, 1, needed, 2, NULL, N}, &out, &error));
	buf_put(&file, out.at, LINK_WEIGHTS_AT);
	buf_put(&file, weights, GAP);
	buf_put(&file, out.at + LINK_WEIGHTS_AT, out.len - LINK_WEIGHTS_AT);
	void *h = open_bytes(a, &file);
	assert_string_equal(*(const char **)symbol(h, "table"), "weights");
	dlclose(h);
	write_file(so, file.at, file.len);
	if (system("command -v readelf >/dev/null 2>&1") == 0)
		run_command(arena_printf(a, "! readelf -aW %s 2>&1 | grep -iE 'warning|error|corrupt|<unknown'", so));
	unlink(so);
	buf_free(&out);
	buf_free(&file);
	arena_free(a);
}

/* A library without code, or with nothing at all but an exported variable, loads. */
static void odd_shapes(void **state)
{
	struct arena *a = arena_new(0);
	static const char *const v[] = {"value"};
	struct object *o[1] = {compile(a, "v.o", "const int value = 42;")};
	void *h = link_open(a, o, 1, v, 1);
	assert_int_equal(*(int *)symbol(h, "value"), 42);
	dlclose(h);
	o[0] = compile(a, "b.o", "int value;");
	h = link_open(a, o, 1, v, 1);
	*(int *)symbol(h, "value") = 3;
	dlclose(h);
	static const unsigned char word[8] = {0}; /* an address in read-only data */
	o[0] = object_new(a, "hand.o");
	uint32_t s = object_section(o[0], SECTION_RODATA, ".rodata", word, 8, 8), sym = object_symbol(o[0], "value", s, 0, 8, true, false);
	object_reloc(o[0], s, 0, sym, RELOC_ABS64, 4);
	h = link_open(a, o, 1, v, 1);
	assert_ptr_equal(*(char **)symbol(h, "value"), (char *)symbol(h, "value") + 4);
	dlclose(h);
	o[0] = object_new(a, "none.o");
	h = link_open(a, o, 1, v, 0);
	dlclose(h);
	arena_free(a);
}

/* Twenty objects and a runtime: printed, for comparison with a target of 0.3 ms. */
static void speed(void **state)
{
	struct arena *a = arena_new(0);
	size_t len[20];
	const void *bytes[20];
	const char *names[24] = {0}, *error = NULL;
	int64_t best = INT64_MAX;
	for (int i = 0; i < 20; i++) {
		names[i] = arena_printf(a, "unit%d", i);
		bytes[i] = compile_bytes(
			a,
			arena_printf(a,
				     "#include <string.h>\nextern int unit%d(int); int v%d[100] = {1};\n"
				     "int unit%d(int x) { char b[200]; memset(b, x, 200); return x ? %s(x - 1) + v%d[x] + b[x] : 0; }",
				     (i + 1) % 20, i, i, arena_printf(a, "unit%d", (i + 1) % 20), i),
			"", &len[i]);
	}
	names[20] = "tri_model_open", names[21] = "tri_model_run", names[22] = "tri_model_close", names[23] = "tri_matmul_i8_trit2";
	for (int run = 0; run < 50; run++) {
		struct arena *scratch = arena_new(1 << 18);
		struct object *o[20 + MOST_OBJECTS];
		struct buf out = {0};
		int64_t start = os_now_ns();
		for (int i = 0; i < 20; i++)
			o[i] = object_parse(scratch, names[i], bytes[i], len[i], &error);
		uint32_t n = 20 + runtime_parse(scratch, RUNTIME_V3, o + 20);
		assert_true(link_shared(scratch, &(struct link_request){"x", o, n, names, 24, needed, 2, NULL, 0}, &out, &error));
		int64_t took = os_now_ns() - start;
		best = took < best ? took : best;
		buf_free(&out);
		arena_free(scratch);
	}
	print_message("20 objects and the runtime parsed and linked: %.3f ms\n", (double)best / 1e6);
	arena_free(a);
}

int test_link(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs),       cmocka_unit_test(agrees_with_system_linkers),
		cmocka_unit_test(errors),     cmocka_unit_test(image_is_sound),
		cmocka_unit_test(odd_shapes), cmocka_unit_test(weights_come_first),
		cmocka_unit_test(speed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
