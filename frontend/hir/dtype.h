/* Element types of tensors. */
#ifndef TRIB_FRONTEND_HIR_DTYPE_H
#define TRIB_FRONTEND_HIR_DTYPE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
#define DTYPE(id, text, bytes, cls, least, largest) DT_##id,
#include "frontend/hir/dtypes.def"
#undef DTYPE
	DT_COUNT
} dtype;
enum dtype_class { DTC_BOOL, DTC_TRIT, DTC_INT, DTC_FLOAT };

const char *dtype_text(dtype t);
size_t dtype_size(dtype t); /* bytes of one element in host memory */
enum dtype_class dtype_class(dtype t);
/* Element i of `data`: integers, trits or bools. A number that does not fit is stored wrapped; a bool is v != 0. */
int64_t dtype_int(dtype t, const void *data, int64_t i);
void dtype_put_int(dtype t, void *data, int64_t i, int64_t v);
int64_t dtype_least_int(dtype t); /* the limits of an integer type, of trits or of bools */
int64_t dtype_largest_int(dtype t);
/* True for integers without negative numbers, and for bools. */
bool dtype_is_unsigned(dtype t);
/* Returns the type named `text`, with the aliases int and float, or DT_COUNT. */
dtype dtype_find(const char *text);

/* Returns the names of traits.def, and their number in *n. */
const char *const *dtype_traits(uint32_t *n);
/* True if the type has the trait; also for an unknown trait, which is reported elsewhere. */
bool dtype_has_trait(dtype t, const char *trait);

/* True if `from` becomes `to` without a cast (language reference, Types), or is equal. */
bool dtype_widens(dtype from, dtype to);
/* Returns the smallest type to which both widen, or DT_COUNT. */
dtype dtype_join(dtype a, dtype b);
/* The same for operands: a trit takes the type of the other operand, beside a uint8 int16, and two trits are int8. */
dtype dtype_join_operands(dtype a, dtype b);
#endif
