#include <stdio.h>
#include <string.h>
#include "base/arena.h"
#include "base/path.h"
#include "base/print.h"
#include "builder/cli/command.h"
#include "builder/cli/project.h"
#include "builder/run/run.h"

/* Opening the library has verified its weight file. */
static enum status tell(struct arena *a, const struct run_model *m, void *ctx)
{
	const struct options *o = ctx;
	(void)a;
	if (!o->quiet)
		print(stdout, "%s: ok\n", m->name);
	return STATUS_OK;
}

static enum status validate_validate(struct arena *a, const char *path, const char *name, const struct options *o)
{
	return run_visit_library(a, path, name, o, tell, (void *)(uintptr_t)o);
}

static enum status validate_project(struct arena *a, const struct options *o)
{
	struct build_spec spec;
	struct options on_cpu = *o; /* only its code has weight files */
	on_cpu.run.device = "cpu";
	enum status worst = project_read(a, o, &spec);
	uint32_t n = worst == STATUS_OK ? spec.n_models : 0;
	for (uint32_t i = 0; i < n; i++) {
		enum status s;
		if (!(spec.models[i].emit >> run_emit_of(&spec.models[i], "cpu") & 1))
			continue;
		const char *path = run_library_path(a, &spec.models[i], &on_cpu, &s);
		s = path ? validate_validate(a, path, spec.models[i].name, &on_cpu) : s;
		worst = s > worst ? s : worst;
	}
	return worst;
}

enum status cmd_validate(const struct options *o)
{
	struct arena *a = arena_new(0);
	const char *word = o->n_operands ? o->operands[0] : "";
	bool is_library = strchr(word, '/') || path_has_extension(word, "so");
	enum status s = is_library ? validate_validate(a, word, word, o) : validate_project(a, o);
	arena_free(a);
	return s;
}
