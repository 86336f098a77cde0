/* Reading and writing relocatable objects: what compilers make, and files that lie. */
#include "tests/unit/backend/link/elf/link_fixture.h"
#include "backend/link/elf/object.h"
#include "base/arena.h"
#include <elf.h>

static const char everything[] =
	"#include <string.h>\n"
	"extern int other(int); extern int weak_one(void) __attribute__((weak)); extern int far_data;\n"
	"int common_one; static int counter; int data_one = 7; const char *const names[] = {\"a\", \"bb\"};\n"
	"const int table[4] = {1, 2, 3, 4};\n"
	"static int local(int x) { return x + counter++; }\n"
	"int (*const pointers[])(int) = {local, other};\n"
	"int top(int x, char *d, const char *s) { memcpy(d, s, (unsigned long)x); return local(other(x)) + table[x & 3] + far_data + data_one +\n"
	"  common_one + (int)strlen(names[x & 1]) + (weak_one ? weak_one() : 0) + pointers[x & 1](x); }\n";

static const struct obj_symbol *find(const struct object *o, const char *name)
{
	for (uint32_t i = 0; i < o->n_symbols; i++)
		if (strcmp(o->symbols[i].name, name) == 0)
			return &o->symbols[i];
	fail_msg("no symbol %s", name);
	return NULL;
}
static enum section_kind kind(const struct object *o, const char *name) { return o->sections[find(o, name)->section].kind; }

static void check_everything(struct arena *a, const char *flags)
{
	size_t len;
	const char *error = NULL;
	const void *bytes = compile_bytes(a, everything, flags, &len);
	struct object *o = object_parse(a, "x.o", bytes, len, &error);
	if (!o)
		fail_msg("%s", error);
	assert_int_equal(kind(o, "top"), SECTION_TEXT);
	assert_true(find(o, "top")->function && find(o, "top")->global);
	assert_int_equal(kind(o, "data_one"), SECTION_DATA);
	assert_int_equal(kind(o, "table"), SECTION_RODATA);
	assert_int_equal(kind(o, "names"), SECTION_RELRO);
	assert_int_equal(kind(o, "common_one"), SECTION_BSS);
	assert_int_equal(find(o, "other")->section, OBJ_UNDEFINED);
	assert_true(find(o, "weak_one")->weak);
	for (uint32_t i = 0; i < o->n_sections; i++)
		assert_null(strstr(o->sections[i].name, "eh_frame"));

	struct buf out = {0}, again = {0}; /* writing and reading changes nothing */
	object_write(o, &out);
	struct object *copy = object_parse(a, "copy.o", out.at, out.len, &error);
	if (!copy)
		fail_msg("%s", error);
	assert_int_equal(copy->n_sections, o->n_sections);
	assert_int_equal(copy->n_symbols, o->n_symbols);
	assert_int_equal(copy->n_relocs, o->n_relocs);
	for (uint32_t i = 0; i < o->n_sections; i++) {
		assert_string_equal(copy->sections[i].name, o->sections[i].name);
		assert_int_equal(copy->sections[i].kind, o->sections[i].kind);
		assert_int_equal(copy->sections[i].size, o->sections[i].size);
	}
	object_write(copy, &again);
	assert_int_equal(out.len, again.len);
	assert_memory_equal(out.at, again.at, out.len);
	buf_free(&out);
	buf_free(&again);
}

static void compilers_objects(void **state)
{
	struct arena *a = arena_new(0);
	check_everything(a, "");
	check_everything(a, "-O0 -g");
	check_everything(a, "-fcommon -fno-plt");
	check_everything(a, "-fasynchronous-unwind-tables -fstack-clash-protection");
	arena_free(a);
}

static void refused(struct arena *a, const char *text, const char *flags, const char *why)
{
	size_t len;
	const char *error = NULL;
	const void *bytes = compile_bytes(a, text, flags, &len);
	assert_null(object_parse(a, "bad.o", bytes, len, &error));
	assert_non_null(strstr(error, "bad.o"));
	if (!strstr(error, why))
		fail_msg("%s", error);
}
static void what_cannot_be_honoured(void **state)
{
	struct arena *a = arena_new(0);
	const char *error = NULL;
	refused(a, "int x; __attribute__((constructor)) static void f(void) { x = 1; }", "", "constructors");
	refused(a, "__thread int x; int f(void) { return x++; }", "", "thread-local");
	refused(a, "extern int y; int f(void) { return y; }", "-m32 -fno-pic -c -x c", "64-bit");
	assert_null(object_parse(a, "empty", "", 0, &error));
	assert_null(object_parse(a, "text", "hello, this is no object file; it only has enough bytes to look at as a header", 78, &error));
	arena_free(a);
}

static void relocations_stay_inside(void **state)
{
	static const unsigned char code[16] = {0};
	for (uint64_t offset = 8; offset < 18; offset++) {
		struct arena *a = arena_new(0);
		struct object *o = object_new(a, "edge.o");
		struct buf out = {0};
		const char *error = NULL;
		uint32_t s = object_section(o, SECTION_RODATA, ".rodata.a", code, sizeof code, 8),
			 sym = object_symbol(o, "f", s, 0, 16, true, false);
		object_reloc(o, s, offset, sym, offset % 2 ? RELOC_PC32 : RELOC_ABS64, 0);
		object_write(o, &out);
		assert_true((object_parse(a, "edge.o", out.at, out.len, &error) != NULL) == (offset <= (offset % 2 ? 12 : 8)));
		buf_free(&out);
		arena_free(a);
	}
}

/* Every truncation, and every byte changed in several ways: an object or an error, and an object that is used stays within its bytes. */
static void try(const void *bytes, size_t len)
{
	struct arena *a = arena_new(0);
	const char *error = NULL;
	struct object *o = object_parse(a, "x", bytes, len, &error);
	assert_true(o || error);
	if (o) {
		static const char *const exports[] = {"top"};
		struct link_request r = {"x", &o, 1, exports, 1, exports, 1, NULL, 0};
		struct buf out = {0};
		if (!link_shared(a, &r, &out, &error))
			assert_non_null(error);
		buf_free(&out);
	}
	arena_free(a);
}
static void damaged(void **state)
{
	struct arena *a = arena_new(0);
	size_t len;
	static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff};
	const void *bytes = compile_bytes(a, everything, "-Os", &len);
	for (size_t cut = 0; cut < len; cut++) {
		unsigned char *exact = malloc(cut + 1); /* so that the sanitizer sees a read behind it */
		memcpy(exact, bytes, cut);
		unsigned char *shifted = realloc(exact, cut ? cut : 1);
		try(shifted, cut);
		free(shifted);
	}
	unsigned char *copy = malloc(len);
	memcpy(copy, bytes, len);
	for (size_t i = 0; i < len; i++) {
		unsigned char old = copy[i];
		for (size_t v = 0; v < sizeof values; v++) {
			copy[i] = values[v];
			try(copy, len);
		}
		copy[i] = old;
	}
	free(copy);
	arena_free(a);
}

int test_object(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compilers_objects),
		cmocka_unit_test(what_cannot_be_honoured),
		cmocka_unit_test(relocations_stay_inside),
		cmocka_unit_test(damaged),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
