#include "builder/build/session/generators.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/bug.h"
#include "base/hash.h"
#include "base/vec.h"
#include "builder/module.h"

struct generator {
	hash128 target; /* hash of the struct codegen_target */
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

static hash128 hash_target(const struct codegen_target *target)
{
	struct hasher *h = hasher_new();
	hasher_add_str(h, target->cpu);
	hasher_add_str(h, target->features);
	hasher_add_u64(h, target->vector_bytes);
	hasher_add_u64(h, (uint64_t)target->profile_hook << 8 | (uint64_t)target->opt << 1 | target->size);
	return hasher_finish(h);
}

static struct generator generators_make(struct generators *g, const struct codegen_target *target, struct buf *error)
{
	return (struct generator){hash_target(target), g->api->open(target, error)};
}

void generators_prepare(struct generators *g, const struct codegen_target *target)
{
	struct buf ignored = {0};
	g->spare = generators_make(g, target, &ignored);
	g->has_spare = g->spare.codegen != NULL;
	buf_free(&ignored);
}

void generators_warm(struct generators *g)
{
	if (g->has_spare)
		g->api->warm(g->spare.codegen);
}

struct codegen *generators_get(struct generators *g, uint32_t worker, const struct codegen_target *target, struct buf *error)
{
	struct worker *w = &g->workers[worker];
	hash128 wanted = hash_target(target);
	for (uint32_t i = 0; i < w->generators.len; i++)
		if (hash_eq(w->generators.at[i].target, wanted))
			return w->generators.at[i].codegen;
	bool spare = hash_eq(g->spare.target, wanted) && atomic_exchange(&g->has_spare, false);
	struct generator made = spare ? g->spare : generators_make(g, target, error);
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
