/* Compiling a function takes as long as interpreting some millions of elements. How many parameters will go through it is not known before. So it is
 * interpreted until that has taken as long as compiling: this costs at most twice the better choice. */
#include "builder/build/session/param_code.h"
#include <pthread.h>
#include <stdlib.h>
#include "backend/buildtime/host_code.h"
#include "backend/target/codegen.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/bug.h"
#include "base/map.h"
#include "base/os.h"
#include "base/vec.h"
#include "builder/build/session/generators.h"
#include "builder/build/session/session.h"
#include "builder/build/session/stores.h"
#include "builder/cache/cache.h"
#include "builder/manifest/options.h"
#include "builder/store/key.h"

/* Nanoseconds of interpreting after which compiling, or loading what is compiled, pays. */
#define COMPILE_NS 4e6
#define LOAD_NS 1e6

struct param_code {
	double interpreted_ns;
	bool is_settled; /* it is being compiled, or was */
	struct stream_code *code;
};
struct param_codes {
	pthread_mutex_t lock; /* of all below, and of opening the code generator */
	struct arena *arena;
	VEC(struct param_code) list;
	struct map index; /* key → list index */
	const struct target *target;
};

struct param_codes *param_codes_new(void)
{
	struct param_codes *p = alloc_zeroed(sizeof *p);
	pthread_mutex_init(&p->lock, NULL);
	p->arena = arena_new(0);
	p->target = host_code_target(p->arena);
	return p;
}

void param_codes_free(struct param_codes *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; i < p->list.len; i++)
		free(p->list.at[i].code);
	pthread_mutex_destroy(&p->lock);
	arena_free(p->arena);
	vec_free(&p->list);
	map_free(&p->index);
	free(p);
}

static struct codegen *open_generator(const struct param_compiler *pc, const struct codegen_api **api, struct buf *error)
{
	struct param_codes *p = pc->session->param_codes;
	struct codegen_target t = codegen_target_for(p->target, HOST_CODE_OPT, false, false);
	char *why = NULL;
	pthread_mutex_lock(&p->lock);
	struct generators *g = session_generators(pc->session, &why);
	pthread_mutex_unlock(&p->lock);
	free(why);
	*api = g ? generators_api(g) : NULL;
	return g ? generators_get(g, pc->worker, &t, error) : NULL;
}

/* Compiles the function and caches its object. If that fails, it is interpreted. */
static struct stream_code *param_code_compile(const struct param_compiler *pc, const struct ir_fn *f, hash128 key)
{
	struct param_codes *p = pc->session->param_codes;
	struct buf object = {0}, error = {0};
	struct arena *scratch = arena_new(0);
	struct stream_code *code = NULL;
	const struct codegen_api *api;
	int64_t began = os_now_ns();
	struct codegen *generator = open_generator(pc, &api, &error);
	if (generator && host_code_emit(scratch, f, p->target, api, generator, &object, &error)) {
		cache_add(pc->stores->cache, CACHE_FRAGMENT, key, object.at, object.len, os_now_ns() - began);
		code = host_code_load(object.at, object.len);
	}
	arena_free(scratch);
	buf_free(&object);
	buf_free(&error);
	return code;
}

static struct param_code *param_code_entry_of(struct param_codes *p, hash128 key)
{
	uint64_t at = p->list.len;
	if (!map_get(&p->index, key, &at)) {
		map_put(&p->index, key, at);
		vec_push(&p->list, (struct param_code){0});
	}
	return &p->list.at[at];
}

/* True if this thread is to make the code. */
static bool param_code_decide(struct param_codes *p, hash128 key, double least_ns, double ns, struct stream_code **code)
{
	pthread_mutex_lock(&p->lock);
	struct param_code *e = param_code_entry_of(p, key);
	bool makes = !e->is_settled && e->interpreted_ns + ns >= least_ns;
	*code = e->code;
	e->is_settled |= makes;
	e->interpreted_ns += ns;
	pthread_mutex_unlock(&p->lock);
	return makes;
}

static const struct stream_code *param_code_find(void *ctx, const struct ir_fn *f, double interpreting_ns)
{
	const struct param_compiler *pc = ctx;
	struct cache *cache = pc->stores->cache;
	struct param_codes *p = pc->session->param_codes;
	struct stream_code *code = NULL;
	size_t len;
	if (!p->target || pc->when == PARAM_CODE_NEVER)
		return NULL;
	hash128 key = hash_combine(host_code_key(f, p->target), pc->stores->compiler);
	bool is_cached = cache_has(cache, CACHE_FRAGMENT, key);
	double least = pc->when == PARAM_CODE_ALWAYS ? 0 : is_cached ? LOAD_NS : COMPILE_NS;
	if (!param_code_decide(p, key, least, interpreting_ns, &code))
		return code;
	const void *object = cache_get(cache, CACHE_FRAGMENT, key, &len);
	code = object ? host_code_load(object, len) : NULL;
	code = code ? code : param_code_compile(pc, f, key);
	pthread_mutex_lock(&p->lock);
	param_code_entry_of(p, key)->code = code;
	pthread_mutex_unlock(&p->lock);
	return code;
}

struct stream_compiler param_compiler(struct param_compiler *pc) { return (struct stream_compiler){param_code_find, host_code_run, pc}; }
