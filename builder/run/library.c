#include "builder/run/library.h"
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/os.h"
#include "base/print.h"
#include "builder/manifest/backends.h"
#include "builder/run/run.h"
#include "builder/store/crash_guard.h"

static uint64_t end_of(uint64_t at, uint64_t size) { return size < UINT64_MAX - at ? at + size : UINT64_MAX; }

/* Finds where the last segment or the section headers of a 64-bit ELF file end. 0: it is another file, which dlopen refuses. */
static uint64_t elf_end(int fd)
{
	Elf64_Ehdr h;
	Elf64_Phdr p;
	ssize_t n = pread(fd, &h, sizeof h, 0);
	if (n < 0 || memcmp(h.e_ident, ELFMAG, n < SELFMAG ? (size_t)n : SELFMAG) != 0)
		return 0;
	if (n < (ssize_t)sizeof h)
		return UINT64_MAX;
	if (h.e_ident[EI_CLASS] != ELFCLASS64)
		return 0;
	uint64_t end = end_of(h.e_shoff, (uint64_t)h.e_shnum * sizeof(Elf64_Shdr));
	for (uint32_t i = 0; i < h.e_phnum && h.e_phoff <= INT32_MAX; i++) {
		if (pread(fd, &p, sizeof p, (off_t)(h.e_phoff + i * sizeof p)) != sizeof p)
			return UINT64_MAX;
		uint64_t last = end_of(p.p_offset, p.p_filesz);
		end = last > end ? last : end;
	}
	return end;
}

/* The loader maps what the headers describe, so reading behind the end of a file that was cut off would raise SIGBUS. It waits for the
 * writer of a pipe. */
static bool library_is_whole(struct arena *a, const char *path, const char **error)
{
	struct stat s;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return true; /* dlopen says why */
	bool file = fstat(fd, &s) == 0 && S_ISREG(s.st_mode), whole = file && elf_end(fd) <= (uint64_t)s.st_size;
	close(fd);
	if (!whole)
		*error = arena_printf(
			a, file ? "%s is damaged: its end is missing; remove it and build it again" : "%s is not a regular file", path);
	return whole;
}

bool library_open(struct arena *a, const char *path, struct library *out, const char **error)
{
	const char *full = strchr(path, '/') ? path : arena_printf(a, "./%s", path);
	*out = (struct library){0};
	if (!library_is_whole(a, full, error))
		return false;
	out->outer_code = crash_guard_set_foreign(arena_strdup(a, path));
	out->handle = dlopen(full, RTLD_NOW | RTLD_LOCAL);
	if (!out->handle) {
		*error = arena_strdup(a, dlerror());
		crash_guard_set_foreign(out->outer_code);
		return false;
	}
	out->desc = dlsym(out->handle, TRI_DESC_SYMBOL);
	if (!out->desc)
		*error = arena_printf(a, "%s has no `%s`: this version of trib did not build it; build it again", path, TRI_DESC_SYMBOL);
	else if (out->desc->abi != TRI_ABI)
		*error = arena_printf(a, "%s has interface version %u, but this trib knows version %d: build it again", path,
				      out->desc->abi, TRI_ABI);
	else {
		if (device_is_foreign(out->desc->backend))
			crash_guard_set_foreign(
				arena_printf(a, "%s, or an %s driver,", path, emit_backend(emit_of_device(out->desc->backend))->title));
		return true;
	}
	library_close(out);
	return false;
}

struct tri_model *library_open_model(const struct library *l, const tri_options *options, tri_error *e)
{
	os_end_at_interrupt(RUN_INTERRUPTED);
	struct tri_model *m = l->desc->open(options, e);
	os_end_at_interrupt(NULL);
	return m;
}

const tri_device *library_device(const struct library *l, struct tri_model *model, const char *wanted)
{
	const tri_device *device = l->desc->device(model);
	if (*device->why && !(wanted && strcmp(wanted, "cpu") == 0))
		print(stderr, "trib: warning: %s runs on the CPU: %s\n", l->desc->name, device->why);
	return device;
}

void library_close(struct library *l)
{
	if (l->handle) {
		dlclose(l->handle);
		crash_guard_set_foreign(l->outer_code);
	}
	*l = (struct library){0};
}
