/* Element types of tensors. */
#ifndef TRIB_FRONTEND_HIR_DTYPE_H
#define TRIB_FRONTEND_HIR_DTYPE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
#define DTYPE(id, text, bytes, cls) DT_##id,
#include "frontend/hir/dtypes.def"
#undef DTYPE
	DT_COUNT
} dtype;
enum dtype_class { DTC_BOOL, DTC_TRIT, DTC_INT, DTC_FLOAT };

const char *dtype_text(dtype t);
size_t dtype_size(dtype t); /* bytes of one element in host memory */
enum dtype_class dtype_class(dtype t);
int64_t dtype_largest_int(dtype t); /* of an integer type */
/* The dtype named by `text` (aliases int and float included), or DT_COUNT. */
dtype dtype_find(const char *text);

/* The names of the traits (traits.def), their number into *n. */
const char *const *dtype_traits(uint32_t *n);
/* Has the type the trait? True for a trait that does not exist, which is reported elsewhere. */
bool dtype_has_trait(dtype t, const char *trait);

/* May `from` become `to` without a cast (language reference, Types)? Equal types: yes. */
bool dtype_widens(dtype from, dtype to);
/* The smallest type both widen to, or DT_COUNT. */
dtype dtype_join(dtype a, dtype b);
/* The same for operands: a trit takes the type of what stands beside it, and two are int8. */
dtype dtype_join_operands(dtype a, dtype b);
#endif
