/* The dims of micro-kernels by name: each record of records.def as a structure, a view of the dims of tri_kernel_fn. */
#ifndef TRI_RECORDS_H
#define TRI_RECORDS_H
#include <stdint.h>

/* An element type as a dim. */
enum tri_elem { TRI_ELEM_F32, TRI_ELEM_BOOL, TRI_ELEM_F16, TRI_ELEM_BF16, TRI_ELEM_I8 };

#define FIELD(type, name, unless) int64_t name;
#define RECORD(name, ops, fields, ...) \
	struct tri_##name##_dims {     \
		fields                 \
	};                             \
	static inline const struct tri_##name##_dims *tri_##name##_of(const int64_t *dims) { return (const void *)dims; }
#include "backend/runtime/kernels/records.def"
#undef FIELD
#undef RECORD
#endif
