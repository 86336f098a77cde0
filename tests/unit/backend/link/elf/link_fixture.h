/* For tests of what the linker makes: C text to object with the system's compiler, objects to a library in memory, opened. */
#ifndef TRIB_TESTS_LINK_FIXTURE_H
#define TRIB_TESTS_LINK_FIXTURE_H
#include "tests/unit/unit.h"
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "backend/link/elf/link.h"
#include "backend/link/elf/object.h"
#include "backend/link/model/runtime_objects.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/os.h"

#define CC_FLAGS "-std=c11 -O2 -fPIC -fcf-protection=none -ffunction-sections -fdata-sections "

/* A path of this process in TMPDIR; the caller removes it. */
__attribute__((unused)) static const char *temp_path(struct arena *a, const char *suffix)
{
	static int n;
	const char *dir = getenv("TMPDIR");
	return arena_printf(a, "%s/trib-test-%d-%d%s", dir ? dir : "/tmp", (int)getpid(), n++, suffix);
}

__attribute__((unused)) static void write_file(const char *path, const void *bytes, size_t len)
{
	FILE *f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

__attribute__((unused)) static void run_command(const char *command)
{
	if (system(command) != 0)
		fail_msg("failed: %s", command);
}

/* The bytes of the object file; they live in `a`. */
__attribute__((unused)) static const void *compile_bytes(struct arena *a, const char *text, const char *flags, size_t *len)
{
	const char *c = temp_path(a, ".c"), *o = temp_path(a, ".o");
	char *data;
	write_file(c, text, strlen(text));
	run_command(arena_printf(a, "cc " CC_FLAGS "%s -I" TRIB_SOURCE_DIR " -c %s -o %s", flags, c, o));
	assert_true(os_read_file(o, 0, &data, len));
	char *copy = arena_strndup(a, data, *len);
	free(data);
	unlink(c);
	unlink(o);
	return copy;
}

__attribute__((unused)) static struct object *compile(struct arena *a, const char *name, const char *text)
{
	size_t len;
	const char *error = NULL;
	const void *bytes = compile_bytes(a, text, "", &len);
	struct object *o = object_parse(a, name, bytes, len, &error);
	if (!o)
		fail_msg("%s", error);
	return o;
}

enum { MOST_OBJECTS = 48 }; /* of the runtime */

/* The runtime's objects of one level into objects[0 … MOST_OBJECTS); returns how many. */
__attribute__((unused)) static uint32_t runtime_parse(struct arena *a, enum runtime_level level, struct object **objects)
{
	assert_true(runtime_object_count() <= MOST_OBJECTS);
	for (uint32_t i = 0; i < runtime_object_count(); i++) {
		size_t len;
		const char *error = NULL;
		const void *bytes = runtime_object(level, i, &len);
		objects[i] = object_parse(a, runtime_object_name(i), bytes, len, &error);
		if (!objects[i])
			fail_msg("%s", error);
	}
	return runtime_object_count();
}

__attribute__((unused)) static bool level_runs(enum runtime_level level)
{
	if (level == RUNTIME_V3)
		return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
	if (level == RUNTIME_VNNI)
		return __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
		       __builtin_cpu_supports("avx512dq");
	return true;
}

__attribute__((unused)) static void *open_bytes(struct arena *a, const struct buf *b)
{
	const char *so = temp_path(a, ".so");
	write_file(so, b->at, b->len);
	void *h = dlopen(so, RTLD_NOW | RTLD_LOCAL);
	if (!h)
		fail_msg("%s", dlerror());
	if (!getenv("TRIB_KEEP"))
		unlink(so);
	return h;
}

/* Links and opens; fails the test on any error. */
__attribute__((unused)) static void *link_open(struct arena *a, struct object *const *objects, uint32_t n, const char *const *exports,
					       uint32_t n_exports)
{
	static const char *const needed[] = {"libc.so.6", "libm.so.6"};
	struct link_request r = {"libtest.so", objects, n, exports, n_exports, needed, 2, NULL, 0};
	struct buf out = {0};
	const char *error = NULL;
	if (!link_shared(a, &r, &out, &error))
		fail_msg("%s", error);
	void *h = open_bytes(a, &out);
	buf_free(&out);
	return h;
}

__attribute__((unused)) static void *symbol(void *h, const char *name)
{
	void *p = dlsym(h, name);
	if (!p)
		fail_msg("%s", dlerror());
	return p;
}
#endif
