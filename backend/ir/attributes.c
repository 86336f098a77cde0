/* The attributes of operations: how each type of attribute is printed, read and hashed. */
#include "backend/ir/attributes.h"
#include <stddef.h>
#include <string.h>
#include "backend/ir/read_state.h"
#include "base/arena.h"
#include "base/buf.h"

/* What the functions of a type work on: `at` is the member of `i`. */
struct ir_attribute_ref {
	const struct ir_fn *f;
	struct ir_inst *i;
	void *at;
};
struct ir_hash {
	struct hasher *h;
	const struct dims *dims;
	ir_hash_dim *hash_dim;
};

struct attribute_type {
	void (*print)(struct ir_attribute_ref a, struct buf *out);
	void (*read)(struct ir_attribute_ref a, struct ir_reader *r);
	void (*hash)(struct ir_attribute_ref a, struct ir_hash *h);
	dim *(*dims)(struct ir_attribute_ref a, uint32_t *n); /* the dims in it; NULL: none */
};

static void add_dims(struct ir_hash *h, const dim *x, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++)
		h->hash_dim(h->h, h->dims, x[k]);
}

/* ---- numbers ---- */

static void print_number(struct ir_attribute_ref a, struct buf *out) { buf_printf(out, " %u", *(uint32_t *)a.at); }
static void read_number(struct ir_attribute_ref a, struct ir_reader *r) { *(uint32_t *)a.at = ir_read_u32(r, UINT32_MAX); }
static void hash_number(struct ir_attribute_ref a, struct ir_hash *h) { hasher_add_u64(h->h, *(uint32_t *)a.at); }
static const struct attribute_type type_number = {print_number, read_number, hash_number, NULL};

static void print_int64(struct ir_attribute_ref a, struct buf *out) { buf_printf(out, " %lld", (long long)*(int64_t *)a.at); }
static void read_int64(struct ir_attribute_ref a, struct ir_reader *r) { *(int64_t *)a.at = ir_read_int(r); }
static void hash_int64(struct ir_attribute_ref a, struct ir_hash *h) { hasher_add_u64(h->h, (uint64_t)*(int64_t *)a.at); }
static const struct attribute_type type_int64 = {print_int64, read_int64, hash_int64, NULL};

enum { REALS = sizeof((struct ir_inst *)0)->f / sizeof(double) };

static void print_reals(struct ir_attribute_ref a, struct buf *out)
{
	for (uint32_t k = 0; k < REALS; k++) {
		buf_putc(out, ' ');
		ir_print_real(((double *)a.at)[k], "%.17g", out);
	}
}
static void read_reals(struct ir_attribute_ref a, struct ir_reader *r)
{
	for (uint32_t k = 0; k < REALS; k++)
		((double *)a.at)[k] = ir_read_real(r);
}
static void hash_reals(struct ir_attribute_ref a, struct ir_hash *h) { hasher_add(h->h, a.at, REALS * sizeof(double)); }
static const struct attribute_type type_reals = {print_reals, read_reals, hash_reals, NULL};

/* ---- one integer for each dim of the result, sets of dims ---- */

static void print_list(const int64_t *x, uint32_t n, struct buf *out)
{
	buf_puts(out, " [");
	for (uint32_t k = 0; k < n; k++)
		buf_printf(out, k ? ", %lld" : "%lld", (long long)x[k]);
	buf_putc(out, ']');
}

static void print_ints(struct ir_attribute_ref a, struct buf *out) { print_list(a.at, a.i->type.rank, out); }
static void read_ints(struct ir_attribute_ref a, struct ir_reader *r) { ir_read_ints(r, a.at); }
static void hash_ints(struct ir_attribute_ref a, struct ir_hash *h) { hasher_add(h->h, a.at, a.i->type.rank * sizeof(int64_t)); }
static const struct attribute_type type_ints = {print_ints, read_ints, hash_ints, NULL};

static void print_mask(struct ir_attribute_ref a, struct buf *out)
{
	int64_t dims[HIR_MAX_RANK];
	uint32_t n = 0;
	for (uint32_t k = 0; k < HIR_MAX_RANK; k++)
		if (*(uint32_t *)a.at >> k & 1)
			dims[n++] = k;
	print_list(dims, n, out);
}
static void read_mask(struct ir_attribute_ref a, struct ir_reader *r)
{
	int64_t dims[HIR_MAX_RANK];
	uint32_t n = ir_read_ints(r, dims);
	for (uint32_t k = 0; k < n; k++) {
		if (dims[k] < 0 || dims[k] >= HIR_MAX_RANK)
			ir_read_fail(r, "dimensions 0 to 7 expected");
		else
			*(uint32_t *)a.at |= 1u << dims[k];
	}
}
static const struct attribute_type type_mask = {print_mask, read_mask, hash_number, NULL};

/* ---- dims ---- */

static void print_dims(struct ir_attribute_ref a, struct buf *out)
{
	buf_putc(out, ' ');
	ir_print_dims(a.f->dims, a.at, a.i->type.rank, out);
}
static void read_dims(struct ir_attribute_ref a, struct ir_reader *r) { ir_read_dims(r, a.at, HIR_MAX_RANK); }
static void hash_dims(struct ir_attribute_ref a, struct ir_hash *h) { add_dims(h, a.at, a.i->type.rank); }
static dim *dims_in_dims(struct ir_attribute_ref a, uint32_t *n)
{
	*n = a.i->type.rank;
	return a.at;
}
static const struct attribute_type type_dims = {print_dims, read_dims, hash_dims, dims_in_dims};

static void print_dim(struct ir_attribute_ref a, struct buf *out)
{
	buf_puts(out, " (");
	dim_print(a.f->dims, *(dim *)a.at, out);
	buf_putc(out, ')');
}
static void read_dim(struct ir_attribute_ref a, struct ir_reader *r)
{
	ir_read_expect(r, "(");
	*(dim *)a.at = ir_read_dim(r);
	ir_read_expect(r, ")");
}
static void hash_dim(struct ir_attribute_ref a, struct ir_hash *h) { add_dims(h, a.at, 1); }
static dim *dims_in_dim(struct ir_attribute_ref a, uint32_t *n)
{
	*n = 1;
	return a.at;
}
static const struct attribute_type type_dim = {print_dim, read_dim, hash_dim, dims_in_dim};

/* ---- constants ---- */

static void print_data(struct ir_attribute_ref a, struct buf *out)
{
	buf_putc(out, ' ');
	ir_print_elements(a.f->dims, &a.i->type, a.i->data, out);
}
/* The element type is at the end of the line: ir_read_constant reads the elements after it. */
static void read_data(struct ir_attribute_ref a, struct ir_reader *r)
{
	(void)a;
	ir_read_space(r);
	r->fn->elements = r->at;
	while (r->at < r->end && *r->at != '}' && *r->at != '\n')
		r->at++;
	ir_read_expect(r, "}");
}
static void hash_data(struct ir_attribute_ref a, struct ir_hash *h)
{
	hasher_add(h->h, a.i->data, (size_t)ir_type_count(h->dims, &a.i->type) * dtype_size(a.i->type.elem));
}
static const struct attribute_type type_data = {print_data, read_data, hash_data, NULL};

void ir_read_constant(struct ir_reader *r, struct ir_inst *i)
{
	const char *after = r->at, *start = r->fn->elements;
	r->fn->elements = NULL;
	if (r->failed || !start)
		return;
	r->at = start;
	i->data = ir_read_elements(r, &i->type);
	if (!r->failed)
		r->at = after;
}

/* ---- units that are called: symbol, identity, values of the symbols ---- */

enum { MAX_SYMS = 256 };

static void print_unit(const struct hir_unit *u, struct buf *out)
{
	char hex[33];
	hash_hex(u->identity, hex);
	buf_printf(out, " @%s %s", u->symbol, hex);
}
/* A text names a unit without its body. */
static struct hir_unit *read_unit(struct ir_reader *r, uint32_t n_inputs)
{
	struct hir_unit *u = ARENA_NEW(r->unit, struct hir_unit);
	ir_read_expect(r, "@");
	u->symbol = u->name = ir_read_word(r);
	const char *hex = ir_read_word(r);
	if (!r->failed && !hash_parse_hex(hex, &u->identity))
		ir_read_fail(r, "32 hex digits expected");
	u->dims = dims_new(r->unit);
	u->n_inputs = n_inputs;
	u->inputs = ARENA_ARRAY(r->unit, struct hir_input, n_inputs + 1);
	u->never_inline = true;
	return u;
}
static void hash_unit(const struct hir_unit *u, struct ir_hash *h)
{
	hasher_add_str(h->h, u->symbol);
	hasher_add_hash(h->h, u->identity);
}

static void add_syms(struct ir_reader *r, struct hir_unit *u, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++)
		dim_new_sym(u->dims, arena_printf(r->unit, "s%u", k));
}

static void print_callee(struct ir_attribute_ref a, struct buf *out)
{
	print_unit(a.i->callee, out);
	buf_putc(out, ' ');
	ir_print_dims(a.f->dims, a.i->callee_syms, dims_syms(a.i->callee->dims), out);
}
static void read_callee(struct ir_attribute_ref a, struct ir_reader *r)
{
	dim syms[MAX_SYMS];
	struct hir_unit *u = read_unit(r, r->fn->n_operands);
	uint32_t n = r->failed ? 0 : ir_read_dims(r, syms, MAX_SYMS);
	add_syms(r, u, n);
	dim *copy = ARENA_ARRAY(r->unit, dim, n + 1);
	if (n)
		memcpy(copy, syms, n * sizeof *copy);
	a.i->callee = u;
	a.i->callee_syms = copy;
}
static void hash_callee(struct ir_attribute_ref a, struct ir_hash *h)
{
	uint32_t n = dims_syms(a.i->callee->dims);
	hash_unit(a.i->callee, h);
	hasher_add_u64(h->h, n);
	add_dims(h, a.i->callee_syms, n);
}
static const struct attribute_type type_callee = {print_callee, read_callee, hash_callee, NULL};

static void print_other(struct ir_attribute_ref a, struct buf *out)
{
	buf_printf(out, " %u else", a.i->callee->n_inputs);
	print_unit(a.i->other, out);
	buf_printf(out, " takes %u", a.i->other->n_inputs);
}
static void read_other(struct ir_attribute_ref a, struct ir_reader *r)
{
	struct hir_unit *callee = (struct hir_unit *)(uintptr_t)a.i->callee; /* from read_callee */
	callee->n_inputs = ir_read_u32(r, r->fn->n_operands);
	ir_read_expect(r, "else");
	struct hir_unit *other = read_unit(r, r->fn->n_operands);
	ir_read_expect(r, "takes");
	other->n_inputs = ir_read_u32(r, r->fn->n_operands);
	add_syms(r, other, dims_syms(callee->dims));
	a.i->other = other;
}
static void hash_other(struct ir_attribute_ref a, struct ir_hash *h) { hash_unit(a.i->other, h); }
static const struct attribute_type type_other = {print_other, read_other, hash_other, NULL};

/* ---- texts in quotes ---- */

static void print_text(struct ir_attribute_ref a, struct buf *out)
{
	buf_putc(out, ' ');
	ir_print_text(*(const char **)a.at, out);
}
static void read_text(struct ir_attribute_ref a, struct ir_reader *r) { *(const char **)a.at = ir_read_text(r); }
static void hash_text(struct ir_attribute_ref a, struct ir_hash *h) { hasher_add_str(h->h, *(const char **)a.at); }
static const struct attribute_type type_text = {print_text, read_text, hash_text, NULL};

/* ---- the table ---- */

static const struct attribute {
	const char *word;
	size_t member;
	const struct attribute_type *type;
} attributes[] = {
#define ATTRIBUTE(id, word, type, member) {word, offsetof(struct ir_inst, member), &type_##type},
#include "backend/ir/attributes.def"
#undef ATTRIBUTE
};

enum attribute_number {
#define ATTRIBUTE(id, word, type, member) NUMBER_##id,
#include "backend/ir/attributes.def"
#undef ATTRIBUTE
};
enum attribute_bit {
#define ATTRIBUTE(id, word, type, member) id = 1 << NUMBER_##id,
#include "backend/ir/attributes.def"
#undef ATTRIBUTE
};
static const uint32_t attributes_of[OP_COUNT] = {
#define OP(id, text, operands, traits, attributes, rule) [OP_##id] = attributes,
#include "backend/ir/ops.def"
#undef OP
};

/* `left` has a bit for each attribute that is still to be visited. */
static const struct attribute *next_attribute(uint32_t *left)
{
	const struct attribute *a = &attributes[__builtin_ctz(*left)];
	*left &= *left - 1;
	return a;
}

static struct ir_attribute_ref ref(const struct attribute *a, const struct ir_fn *f, const struct ir_inst *i)
{
	struct ir_inst *to = (struct ir_inst *)(uintptr_t)i; /* written only by functions that got a mutable instruction */
	return (struct ir_attribute_ref){f, to, (char *)to + a->member};
}

void ir_print_attributes(const struct ir_fn *f, const struct ir_inst *i, struct buf *out)
{
	for (uint32_t left = attributes_of[i->op]; left;) {
		const struct attribute *a = next_attribute(&left);
		buf_printf(out, *a->word ? " %s" : "", a->word);
		a->type->print(ref(a, f, i), out);
	}
}

void ir_read_attributes(struct ir_reader *r, struct ir_inst *i)
{
	for (uint32_t left = attributes_of[i->op]; left && !r->failed;) {
		const struct attribute *a = next_attribute(&left);
		if (*a->word)
			ir_read_expect(r, a->word);
		a->type->read(ref(a, r->fn->f, i), r);
	}
}

void ir_hash_attributes(struct hasher *h, const struct dims *dims, const struct ir_inst *i, ir_hash_dim *hash_one)
{
	struct ir_hash to = {h, dims, hash_one};
	for (uint32_t left = attributes_of[i->op]; left;) {
		const struct attribute *a = next_attribute(&left);
		a->type->hash(ref(a, NULL, i), &to);
	}
}

bool ir_attributes_const(const struct dims *d, const struct ir_inst *i)
{
	for (uint32_t left = attributes_of[i->op]; left;) {
		const struct attribute *a = next_attribute(&left);
		uint32_t n = 0;
		const dim *x = a->type->dims ? a->type->dims(ref(a, NULL, i), &n) : NULL;
		for (uint32_t k = 0; k < n; k++)
			if (!dim_is_const(d, x[k], NULL))
				return false;
	}
	return true;
}

void ir_translate(struct ir_fn *f, const struct dims *from, const dim *syms, struct ir_inst *i)
{
	i->type = ir_type_translate(f->dims, from, syms, &i->type);
	for (uint32_t left = attributes_of[i->op]; left;) {
		const struct attribute *a = next_attribute(&left);
		uint32_t n = 0;
		dim *x = a->type->dims ? a->type->dims(ref(a, f, i), &n) : NULL;
		for (uint32_t k = 0; k < n; k++)
			x[k] = dim_translate(f->dims, from, x[k], syms);
	}
	if (!i->callee)
		return;
	uint32_t n = dims_syms(i->callee->dims); /* shared with the instruction that i is a copy of */
	dim *callee_syms = ARENA_ARRAY(f->unit, dim, n + 1);
	for (uint32_t k = 0; k < n; k++)
		callee_syms[k] = dim_translate(f->dims, from, i->callee_syms[k], syms);
	i->callee_syms = callee_syms;
}
