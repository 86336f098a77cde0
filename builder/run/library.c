#include "builder/run/library.h"
#include <dlfcn.h>
#include <string.h>
#include "base/arena.h"

bool library_open(struct arena *a, const char *path, struct library *out, const char **error)
{
	const char *full = strchr(path, '/') ? path : arena_printf(a, "./%s", path);
	*out = (struct library){.handle = dlopen(full, RTLD_NOW | RTLD_LOCAL)};
	if (!out->handle) {
		*error = arena_strdup(a, dlerror());
		return false;
	}
	out->desc = dlsym(out->handle, TRI_DESC_SYMBOL);
	if (!out->desc)
		*error = arena_printf(a, "%s has no `%s`: this version of trib did not build it; build it again", path, TRI_DESC_SYMBOL);
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
