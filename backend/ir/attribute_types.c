/* The types of attributes: how a value is printed, read and hashed. */
#include <string.h>
#include "backend/ir/attributes.h"
#include "backend/ir/read_state.h"
#include "base/arena.h"
#include "base/buf.h"

/* ---- numbers ---- */

static void attribute_types_print_number(const struct ir_value *v, struct buf *out) { buf_printf(out, "%u", *(uint32_t *)v->at); }
static void attribute_types_read_number(const struct ir_value *v, struct ir_reader *r) { *(uint32_t *)v->at = ir_read_u32(r, UINT32_MAX); }
static void hash_number(const struct ir_value *v, struct ir_hash *h) { hasher_add_u64(h->h, *(uint32_t *)v->at); }
const struct ir_attribute_type ir_attribute_number = {
	.size = 4, .print = attribute_types_print_number, .read = attribute_types_read_number, .hash = hash_number};
static const char *axis_fault(const struct ir_value *v, const struct ir_fn *f)
{
	(void)f;
	return *(uint32_t *)v->at < v->i->type.rank ? NULL : "axis out of range";
}
const struct ir_attribute_type ir_attribute_axis = {
	.size = 4, .print = attribute_types_print_number, .read = attribute_types_read_number, .hash = hash_number, .fault = axis_fault};

static void print_flag(const struct ir_value *v, struct buf *out) { buf_puts(out, *(bool *)v->at ? "1" : "0"); }
static void attribute_types_read_flag(const struct ir_value *v, struct ir_reader *r) { *(bool *)v->at = ir_read_u32(r, 1) == 1; }
static void hash_flag(const struct ir_value *v, struct ir_hash *h) { hasher_add_u64(h->h, *(bool *)v->at); }
const struct ir_attribute_type ir_attribute_flag = {
	.size = sizeof(bool), .print = print_flag, .read = attribute_types_read_flag, .hash = hash_flag};

static void print_int(const struct ir_value *v, struct buf *out) { buf_printf(out, "%lld", (long long)*(int64_t *)v->at); }
static void read_int(const struct ir_value *v, struct ir_reader *r) { *(int64_t *)v->at = ir_read_int(r); }
static void hash_int(const struct ir_value *v, struct ir_hash *h) { hasher_add_u64(h->h, (uint64_t)*(int64_t *)v->at); }
const struct ir_attribute_type ir_attribute_int = {.size = 8, .print = print_int, .read = read_int, .hash = hash_int};

static void print_real(const struct ir_value *v, struct buf *out) { ir_print_real(*(double *)v->at, "%.17g", out); }
static void read_real(const struct ir_value *v, struct ir_reader *r) { *(double *)v->at = ir_read_real(r); }
static void hash_real(const struct ir_value *v, struct ir_hash *h) { hasher_add(h->h, v->at, sizeof(double)); }
const struct ir_attribute_type ir_attribute_real = {.size = 8, .print = print_real, .read = read_real, .hash = hash_real};

static void print_mask(const struct ir_value *v, struct buf *out)
{
	const char *before = "[";
	for (uint32_t k = 0; k < HIR_MAX_RANK; k++) {
		if (!(*(uint32_t *)v->at >> k & 1))
			continue;
		buf_printf(out, "%s%u", before, k);
		before = ", ";
	}
	buf_puts(out, *before == '[' ? "[]" : "]");
}
static void read_mask(const struct ir_value *v, struct ir_reader *r)
{
	int64_t dims[HIR_MAX_RANK];
	uint32_t n = ir_read_ints(r, dims);
	for (uint32_t k = 0; k < n; k++) {
		if (dims[k] < 0 || dims[k] >= HIR_MAX_RANK)
			ir_read_fail(r, "dimensions 0 to 7 expected");
		else
			*(uint32_t *)v->at |= 1u << dims[k];
	}
}
static const char *mask_fault(const struct ir_value *v, const struct ir_fn *f)
{
	uint32_t rank = ir_at(f, f->operands[v->i->operands])->type.rank;
	return *(uint32_t *)v->at >> rank ? "mask beyond the rank" : NULL;
}
const struct ir_attribute_type ir_attribute_mask = {
	.size = 4, .print = print_mask, .read = read_mask, .hash = hash_number, .fault = mask_fault};

static void print_choice(const struct ir_value *v, struct buf *out) { buf_puts(out, v->attribute->choices[*(unsigned *)v->at]); }
static void attribute_types_read_choice(const struct ir_value *v, struct ir_reader *r)
{
	const char *word = ir_read_word(r);
	unsigned k = 0;
	while (v->attribute->choices[k] && strcmp(v->attribute->choices[k], word))
		k++;
	if (v->attribute->choices[k])
		*(unsigned *)v->at = k;
	else
		ir_read_fail(r, "another word expected");
}
static const char *choice_fault(const struct ir_value *v, const struct ir_fn *f)
{
	(void)f;
	unsigned n = 0;
	while (v->attribute->choices[n])
		n++;
	return *(unsigned *)v->at < n ? NULL : "unknown choice";
}
const struct ir_attribute_type ir_attribute_choice = {
	.size = 4, .print = print_choice, .read = attribute_types_read_choice, .hash = hash_number, .fault = choice_fault};
_Static_assert(sizeof(enum ir_distribution) == 4, "choices are hashed as numbers");

/* ---- dims ---- */

static void print_dim(const struct ir_value *v, struct buf *out)
{
	bool alone = v->attribute->count == IR_ONE;
	buf_puts(out, alone ? "(" : "");
	dim_print(v->dims, *(dim *)v->at, out);
	buf_puts(out, alone ? ")" : "");
}
static void read_dim(const struct ir_value *v, struct ir_reader *r)
{
	bool alone = v->attribute->count == IR_ONE;
	if (alone)
		ir_read_expect(r, "(");
	*(dim *)v->at = ir_read_dim(r);
	if (alone)
		ir_read_expect(r, ")");
}
static void attribute_types_hash_dim(const struct ir_value *v, struct ir_hash *h) { h->hash_dim(h->h, h->dims, *(dim *)v->at); }
static dim *dims_of_dim(const struct ir_value *v, uint32_t *n)
{
	*n = v->attribute->count == IR_ONE ? 1 : v->attribute->count == IR_EACH ? v->i->type.rank : v->attribute->count;
	return v->at;
}
static const char *dim_fault(const struct ir_value *v, const struct ir_fn *f)
{
	return ((dim *)v->at)->idx < dims_count(f->dims) ? NULL : "unknown dimension";
}
const struct ir_attribute_type ir_attribute_dim = {.size = sizeof(dim),
						   .print = print_dim,
						   .read = read_dim,
						   .hash = attribute_types_hash_dim,
						   .dims = dims_of_dim,
						   .fault = dim_fault};

/* ---- constants and texts ---- */

static const char *pointer_fault(const struct ir_value *v, const struct ir_fn *f)
{
	(void)f;
	return *(const void **)v->at ? NULL : "an attribute is missing";
}

static void print_data(const struct ir_value *v, struct buf *out) { ir_print_elements(v->dims, &v->i->type, *(const void **)v->at, out); }
/* The element type is at the end of the line: ir_read_constant reads the elements after it. */
static void read_data(const struct ir_value *v, struct ir_reader *r)
{
	(void)v;
	ir_read_space(r);
	r->fn->elements = r->at;
	while (r->at < r->end && *r->at != '}' && *r->at != '\n')
		r->at++;
	ir_read_expect(r, "}");
}
static size_t data_bytes(const struct ir_value *v) { return (size_t)ir_type_count(v->dims, &v->i->type) * dtype_size(v->i->type.elem); }
static void hash_data(const struct ir_value *v, struct ir_hash *h) { hasher_add(h->h, *(const void **)v->at, data_bytes(v)); }
static void own_data(const struct ir_value *v, struct arena *a)
{
	size_t bytes = data_bytes(v);
	*(const void **)v->at = memcpy(arena_alloc(a, bytes ? bytes : 1, _Alignof(max_align_t)), *(const void **)v->at, bytes);
}
const struct ir_attribute_type ir_attribute_data = {
	.size = sizeof(void *), .print = print_data, .read = read_data, .hash = hash_data, .own = own_data, .fault = pointer_fault};

/* The size says how many elements there are: a constant whose type has others is not valid. */
static bool not_in_text(const struct ir_value *v)
{
	(void)v;
	return true;
}
static const char *bytes_fault(const struct ir_value *v, const struct ir_fn *f)
{
	if (!ir_type_const(f->dims, &v->i->type))
		return "a constant of unknown size";
	if (data_bytes(v) != *(uint64_t *)v->at)
		return "a constant with another number of elements than its type";
	const int8_t *x = ir_data(v->i)->data;
	dtype t = v->i->type.elem;
	for (uint64_t k = 0; (t == DT_BOOL || t == DT_TRIT) && k < *(uint64_t *)v->at; k++)
		if (x[k] > 1 || x[k] < (t == DT_TRIT ? -1 : 0))
			return "an element that its type does not have";
	return NULL;
}
const struct ir_attribute_type ir_attribute_bytes = {.size = 8, .is_absent = not_in_text, .fault = bytes_fault};

void ir_read_constant(struct ir_reader *r, struct ir_inst *i)
{
	const char *after = r->at, *start = r->fn->elements;
	r->fn->elements = NULL;
	if (r->failed || !start)
		return;
	r->at = start;
	struct ir_data *to = (struct ir_data *)(uintptr_t)i->attributes; /* being made */
	to->data = ir_read_elements(r, &i->type);
	if (r->failed)
		return;
	to->bytes = (uint64_t)ir_type_count(r->dims, &i->type) * dtype_size(i->type.elem);
	r->at = after;
}

static void attribute_types_print_text(const struct ir_value *v, struct buf *out) { ir_print_text(*(const char **)v->at, out); }
static void attribute_types_read_text(const struct ir_value *v, struct ir_reader *r) { *(const char **)v->at = ir_read_text(r); }
static void hash_text(const struct ir_value *v, struct ir_hash *h) { hasher_add_str(h->h, *(const char **)v->at); }
static void own_text(const struct ir_value *v, struct arena *a) { *(const char **)v->at = arena_strdup(a, *(const char **)v->at); }
const struct ir_attribute_type ir_attribute_text = {.size = sizeof(char *),
						    .print = attribute_types_print_text,
						    .read = attribute_types_read_text,
						    .hash = hash_text,
						    .own = own_text,
						    .fault = pointer_fault};
