#include "backend/kernels/record.h"
#include <string.h>
#include "backend/runtime/kernels/attention.h"
#include "backend/runtime/kernels/records.h"
#include "base/bug.h"

/* ---- the table ---- */

#define FIELD(type, name, unless) {#name, FIELD_##type, unless},
#define RECORD(name, ops, fields, ...) static const struct kernel_field fields_##name[] = {fields};
#include "backend/runtime/kernels/records.def"
#undef FIELD
#undef RECORD

/* Each record is in a function of its own, where the names of its fields are their numbers. */
#define FIELD(type, name, unless) name,
#define OPS(op, other) OP_##op, OP_##other
#define SHAPE(...)                        \
	{                                 \
		.fields = { __VA_ARGS__ } \
	}
#define READS(name, size) {#name, size, false, false, false, false, 0, {0}},
#define READS_BYTES(name, size) {#name, size, true, false, false, false, 0, {0}},
#define READS_ELEM(name, size, elem) {#name, size, false, false, false, false, elem, {0}},
#define READS_ROWS(name, size, elem, batch, head, row) {#name, size, false, false, false, false, elem, {batch, head, row}},
#define WRITES(name, size) {#name, size, false, true, false, false, 0, {0}},
#define WRITES_BYTES(name, size) {#name, size, true, true, false, false, 0, {0}},
#define UPDATES(name, size) {#name, size, false, true, false, true, 0, {0}},
#define UPDATES_BYTES(name, size) {#name, size, true, true, false, true, 0, {0}},
#define SPACE(name, size) {#name, size, false, true, true, false, 0, {0}},
#define TERM(factor, ...) {factor, SHAPE(__VA_ARGS__)},
#define ITEMS(...) SHAPE(__VA_ARGS__)
#define TILE(...) {__VA_ARGS__}
#define NO_TILE {SHAPE(NO_FIELD)}
#define SAME(field, other) {RULE_SAME, field, other},
#define ONE_OR(field, other) {RULE_ONE_OR, field, other},
#define SHARES(field, other) {RULE_SHARES, field, other},
#define MOST(field, limit) {RULE_MOST, field, limit},
#define EXACTLY(field, value) {RULE_EXACTLY, field, value},
#define ADDED_OR_BOOL(field) {RULE_ADDED_OR_BOOL, field, 0},
#define CASE(fits, ...) {#fits, {__VA_ARGS__{0}}},
#define RECORD(name, ops, fields, operands, operations, items, tile, rules, cases)                                       \
	static const struct kernel_record *record_##name(void)                                                           \
	{                                                                                                                \
		enum { NO_FIELD, fields BEHIND };                                                                        \
		static const struct kernel_record r = {#name,           ops,   fields_##name, BEHIND - 1, {operands{0}}, \
						       {operations{0}}, items, tile,          {rules{0}}, {cases{0}}};   \
		return &r;                                                                                               \
	}
#include "backend/runtime/kernels/records.def"
#undef FIELD
#undef RECORD

const struct kernel_record *kernel_record_of(enum kernel_family r)
{
	static const struct kernel_record *(*const records[])(void) = {
#define RECORD(name, ...) record_##name,
#include "backend/runtime/kernels/records.def"
#undef RECORD
	};
	BUG_ON(r >= FAMILY_COUNT);
	return records[r]();
}

/* ---- shapes ---- */

uint32_t kernel_shape_dims(const struct kernel_shape *s, const dim *dims, dim *out)
{
	uint32_t n = 0;
	for (; s->fields[n]; n++)
		out[n] = dims[s->fields[n] - 1];
	return n;
}

bool kernel_shape_size(const struct kernel_shape *s, const struct dims *d, const dim *dims, int64_t *size)
{
	int64_t n;
	*size = 1;
	for (const uint8_t *f = s->fields; *f; f++)
		if (!dim_is_const(d, dims[*f - 1], &n) || __builtin_mul_overflow(*size, n, size))
			return false;
	return true;
}

int64_t kernel_shape_count(const struct kernel_shape *s, const int64_t *dims)
{
	int64_t n = 1;
	for (const uint8_t *f = s->fields; *f && n >= 0; f++)
		if (dims[*f - 1] < 0 || __builtin_mul_overflow(n, dims[*f - 1], &n))
			n = -1;
	return n;
}

int64_t kernel_reach(const struct kernel_operand *o, const int64_t *dims, int64_t elements)
{
	int64_t reach = elements;
	for (uint32_t k = 0; k < 3 && elements > 0; k++)
		reach = reach / dims[o->size.fields[k] - 1];
	for (uint32_t k = 0; k < 3 && elements > 0; k++) {
		int64_t n = dims[o->size.fields[k] - 1], step = dims[o->step[k] - 1];
		if (step < 0 || __builtin_mul_overflow(n - 1, step, &step) || __builtin_add_overflow(reach, step, &reach))
			return INT64_MAX;
	}
	return reach;
}

/* ---- rules ---- */

/* True if a value of the field may be v. */
static bool record_has_type(enum kernel_field_type t, int64_t v)
{
	switch (t) {
	case FIELD_size:
	case FIELD_step: return v >= 0;
	case FIELD_count: return v > 0;
	case FIELD_flag: return v == 0 || v == 1;
	case FIELD_elem: return kernel_elem_of(v) != DT_COUNT;
	default: return true;
	}
}

/* Sizes that are not constant are equal, or nothing is known of them. */
static bool record_follows(const struct kernel_rule *rule, const struct dims *d, const dim *dims)
{
	dim x = dims[rule->field - 1];
	int64_t v = 0, w = rule->other;
	bool known = dim_is_const(d, x, &v);
	if (rule->kind == RULE_SAME || rule->kind == RULE_ONE_OR || rule->kind == RULE_SHARES) {
		if (dim_eq(x, dims[rule->other - 1]))
			return true;
		if (rule->kind == RULE_ONE_OR)
			return known && v == 1;
		known = known && dim_is_const(d, dims[rule->other - 1], &w);
	}
	switch (rule->kind) {
	case RULE_SHARES: return known && w > 0 && v % w == 0;
	case RULE_MOST: return known && v <= w;
	case RULE_ADDED_OR_BOOL: return known && (v == TRI_ELEM_F32 || v == TRI_ELEM_BOOL);
	default: return known && v == w;
	}
}

static const char *broken_rule(const struct kernel_rule *rule, const struct dims *d, const dim *dims, uint32_t *field)
{
	static const char *const whys[] = {[RULE_SAME] = "a kernel with two sizes that should be equal",
					   [RULE_ONE_OR] = "a kernel with a size that is neither 1 nor that of the result",
					   [RULE_SHARES] = "a kernel with a size that is no multiple of another",
					   [RULE_MOST] = "a kernel with a size that is too large",
					   [RULE_EXACTLY] = "a kernel for another size",
					   [RULE_ADDED_OR_BOOL] = "a kernel with a mask that is neither float32 nor bool"};
	for (; rule->kind; rule++) {
		*field = rule->field - 1u;
		if (!record_follows(rule, d, dims))
			return whys[rule->kind];
	}
	return NULL;
}

const char *kernel_fault(const struct kernel_record *r, const char *fits, const struct dims *d, const dim *dims, uint32_t *field)
{
	const struct kernel_case *c = r->cases;
	int64_t v;
	for (*field = 0; *field < r->n_fields; ++*field)
		if (dim_is_const(d, dims[*field], &v) ? !record_has_type(r->fields[*field].type, v) : r->fields[*field].type == FIELD_elem)
			return "a dim of a kernel that cannot be";
	while (c->fits && strcmp(c->fits, fits) != 0)
		c++;
	const char *why = broken_rule(r->rules, d, dims, field);
	return why ? why : broken_rule(c->rules, d, dims, field);
}

/* ---- element types ---- */

static const dtype dtypes[] = {[TRI_ELEM_F32] = DT_FLOAT32,
			       [TRI_ELEM_BOOL] = DT_BOOL,
			       [TRI_ELEM_F16] = DT_FLOAT16,
			       [TRI_ELEM_BF16] = DT_BFLOAT16,
			       [TRI_ELEM_I8] = DT_INT8};

int64_t kernel_elem_number(dtype t)
{
	int64_t k = TRI_ELEM_I8;
	while (k > TRI_ELEM_F32 && dtypes[k] != t)
		k--;
	return k;
}

dtype kernel_elem_of(int64_t elem) { return elem >= 0 && elem <= TRI_ELEM_I8 ? dtypes[elem] : DT_COUNT; }
