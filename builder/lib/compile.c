/* The code of a unit at its first call. It comes from the user's cache, with its callees if they are cached, or is compiled from the
 * loops in the library. It is linked into an image of its own and mapped. Calls of other units go through the slots of the library. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "backend/link/elf/link.h"
#include "backend/link/elf/load.h"
#include "backend/link/elf/object.h"
#include "backend/link/elf/thunk_x86_64.h"
#include "backend/loops/ir/loops.h"
#include "backend/loops/ir/serialize.h"
#include "backend/runtime/abi/lazy.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/os.h"
#include "builder/build/session/build_id.h"
#include "builder/build/session/generators.h"
#include "builder/cache/cache.h"
#include "builder/cache/reader.h"
#include "builder/lib/host.h"
#include "builder/lib/perf_map.h"

enum { MAX_TOGETHER = 256 }; /* units loaded from the cache together */

/* Units that are linked together; the requested one is first. */
struct unit_group {
	struct arena *a;
	const struct tri_lazy_unit *units[MAX_TOGETHER];
	struct object *objects[MAX_TOGETHER + 1];
	uint32_t n;
	struct map seen;  /* units that were looked up */
	struct map stubs; /* names that have a stub */
	void *c_library;
	const char *error;
};

static hash128 as_hash(const uint8_t bytes[16])
{
	hash128 h;
	memcpy(&h, bytes, sizeof h);
	return h;
}

static bool add_fragment(struct unit_group *t, const struct tri_lazy_unit *unit, const void *bytes, size_t len)
{
	struct object *o = object_parse(t->a, unit->name, bytes, len, &t->error);
	if (!o)
		return false;
	t->objects[t->n] = o;
	t->units[t->n++] = unit;
	return true;
}

static bool first_sight(struct unit_group *t, const struct tri_lazy_unit *unit) { return map_put(&t->seen, map_key_str(unit->symbol), 1); }

/* Loads the unit and its callees from the cache, breadth first. True if the unit itself was found. */
static bool find_fragments(struct unit_group *t, struct cache_reader *reader, const struct tri_lazy_unit *wanted)
{
	size_t len;
	const void *bytes = cache_reader_get(reader, CACHE_FRAGMENT, as_hash(wanted->key), &len);
	first_sight(t, wanted);
	if (!bytes || !add_fragment(t, wanted, bytes, len))
		return false;
	for (uint32_t at = 0; at < t->n; at++)
		for (uint32_t i = 0; i < t->units[at]->n_calls && t->n < MAX_TOGETHER; i++) {
			const struct tri_lazy_unit *u = t->units[at]->calls[i].callee;
			if (!first_sight(t, u) || __atomic_load_n(&u->slot->state, __ATOMIC_ACQUIRE) == TRI_LAZY_READY)
				continue;
			bytes = cache_reader_get(reader, CACHE_FRAGMENT, as_hash(u->key), &len);
			if (bytes && !add_fragment(t, u, bytes, len))
				return false;
		}
	return true;
}

static bool generate(struct unit_group *t, const struct tri_lazy_unit *unit, const struct loop_fn *f, struct buf *object)
{
	const struct tri_lazy_library *l = unit->library;
	struct codegen_target target = {l->cpu, l->features, l->vector_bytes, unit->opt, unit->size, unit->profile_hook};
	struct generators *g = host_borrow(t->a, as_hash(l->generator), &t->error);
	struct buf why = {0};
	if (!g)
		return false;
	struct codegen *c = generators_get(g, 0, &target, &why);
	bool ok = c && generators_api(g)->compile(c, f, object, &why);
	if (!ok)
		t->error = arena_strdup(t->a, why.at ? why.at : "the code generator gives no reason");
	buf_free(&why);
	host_return(g);
	return ok;
}

/* If this fails, the next process compiles the unit again. */
static void compile_keep(struct unit_group *t, const struct tri_lazy_unit *unit, const struct buf *object, int64_t ns)
{
	char key[33];
	const char *message,
		*argv[] = {NULL, "-C", "/", "cache", "put", cache_kind_text(CACHE_FRAGMENT), key, arena_printf(t->a, "%lld", (long long)ns),
			   NULL};
	hash_hex(as_hash(unit->key), key);
	if (host_cache(t->a))
		host_run_trib(t->a, argv, object->at, object->len, &message);
}

/* Compiles the unit and caches the fragment. */
static bool compile_compile(struct unit_group *t, const struct tri_lazy_unit *unit)
{
	struct buf object = {0};
	int64_t start = os_now_ns();
	const struct loop_fn *f = NULL;
	if (hash_eq(hash_bytes(unit->loops, unit->n_loops), as_hash(unit->digest)))
		f = loops_deserialize(t->a, unit->loops, unit->n_loops, &t->error);
	else
		t->error = "the library is damaged: build it again";
	if (f && !loops_is_scheduled(f)) {
		f = NULL;
		t->error = "the library is damaged: build it again";
	}
	bool ok = f && generate(t, unit, f, &object);
	if (ok) {
		compile_keep(t, unit, &object, os_now_ns() - start);
		ok = add_fragment(t, unit, arena_strndup(t->a, object.at, object.len), object.len);
	}
	buf_free(&object);
	return ok;
}

/* ---- linking into this process ---- */

/* The unit with that symbol. *scratch: it is the symbol of its scratch function. */
static const struct tri_lazy_unit *find_unit(const struct tri_lazy_unit *caller, const char *name, bool *scratch)
{
	for (uint32_t i = 0; i < caller->n_calls; i++) {
		const struct tri_lazy_unit *u = caller->calls[i].callee;
		size_t n = strlen(u->symbol);
		if (strncmp(name, u->symbol, n) != 0)
			continue;
		*scratch = strcmp(name + n, "_scratch") == 0;
		if (*scratch || !name[n])
			return u;
	}
	return NULL;
}

static const void *find_address(struct unit_group *t, const struct tri_lazy_library *library, const char *name)
{
	for (uint32_t i = 0; i < library->n_symbols; i++)
		if (strcmp(library->symbols[i].name, name) == 0)
			return library->symbols[i].address;
	if (!t->c_library)
		t->c_library = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL); /* and with it the C library */
	return t->c_library && link_may_import(name) ? dlsym(t->c_library, name) : NULL;
}

static bool compile_is_ours(const struct unit_group *t, const char *name)
{
	for (uint32_t i = 0; i < t->n; i++) {
		size_t n = strlen(t->units[i]->symbol);
		if (strncmp(name, t->units[i]->symbol, n) == 0 && (!name[n] || strcmp(name + n, "_scratch") == 0))
			return true;
	}
	return false;
}

/* A stub for a symbol that is not linked together with the unit. */
static bool compile_reach(struct unit_group *t, struct object *stubs, const struct tri_lazy_unit *unit, const char *name)
{
	bool scratch;
	if (!map_put(&t->stubs, map_key_str(name), 1) || compile_is_ours(t, name))
		return true;
	const struct tri_lazy_unit *callee = find_unit(unit, name, &scratch);
	const void *address = callee ? (scratch ? (const void *)&callee->slot->scratch : (const void *)&callee->slot->code)
				     : find_address(t, unit->library, name);
	if (!address) {
		t->error = arena_printf(t->a, "its code uses %s, which is not in the library", name);
		return false;
	}
	thunk_far(stubs, name, address, callee != NULL);
	return true;
}

static bool reach_all(struct unit_group *t)
{
	struct object *stubs = object_new(t->a, "stubs");
	for (uint32_t i = 0; i < t->n; i++)
		for (uint32_t k = 0; k < t->objects[i]->n_symbols; k++) {
			const struct obj_symbol *s = &t->objects[i]->symbols[k];
			if (s->section == OBJ_UNDEFINED && s->name[0] && !compile_reach(t, stubs, t->units[i], s->name))
				return false;
		}
	t->objects[t->n] = stubs;
	return true;
}

static const char *scratch_name(struct unit_group *t, uint32_t i) { return arena_printf(t->a, "%s_scratch", t->units[i]->symbol); }

/* Marks another unit of the group as ready. The caller marks the requested one. */
static void fill_slot(struct unit_group *t, uint32_t i, const char *base)
{
	struct tri_lazy_slot *s = t->units[i]->slot;
	uint32_t absent = TRI_LAZY_ABSENT;
	const void *code = load_symbol(base, t->units[i]->symbol), *scratch = load_symbol(base, scratch_name(t, i));
	__atomic_store_n((const void **)&s->scratch, scratch, __ATOMIC_RELEASE);
	__atomic_store_n((const void **)&s->code, code, __ATOMIC_RELEASE);
	if (i)
		__atomic_compare_exchange_n(&s->state, &absent, TRI_LAZY_READY, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

static bool compile_load(struct unit_group *t)
{
	struct buf image = {0};
	const char **exports = ARENA_ARRAY(t->a, const char *, 2 * t->n);
	struct link_request r = {.soname = "lazy", .objects = t->objects, .n_objects = t->n + 1, .exports = exports, .n_exports = 2 * t->n};
	for (uint32_t i = 0; i < t->n; i++) {
		exports[2 * i] = t->units[i]->symbol;
		exports[2 * i + 1] = scratch_name(t, i);
	}
	bool ok = reach_all(t) && link_shared(t->a, &r, &image, &t->error);
	const char *base = ok ? load_image(image.at, image.len) : NULL;
	if (ok && !base)
		t->error = arena_printf(t->a, "cannot map memory for its code: %s", strerror(errno));
	if (base)
		perf_map_add(base, image.at, image.len);
	for (uint32_t i = 0; base && i < t->n; i++)
		fill_slot(t, i, base);
	buf_free(&image);
	return base != NULL;
}

static bool compile_make(struct unit_group *t, const struct tri_lazy_unit *unit)
{
	if (!hash_eq(as_hash(unit->library->build), build_id())) {
		t->error = "libtrib.so is of another version of trib: build the library again";
		return false;
	}
	const char *folder = host_cache(t->a);
	struct cache_reader *c = folder ? cache_reader_open(t->a, folder) : NULL;
	bool found = find_fragments(t, c, unit);
	cache_reader_close(c);
	if (found && compile_load(t))
		return true;
	t->n = 0;
	map_free(&t->stubs);
	t->stubs = (struct map){0};
	return compile_compile(t, unit) && compile_load(t);
}

static int lazy_compile(const struct tri_lazy_unit *unit, char *why, size_t n)
{
	struct unit_group t = {.a = arena_new(0)};
	bool ok = compile_make(&t, unit);
	if (!ok)
		snprintf(why, n, "%s", t.error ? t.error : "no reason given");
	map_free(&t.seen);
	map_free(&t.stubs);
	if (t.c_library)
		dlclose(t.c_library);
	arena_free(t.a);
	return ok ? 0 : -1;
}

__attribute__((visibility("default"))) tri_lazy_entry_fn trib_lazy;

const struct tri_lazy_api *trib_lazy(void)
{
	static const struct tri_lazy_api api = {.abi = TRI_LAZY_ABI, .compile = lazy_compile};
	return &api;
}
