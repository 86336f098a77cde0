/* The key of a fragment: a hash of the compiler, the target, the options, and the unit's code after optimisation. */
#ifndef TRIB_BUILDER_STORE_KEY_H
#define TRIB_BUILDER_STORE_KEY_H
#include <stdint.h>
#include "backend/plan/plan.h"
#include "base/hash.h"

struct arena;
struct file_stamp;
struct inputs;
struct store;
struct target;

/* The hash of trib's executable and its code generator, and in *generator that of the code generator alone. Both files become inputs.
 * The project's store remembers their hashes. */
hash128 key_compiler(struct arena *session, struct store *project, struct inputs *in, hash128 *generator);
/* The key of the unit's fragment. `target`: the hash of the options' target. */
hash128 key_unit(hash128 compiler, hash128 target, const struct plan_options *options, const struct plan *p);
/* The options of one unit: its `@opt(n)` overrides the model's level. */
struct plan_options key_unit_options(const struct plan_options *model, const struct target *target, const struct ir_program *program,
				     const struct hir_unit *u);

/* The content of a file that is open. */
struct open_file {
	const struct file_stamp *stamp; /* before it was opened */
	hash128 (*digest)(void *ctx);
	void *ctx;
};
/* Records an open file as an input. Its digest is computed unless the project's store remembers it. */
void file_hash_open(struct store *project, struct inputs *in, const char *path, const struct open_file *f);
/* Returns the hash, zero if the file is absent, and records the file as an input. `project` may be NULL. */
hash128 file_hash(struct store *project, struct inputs *in, const char *path);
#endif
