#include "builder/manifest/platform.h"
#include <string.h>
#include "backend/target/target.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"

static const char *const platforms[] = {"native", "x86_64-linux", "x86_64-linux-gnu", "x86_64-unknown-linux-gnu", "x86_64-pc-linux-gnu"};
enum { N_PLATFORMS = sizeof platforms / sizeof *platforms };

static bool is_known_platform(const char *text)
{
	for (uint32_t i = 0; i < N_PLATFORMS; i++)
		if (strcmp(platforms[i], text) == 0)
			return true;
	return false;
}

static const char *unknown_cpu_text(struct arena *a, const char *cpu, const char **near)
{
	const char *const *names = target_cpu_names();
	struct buf list = {0};
	uint32_t n = 0;
	for (; names[n]; n++)
		buf_printf(&list, "%s%s", n ? ", " : "", names[n]);
	const char *text = arena_printf(a, "unknown cpu `%s`: choose one of %s", cpu, list.at ? list.at : "");
	*near = diag_nearest(cpu, names, n);
	buf_free(&list);
	return text;
}

bool platform_resolve(struct arena *a, const char *target, const char *cpu, struct platform *out, const char **error, const char **near)
{
	const struct target *t;
	*near = NULL;
	if (!is_known_platform(target)) {
		*error = arena_printf(a, "target `%s` is not supported: this trib generates code for x86_64-linux", target);
		*near = diag_nearest(target, platforms, N_PLATFORMS);
		return false;
	}
	t = target_find_cpu(a, cpu);
	if (!t) {
		*error = unknown_cpu_text(a, cpu, near);
		return false;
	}
	*out = (struct platform){.name = arena_strdup(a, cpu), .target = t, .id = target_hash(t)};
	out->text = arena_printf(a, "x86_64-linux %s%s%s", t->cpu, *t->features ? " " : "", t->features);
	return true;
}
