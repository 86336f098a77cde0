/* The attributes of calls: a unit by its symbol and identity, the values of its symbols, the other unit of an IF. */
#include <string.h>
#include "backend/ir/attributes.h"
#include "backend/ir/read_state.h"
#include "base/arena.h"
#include "base/buf.h"

enum { MAX_SYMS = 256 };

static void attribute_units_print_unit(const struct hir_unit *u, struct buf *out)
{
	char hex[33];
	hash_hex(u->identity, hex);
	buf_printf(out, "@%s %s", u->symbol, hex);
}
/* A text names a unit without its body. */
static struct hir_unit *read_unit(struct ir_reader *r)
{
	struct hir_unit *u = ARENA_NEW(r->unit, struct hir_unit);
	ir_read_expect(r, "@");
	u->symbol = u->name = ir_read_word(r);
	const char *hex = ir_read_word(r);
	if (!r->failed && !hash_parse_hex(hex, &u->identity))
		ir_read_fail(r, "32 hex digits expected");
	u->dims = dims_new(r->unit);
	u->n_inputs = r->fn->n_operands;
	u->inputs = ARENA_ARRAY(r->unit, struct hir_input, u->n_inputs + 1);
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
static const struct ir_call *attribute_units_record(const struct ir_value *v) { return ir_call(v->i); }

static void print_callee(const struct ir_value *v, struct buf *out) { attribute_units_print_unit(attribute_units_record(v)->callee, out); }
static void read_callee(const struct ir_value *v, struct ir_reader *r) { *(const struct hir_unit **)v->at = read_unit(r); }
static void hash_callee(const struct ir_value *v, struct ir_hash *h) { hash_unit(attribute_units_record(v)->callee, h); }
static const char *callee_fault(const struct ir_value *v, const struct ir_fn *f)
{
	(void)f;
	return attribute_units_record(v)->callee ? NULL : "no callee";
}
const struct ir_attribute_type ir_attribute_callee = {
	.size = sizeof(struct hir_unit *), .print = print_callee, .read = read_callee, .hash = hash_callee, .fault = callee_fault};

static void print_syms(const struct ir_value *v, struct buf *out)
{
	ir_print_dims(v->dims, attribute_units_record(v)->syms, dims_syms(attribute_units_record(v)->callee->dims), out);
}
static struct hir_unit *callee_read(const struct ir_value *v) { return (struct hir_unit *)(uintptr_t)attribute_units_record(v)->callee; }
static void read_syms(const struct ir_value *v, struct ir_reader *r)
{
	dim syms[MAX_SYMS];
	uint32_t n = ir_read_dims(r, syms, MAX_SYMS);
	add_syms(r, callee_read(v), n);
	dim *copy = ARENA_ARRAY(r->unit, dim, n + 1);
	if (n)
		memcpy(copy, syms, n * sizeof *copy);
	*(const dim **)v->at = copy;
}
static dim *dims_of_syms(const struct ir_value *v, uint32_t *n)
{
	*n = dims_syms(attribute_units_record(v)->callee->dims);
	return *(dim **)v->at;
}
static void hash_syms(const struct ir_value *v, struct ir_hash *h)
{
	uint32_t n = dims_syms(attribute_units_record(v)->callee->dims);
	hasher_add_u64(h->h, n);
	for (uint32_t k = 0; k < n; k++)
		h->hash_dim(h->h, h->dims, attribute_units_record(v)->syms[k]);
}
static void own_syms(const struct ir_value *v, struct arena *a)
{
	uint32_t n = dims_syms(attribute_units_record(v)->callee->dims);
	dim *copy = ARENA_ARRAY(a, dim, n + 1);
	if (n)
		memcpy(copy, attribute_units_record(v)->syms, n * sizeof *copy);
	*(const dim **)v->at = copy;
}
static const char *syms_fault(const struct ir_value *v, const struct ir_fn *f)
{
	uint32_t n = dims_syms(attribute_units_record(v)->callee->dims);
	if (n && !attribute_units_record(v)->syms)
		return "values of the callee's symbols are missing";
	for (uint32_t k = 0; k < n; k++)
		if (attribute_units_record(v)->syms[k].idx >= dims_count(f->dims))
			return "unknown dimension";
	return NULL;
}
const struct ir_attribute_type ir_attribute_syms = {.size = sizeof(dim *),
						    .print = print_syms,
						    .read = read_syms,
						    .hash = hash_syms,
						    .dims = dims_of_syms,
						    .for_callee = true,
						    .own = own_syms,
						    .fault = syms_fault};

static bool attribute_units_is_absent(const struct ir_value *v) { return v->i->op != OP_IF; }
static void print_other(const struct ir_value *v, struct buf *out)
{
	const struct ir_call *c = attribute_units_record(v);
	buf_printf(out, "%u else ", c->callee->n_inputs);
	attribute_units_print_unit(c->other, out);
	buf_printf(out, " takes %u", c->other->n_inputs);
}
static void read_other(const struct ir_value *v, struct ir_reader *r)
{
	callee_read(v)->n_inputs = ir_read_u32(r, r->fn->n_operands);
	ir_read_expect(r, "else");
	struct hir_unit *other = read_unit(r);
	ir_read_expect(r, "takes");
	other->n_inputs = ir_read_u32(r, r->fn->n_operands);
	add_syms(r, other, dims_syms(attribute_units_record(v)->callee->dims));
	*(const struct hir_unit **)v->at = other;
}
static void hash_other(const struct ir_value *v, struct ir_hash *h) { hash_unit(attribute_units_record(v)->other, h); }
static const char *other_fault(const struct ir_value *v, const struct ir_fn *f)
{
	(void)f;
	return (v->i->op == OP_IF) == (attribute_units_record(v)->other != NULL) ? NULL : "an IF has two callees, CALL and LOOP have one";
}
const struct ir_attribute_type ir_attribute_other = {.size = sizeof(struct hir_unit *),
						     .print = print_other,
						     .read = read_other,
						     .hash = hash_other,
						     .is_absent = attribute_units_is_absent,
						     .fault = other_fault};
