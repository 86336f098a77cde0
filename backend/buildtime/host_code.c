#include "backend/buildtime/host_code.h"
#include <stdlib.h>
#include <string.h>
#include "backend/ir/ir.h"
#include "backend/link/elf/link.h"
#include "backend/link/elf/load.h"
#include "backend/link/elf/object.h"
#include "backend/link/elf/thunk_x86_64.h"
#include "backend/loops/ir/loops.h"
#include "backend/passes/options.h"
#include "backend/runtime/abi/unit.h"
#include "backend/target/codegen.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/bug.h"

#define SYMBOL "tri_block"

struct stream_code {
	tri_unit_fn *run;
	tri_scratch_fn *scratch;
};

const struct target *host_code_target(struct arena *a)
{
	const struct target *t = target_find_cpu(a, "native");
	return t && t->arch == ARCH_X86_64 && target_runs_here(t) ? t : NULL;
}

hash128 host_code_key(const struct ir_fn *block, const struct target *t) { return hash_combine(ir_hash(block), target_hash(t)); }

bool host_code_emit(struct arena *scratch, const struct ir_fn *block, const struct target *t, const struct codegen_api *api,
		    struct codegen *generator, struct buf *object, struct buf *error)
{
	struct plan_options options = {.target = t, .opt = HOST_CODE_OPT};
	struct loop_fn *loops = loops_build(scratch, &(struct loop_source){.fn = block}, &options, NULL);
	loops->symbol = SYMBOL;
	return api->compile(generator, loops, object, error);
}

/* LLVM calls these of its own accord. */
static const void *host_code_address_of(const char *name)
{
	void *(*copy)(void *, const void *, size_t) = memcpy, *(*move)(void *, const void *, size_t) = memmove,
					    *(*set)(void *, int, size_t) = memset;
	if (strcmp(name, "memcpy") == 0)
		return *(const void **)(void *)&copy;
	if (strcmp(name, "memmove") == 0)
		return *(const void **)(void *)&move;
	return strcmp(name, "memset") == 0 ? *(const void **)(void *)&set : NULL;
}

/* Functions that the object calls. NULL: it calls others. */
static struct object *callees(struct arena *a, const struct object *o)
{
	struct object *stubs = object_new(a, "stubs");
	for (uint32_t k = 0; k < o->n_symbols; k++) {
		const struct obj_symbol *s = &o->symbols[k];
		const void *address = s->section == OBJ_UNDEFINED && s->name[0] ? host_code_address_of(s->name) : NULL;
		if (address)
			thunk_far(stubs, s->name, address, false);
		else if (s->section == OBJ_UNDEFINED && s->name[0])
			return NULL;
	}
	return stubs;
}

struct stream_code *host_code_load(const void *object, size_t len)
{
	static const char *const exports[] = {SYMBOL, SYMBOL "_scratch"};
	struct arena *scratch = arena_new(0);
	struct buf image = {0};
	const char *error;
	struct object *o = object_parse(scratch, SYMBOL, object, len, &error), *stubs = o ? callees(scratch, o) : NULL;
	struct link_request r = {
		.soname = SYMBOL, .objects = (struct object *const[]){o, stubs}, .n_objects = 2, .exports = exports, .n_exports = 2};
	const char *base = stubs && link_shared(scratch, &r, &image, &error) ? load_image(image.at, image.len) : NULL;
	struct stream_code *code = base ? alloc_zeroed(sizeof *code) : NULL;
	if (code) {
		const void *run = load_symbol(base, exports[0]), *size = load_symbol(base, exports[1]);
		memcpy(&code->run, &run, sizeof run);
		memcpy(&code->scratch, &size, sizeof size);
	}
	buf_free(&image);
	arena_free(scratch);
	return code;
}

void host_code_run(const struct stream_code *code, void *const *bufs, int64_t n)
{
	int64_t size = code->scratch(&n);
	char *scratch = size > 0 ? aligned_alloc(64, ((size_t)size + 63) / 64 * 64) : NULL;
	BUG_ON(size < 0 || (size > 0 && !scratch));
	code->run(NULL, bufs, NULL, &n, scratch);
	free(scratch);
}
