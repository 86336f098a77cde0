/* What names a fragment: the compiler that made it, what it was made for, and the unit's code after optimisation. */
#ifndef TRIB_BUILDER_STORE_KEY_H
#define TRIB_BUILDER_STORE_KEY_H
#include <stdint.h>
#include "backend/plan/plan.h"
#include "base/hash.h"
#include "builder/manifest/platform.h"

struct arena;
struct inputs;
struct store;

/* Digest of the contents of trib itself and its code generator; remembered by stamp in the project's store, and recorded as inputs. *generator: of the
 * latter alone. */
hash128 key_compiler(struct arena *session, struct store *project, struct inputs *in, hash128 *generator);
/* The unit's fragment. */
hash128 key_unit(hash128 compiler, const struct platform *t, const struct plan_options *o, const struct plan *p);
/* Options of one unit: `@opt(n)` goes over the model's level. */
struct plan_options key_unit_options(const struct plan_options *model, const struct hir_unit *u);
#endif
