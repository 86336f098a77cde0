#include "builder/build/generators.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/bug.h"
#include "base/vec.h"
#include "builder/manifest/platform.h"
#include "builder/module.h"

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
	struct generator spare; /* for the first worker that asks for this target and level */
	_Atomic bool has_spare;
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
		g = alloc_zeroed(sizeof *g + workers * sizeof *g->workers);
		g->api = api;
		g->n = workers;
	} else {
		*error = strdup(why);
	}
	arena_free(scratch);
	return g;
}

static struct generator make(struct generators *g, const struct platform *target, uint8_t opt, bool size, struct buf *error)
{
	struct codegen_target t = platform_codegen(target, opt, size);
	return (struct generator){target->id, opt, size, g->api->open(&t, error)};
}

static bool is_for(const struct generator *g, const struct platform *target, uint8_t opt, bool size)
{
	return hash_eq(g->target, target->id) && g->opt == opt && g->size == size;
}

void generators_prepare(struct generators *g, const struct platform *target, uint8_t opt, bool size)
{
	struct buf ignored = {0};
	g->spare = make(g, target, opt, size, &ignored);
	g->has_spare = g->spare.codegen != NULL;
	buf_free(&ignored);
}

void generators_warm(struct generators *g)
{
	if (g->has_spare)
		g->api->warm(g->spare.codegen);
}

struct codegen *generators_get(struct generators *g, uint32_t worker, const struct platform *target, uint8_t opt, bool size,
			       struct buf *error)
{
	struct worker *w = &g->workers[worker];
	for (uint32_t i = 0; i < w->generators.len; i++)
		if (is_for(&w->generators.at[i], target, opt, size))
			return w->generators.at[i].codegen;
	bool spare = is_for(&g->spare, target, opt, size) && atomic_exchange(&g->has_spare, false);
	struct generator made = spare ? g->spare : make(g, target, opt, size, error);
	if (made.codegen)
		vec_push(&w->generators, made);
	return made.codegen;
}

const struct codegen_api *generators_api(const struct generators *g) { return g->api; }

void generators_free(struct generators *g)
{
	if (!g)
		return;
	if (g->has_spare)
		g->api->close(g->spare.codegen);
	for (uint32_t i = 0; i < g->n; i++) {
		struct worker *w = &g->workers[i];
		for (uint32_t k = 0; k < w->generators.len; k++)
			g->api->close(w->generators.at[k].codegen);
		vec_free(&w->generators);
	}
	free(g);
}
