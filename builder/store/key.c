/* A unit's key does not contain the keys of inlined callees. run_fn_hash covers their code, because the plan is made after inlining. So
 * an edit of a callee that does not change the optimised code compiles nothing. */
#include "builder/store/key.h"
#include <unistd.h>
#include "base/arena.h"
#include "builder/module.h"
#include "builder/store/file_hash.h"
#include "frontend/hir/hir.h"

#define KEY_VERSION 1

hash128 key_compiler(struct arena *session, struct store *project, struct inputs *in, hash128 *generator)
{
	char exe[4096];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
	const char *codegen = module_path(session, "codegen");
	hash128 id = {KEY_VERSION, 0};
	if (n > 0) {
		exe[n] = 0;
		id = hash_combine(id, file_hash(project, in, exe));
	}
	if (codegen)
		id = hash_combine(id, *generator = file_hash(project, in, codegen));
	return id;
}

/* Everything besides the unit that changes its code. */
static hash128 options_key(const struct platform *t, const struct plan_options *o)
{
	struct hasher *h = hasher_new();
	hasher_add_hash(h, t->id);
	hasher_add_u64(h, t->vector_bytes);
	hasher_add_u64(h, (uint64_t)o->opt << 1 | o->size);
	return hasher_finish(h);
}

hash128 key_unit(hash128 compiler, const struct platform *t, const struct plan_options *o, const struct plan *p)
{
	struct hasher *h = hasher_new();
	hasher_add_hash(h, compiler);
	hasher_add_hash(h, options_key(t, o));
	hasher_add_str(h, p->unit->symbol); /* the object defines it */
	hasher_add_hash(h, p->run_fn_hash);
	return hasher_finish(h);
}

struct plan_options key_unit_options(const struct plan_options *model, const struct hir_unit *u)
{
	struct plan_options o = *model;
	if (u->opt >= 0) {
		o.opt = (uint8_t)u->opt;
		o.size = false;
	}
	return o;
}
