#include "builder/module.h"
#include <dlfcn.h>
#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/os.h"

typedef const void *entry_fn(void);

/* The folder of the executable, or of libtrib.so if this code is in it; malloc'd; NULL on failure. */
static char *own_folder(void)
{
	static const char here = 0;
	Dl_info info;
	if (!dladdr(&here, &info) || !info.dli_fbase)
		return os_exe_dir();
	const Elf64_Ehdr *head = info.dli_fbase;
	if ((uintptr_t)head + head->e_phoff == getauxval(AT_PHDR)) /* this code is in the executable */
		return os_exe_dir();
	char *path = realpath(info.dli_fname, NULL), *slash = path ? strrchr(path, '/') : NULL;
	if (slash)
		*slash = 0;
	return path;
}

const char *module_path(struct arena *a, const char *name)
{
	static const char *const folders[] = {"", "../lib/trib/", "lib/trib/", "../lib/x86_64-linux-gnu/trib/"};
	char *dir = own_folder();
	const char *found = NULL;
	for (size_t i = 0; dir && !found && i < sizeof folders / sizeof *folders; i++) {
		const char *path = arena_printf(a, "%s/%slibtrib%s%s.so", dir, folders[i], *name ? "-" : "", name);
		if (access(path, R_OK) == 0)
			found = path;
	}
	free(dir);
	return found;
}

const char *module_program(struct arena *a)
{
	static const char *const folders[] = {"../../bin/", "../../../bin/", "../../", "../", ""};
	char *dir = own_folder();
	const char *found = NULL;
	struct stat st;
	for (size_t i = 0; dir && !found && i < sizeof folders / sizeof *folders; i++) {
		const char *path = arena_printf(a, "%s/%strib", dir, folders[i]);
		if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0)
			found = path;
	}
	free(dir);
	return found;
}

const void *module_open(struct arena *a, const char *name, const char *entry, unsigned abi, const char **error)
{
	const char *path = module_path(a, name);
	if (!path) {
		*error = arena_printf(a, "libtrib-%s.so is not beside trib or in its lib/trib folder", name);
		return NULL;
	}
	void *so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void *symbol = so ? dlsym(so, entry) : NULL;
	if (!symbol) {
		*error = arena_strdup(a, dlerror());
		return NULL;
	}
	entry_fn *fn;
	memcpy(&fn, &symbol, sizeof fn);
	const void *api = fn();
	uint32_t has = 0;
	if (api)
		memcpy(&has, api, sizeof has);
	if (has == abi)
		return api;
	*error = arena_printf(a, "%s belongs to another version of trib", path);
	return NULL;
}
