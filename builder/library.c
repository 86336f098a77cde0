#include "builder/library.h"
#include <dlfcn.h>
#include <string.h>
#include "base/arena.h"
#include "base/path.h"

enum { STACK = 64 };

static int64_t floordiv(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

bool library_extent(const tri_dim_desc *d, const int64_t *syms, int32_t n, int64_t *value)
{
	int64_t stack[STACK];
	int top = 0;
	for (int32_t i = 0; i < d->n_steps; i++) {
		const tri_dim_step *s = &d->steps[i];
		if (s->op == TRI_DIM_CONST || s->op == TRI_DIM_SYM) {
			if (top == STACK || (s->op == TRI_DIM_SYM && (s->value < 0 || s->value >= n)))
				return false;
			stack[top++] = s->op == TRI_DIM_CONST ? s->value : syms[s->value];
			continue;
		}
		if (top < 2)
			return false;
		int64_t b = stack[--top], a = stack[--top];
		if ((s->op == TRI_DIM_FLOORDIV || s->op == TRI_DIM_MOD) && b == 0)
			return false;
		switch (s->op) {
		case TRI_DIM_ADD:
			a += b;
			break;
		case TRI_DIM_MUL:
			a *= b;
			break;
		case TRI_DIM_FLOORDIV:
			a = floordiv(a, b);
			break;
		case TRI_DIM_MOD:
			a -= floordiv(a, b) * b;
			break;
		default:
			return false;
		}
		stack[top++] = a;
	}
	*value = top == 1 ? stack[0] : 0;
	return top == 1;
}

/* libdigits.so and libdigits_opencl.so → digits_desc */
static const char *symbol_name(struct arena *a, const char *path)
{
	char *stem = path_stem(a, path);
	size_t n = strlen(stem), suffix = strlen("_opencl");
	if (n > suffix && strcmp(stem + n - suffix, "_opencl") == 0)
		stem[n - suffix] = 0;
	return arena_printf(a, "%s_desc", strncmp(stem, "lib", 3) == 0 ? stem + 3 : stem);
}

bool library_open(struct arena *a, const char *path, struct library *out, const char **error)
{
	const char *full = strchr(path, '/') ? path : arena_printf(a, "./%s", path), *symbol = symbol_name(a, path);
	*out = (struct library){.handle = dlopen(full, RTLD_NOW | RTLD_LOCAL)};
	if (!out->handle) {
		*error = arena_strdup(a, dlerror());
		return false;
	}
	out->desc = dlsym(out->handle, symbol);
	if (!out->desc)
		*error = arena_printf(a, "%s has no `%s`: it was not made by trib, or was renamed", path, symbol);
	else if (out->desc->abi != TRI_ABI)
		*error = arena_printf(a, "%s has interface version %u, this trib knows %d", path, out->desc->abi, TRI_ABI);
	else
		return true;
	library_close(out);
	return false;
}

void library_close(struct library *l)
{
	if (l->handle)
		dlclose(l->handle);
	*l = (struct library){0};
}
