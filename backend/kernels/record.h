/* The records of records.def, for those who make, check, print and count calls of micro-kernels. */
#ifndef TRIB_BACKEND_KERNELS_RECORD_H
#define TRIB_BACKEND_KERNELS_RECORD_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/ir/ir.h"

enum kernel_family {
#define RECORD(name, ...) FAMILY_##name,
#include "backend/runtime/kernels/records.def"
#undef RECORD
	FAMILY_COUNT
};

/* The dims of a call by name: views of loop_kernel.dims. */
#define FIELD(type, name, unless) dim name;
#define RECORD(name, ops, fields, ...) \
	struct name##_dims {           \
		fields                 \
	};
#include "backend/runtime/kernels/records.def"
#undef FIELD
#undef RECORD

enum kernel_field_type { FIELD_size, FIELD_count, FIELD_step, FIELD_flag, FIELD_real, FIELD_elem, FIELD_place };
#define KERNEL_NEEDED INT64_MIN
struct kernel_field {
	const char *name;
	enum kernel_field_type type;
	int64_t unless; /* the value that texts leave out, or KERNEL_NEEDED */
};

enum { SHAPE_FIELDS = 7, KERNEL_OPERANDS = 7, KERNEL_TERMS = 3, KERNEL_RULES = 9, KERNEL_CASES = 3, KERNEL_FIELDS = 32 };
/* The product of fields: their numbers plus 1, then 0. */
struct kernel_shape {
	uint8_t fields[SHAPE_FIELDS + 1];
};
struct kernel_operand {
	const char *name;         /* NULL: behind the last one */
	struct kernel_shape size; /* in elements */
	bool bytes;               /* the size is in bytes */
	bool written, workspace;
	bool in_place;   /* it may be the first operand */
	uint8_t elem;    /* the field that is its element type, plus 1; 0: none */
	uint8_t step[3]; /* of rows: the fields that are steps from batch to batch, head to head and row to row, plus 1; 0: not rows */
};
struct kernel_term {
	int64_t factor; /* 0: behind the last one */
	struct kernel_shape of;
};
enum rule_kind { RULE_NONE, RULE_SAME, RULE_ONE_OR, RULE_SHARES, RULE_MOST, RULE_EXACTLY, RULE_ADDED_OR_BOOL };
struct kernel_rule {
	enum rule_kind kind;
	uint8_t field; /* plus 1 */
	int64_t other; /* a field plus 1, or a number */
};
struct kernel_case {
	const char *fits; /* the column of kernels.def; NULL: behind the last one */
	struct kernel_rule rules[KERNEL_RULES + 1];
};
struct kernel_record {
	const char *name;
	enum ir_op op, other_op;
	const struct kernel_field *fields;
	uint32_t n_fields;
	struct kernel_operand operands[KERNEL_OPERANDS + 1];
	struct kernel_term operations[KERNEL_TERMS + 1];
	struct kernel_shape items;   /* the axes of the result that devices divide among work items */
	struct kernel_shape tile[3]; /* batch, rows and columns of a result that epilogues get in tiles */
	struct kernel_rule rules[KERNEL_RULES + 1];
	struct kernel_case cases[KERNEL_CASES + 1];
};
const struct kernel_record *kernel_record_of(enum kernel_family r);

/* Stores the dims of the shape; returns their number. */
uint32_t kernel_shape_dims(const struct kernel_shape *s, const dim *dims, dim *out);
/* Their product, if all are constant and it fits. */
bool kernel_shape_size(const struct kernel_shape *s, const struct dims *d, const dim *dims, int64_t *size);
/* The same of values; -1: one is negative, or the product is too large. */
int64_t kernel_shape_count(const struct kernel_shape *s, const int64_t *dims);
/* Returns why the dims do not follow the types of their fields, the rules and those of the case, or NULL. *field: which. */
const char *kernel_fault(const struct kernel_record *r, const char *fits, const struct dims *d, const dim *dims, uint32_t *field);
/* The elements of rows from the first to the last one; elements: as their shape gives it. */
int64_t kernel_reach(const struct kernel_operand *o, const int64_t *dims, int64_t elements);
/* An element type as a dim, enum tri_elem: float32 if it has none. And back: DT_COUNT if the number is none. */
int64_t kernel_elem_number(dtype t);
dtype kernel_elem_of(int64_t elem);
#endif
