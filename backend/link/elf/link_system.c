#include "backend/link/elf/link_system.h"
#include "backend/link/elf/link.h"
#include "base/arena.h"
#include "base/buf.h"

void link_version_script(const struct link_request *r, struct buf *out)
{
	buf_puts(out, "{\n");
	for (uint32_t i = 0; i < r->n_exports; i++)
		buf_printf(out, "%s\t%s;\n", i ? "" : "global:\n", r->exports[i]);
	buf_puts(out, "local:\n\t*;\n};\n");
}

const char *const *link_system_command(struct arena *a, const struct link_request *r, const char *cc, const char *const *object_paths,
				       const char *script_path, const char *out_path)
{
	static const char *const fixed[] = {"-shared",    "-nostdlib",    "-Wl,--gc-sections",  "-Wl,-Bsymbolic",
					    "-Wl,-z,now", "-Wl,-z,relro", "-Wl,-z,noexecstack", "-Wl,--build-id=none"};
	enum { N_FIXED = sizeof fixed / sizeof *fixed };
	const char **argv = ARENA_ARRAY(a, const char *, N_FIXED + 7 + r->n_objects + r->n_needed);
	uint32_t n = 0;
	argv[n++] = cc;
	for (uint32_t i = 0; i < N_FIXED; i++)
		argv[n++] = fixed[i];
	if (r->n_needed)
		argv[n++] = "-Wl,--no-undefined";
	if (r->soname)
		argv[n++] = arena_printf(a, "-Wl,-soname,%s", r->soname);
	argv[n++] = arena_printf(a, "-Wl,--version-script=%s", script_path);
	argv[n++] = "-o";
	argv[n++] = out_path;
	for (uint32_t i = 0; i < r->n_objects; i++)
		argv[n++] = object_paths[i];
	for (uint32_t i = 0; i < r->n_needed; i++)
		argv[n++] = arena_printf(a, "-l:%s", r->needed[i]);
	argv[n] = NULL;
	return argv;
}
