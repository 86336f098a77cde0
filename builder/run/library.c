#include "builder/run/library.h"
#include <dlfcn.h>
#include <string.h>
#include "base/arena.h"
#include "base/path.h"

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
