/* Compiling loop IR in a test: the code generator's module, the system linker, and stand-ins for the micro-kernels in plain C. */
#ifndef TRIB_TESTS_CODEGEN_NATIVE_H
#define TRIB_TESTS_CODEGEN_NATIVE_H
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "backend/loops/ir/loops.h"
#include "backend/target/codegen.h"
#include "base/buf.h"

static const char native_stub[] =
	"#include <stdint.h>\n"
	"int64_t fails, fail_value, fail_bound;\n"
	"void tri_fail(void *c, int32_t code, int64_t v, int64_t b) { (void)c; (void)code; if (!fails++) { fail_value = v; fail_bound = b; } }\n"
	"void tri_fail_at(void *c, int64_t v, int64_t b, uint64_t place) { (void)place; tri_fail(c, 0, v, b); }\n"
	"void tri_parallel(void *c, void (*fn)(void *, int64_t), void *arg, int64_t n) { (void)c; for (int64_t i = 0; i < n; i++) fn(arg, i); }\n"
	"void tri_transpose(void *c, void *const *b, const int64_t *d) { (void)c; const char *x = b[0]; char *y = b[1];\n"
	"  for (int64_t i = 0; i < d[0] * d[1] * d[2]; i++) for (int64_t k = 0; k < d[3]; k++)\n"
	"    y[((i / d[2] / d[1] * d[2] + i % d[2]) * d[1] + i / d[2] % d[1]) * d[3] + k] = x[i * d[3] + k]; }\n"
	"struct tri_epilogue;\n"
	"typedef void epilogue_fn(const struct tri_epilogue *e, const void *tile, int64_t stride, const int64_t at[3], int64_t rows, int64_t n);\n"
	"struct tri_epilogue { epilogue_fn *fn; void *const *unit; epilogue_fn *by_columns; };\n"
	"void tri_epilogue_by_columns(const struct tri_epilogue *e, const void *tile, int64_t stride, const int64_t at[3], int64_t rows,\n"
	"  int64_t n) { const int32_t *x = tile; int32_t t[rows * n + 1];\n"
	"  for (int64_t i = 0; i < rows; i++) for (int64_t k = 0; k < n; k++) t[k * rows + i] = x[i * stride + k];\n"
	"  e->by_columns(e, t, rows, at, rows, n); }\n"
	"#define MATMUL(name, X, W, Y, A) void name(void *c, void *const *b, const int64_t *d, const struct tri_epilogue *e) { (void)c;\\\n"
	"  const X *x = b[0]; const W *w = b[1]; Y row[d[2] + 1];\\\n"
	"  for (int64_t m = 0; m < d[0]; m++) { Y *y = e ? row : (Y *)b[2] + m * d[2];\\\n"
	"    for (int64_t n = 0; n < d[2]; n++) { A s = 0;\\\n"
	"      for (int64_t k = 0; k < d[1]; k++) s += (A)x[m * d[1] + k] * w[k * d[2] + n];\\\n"
	"      y[n] = (Y)s; }\\\n"
	"    if (e) e->fn(e, row, d[2], (int64_t[]){0, m, 0}, 1, d[2]); } }\n"
	"MATMUL(tri_matmul_i8_trit2, int8_t, int8_t, int32_t, int32_t)\n"
	"MATMUL(tri_matmul_f32_trit2, float, int8_t, float, double)\n"
	"MATMUL(tri_matmul_f32, float, float, float, double)\n";

struct native {
	char dir[64];
	uint32_t n_objects;
	void *library;
	const struct codegen_api *api;
};

static inline const struct codegen_api *native_api(void)
{
	void *module = dlopen(TRIB_BINARY_DIR "/lib/trib/libtrib-codegen.so", RTLD_NOW | RTLD_LOCAL);
	if (!module) {
		fprintf(stderr, "%s\n", dlerror());
		return NULL;
	}
	codegen_entry_fn *entry;
	*(void **)&entry = dlsym(module, CODEGEN_ENTRY);
	return entry();
}

static inline bool native_write(const char *path, const void *bytes, size_t n)
{
	FILE *f = fopen(path, "wb");
	bool ok = f && fwrite(bytes, 1, n, f) == n;
	return f && fclose(f) == 0 && ok;
}

static inline bool native_begin(struct native *n)
{
	memset(n, 0, sizeof *n);
	n->api = native_api();
	strcpy(n->dir, "/tmp/trib-codegen-XXXXXX");
	char path[128];
	if (!n->api || !mkdtemp(n->dir))
		return false;
	snprintf(path, sizeof path, "%s/stub.c", n->dir);
	return native_write(path, native_stub, sizeof native_stub - 1);
}

static inline bool native_add(struct native *n, const struct codegen_target *t, const struct loop_fn *f)
{
	struct buf object = {0}, error = {0};
	char path[128];
	struct codegen *c = n->api->open(t, &error);
	bool ok = c && n->api->compile(c, f, &object, &error);
	snprintf(path, sizeof path, "%s/%u.o", n->dir, n->n_objects++);
	ok = ok && native_write(path, object.at, object.len);
	if (!ok)
		fprintf(stderr, "%s\n", error.at ? error.at : "cannot write");
	n->api->close(c);
	buf_free(&object);
	buf_free(&error);
	return ok;
}

static inline bool native_link(struct native *n)
{
	char command[256], path[128];
	snprintf(command, sizeof command, "cd %s && cc -O1 -shared -fPIC -o all.so stub.c *.o -lm", n->dir);
	if (system(command) != 0)
		return false;
	snprintf(path, sizeof path, "%s/all.so", n->dir);
	n->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!n->library)
		fprintf(stderr, "%s\n", dlerror());
	return n->library != NULL;
}

static inline void native_end(struct native *n)
{
	char command[128];
	if (n->library)
		dlclose(n->library);
	snprintf(command, sizeof command, "rm -rf %s", n->dir);
	if (getenv("TRIB_KEEP") == NULL && system(command) != 0)
		fprintf(stderr, "cannot remove %s\n", n->dir);
}
#endif
