/* Evaluates functions while a library is built: quantizers, folded parameters, initial values.
 *
 * The results have the bits of the reference interpreter (interp_run), whatever computes them: operations with vectors here, blocks of a stream
 * (stream.h), or compiled code (host_code.h). They are the same on every machine if the function has only arithmetic, comparisons, rounding,
 * casts, square roots and random numbers, as quantizers do; exp, log and the like are the C library's. Tests compare every way with the interpreter. */
#ifndef TRIB_BACKEND_BUILDTIME_BUILDTIME_H
#define TRIB_BACKEND_BUILDTIME_BUILDTIME_H
#include <stdbool.h>
#include <stdint.h>

struct arena;
struct ir_fn;
struct tensor;

/* As interp_run, without inputs. */
bool buildtime_run(const struct ir_fn *f, const struct tensor *weights, const int64_t *syms, uint64_t seed, struct arena *out,
		   struct tensor *outputs, const char **error);
#endif
