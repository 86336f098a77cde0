#include "builder/generators.h"
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/bug.h"
#include "base/vec.h"
#include "builder/module.h"
#include "builder/platform.h"

struct generator {
	hash128 target;
	uint8_t opt;
	bool size;
	struct codegen *codegen;
};
struct worker {
	VEC(struct generator) generators;
};
struct generators {
	const struct codegen_api *api;
	uint32_t n;
	struct worker workers[];
};

struct generators *generators_new(uint32_t workers, char **error)
{
	struct arena *scratch = arena_new(0);
	const char *why;
	const struct codegen_api *api = module_open(scratch, "codegen", CODEGEN_ENTRY, CODEGEN_ABI, &why);
	struct generators *g = NULL;
	if (api) {
		g = calloc(1, sizeof *g + workers * sizeof *g->workers);
		if (!g)
			bug_no_memory();
		g->api = api;
		g->n = workers;
	} else {
		*error = strdup(why);
	}
	arena_free(scratch);
	return g;
}

struct codegen *generators_get(struct generators *g, uint32_t worker, const struct platform *target, uint8_t opt, bool size, struct buf *error)
{
	struct worker *w = &g->workers[worker];
	for (uint32_t i = 0; i < w->generators.len; i++) {
		const struct generator *have = &w->generators.at[i];
		if (hash_eq(have->target, target->id) && have->opt == opt && have->size == size)
			return have->codegen;
	}
	struct codegen_target t = platform_codegen(target, opt, size);
	struct generator made = {target->id, opt, size, g->api->open(&t, error)};
	if (made.codegen)
		vec_push(&w->generators, made);
	return made.codegen;
}

const struct codegen_api *generators_api(const struct generators *g) { return g->api; }

void generators_free(struct generators *g)
{
	for (uint32_t i = 0; g && i < g->n; i++) {
		struct worker *w = &g->workers[i];
		for (uint32_t k = 0; k < w->generators.len; k++)
			g->api->close(w->generators.at[k].codegen);
		vec_free(&w->generators);
	}
	free(g);
}
