/* The attributes of an instruction as a whole: attribute_types.c has the types of their values. */
#include "backend/ir/attributes.h"
#include <stddef.h>
#include <string.h>
#include "backend/ir/read_state.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/bug.h"

#define CHOICE(id, text) text,
#define CHOICES(name, choices) static const char *const texts_of_##name[] = {choices NULL};
#include "backend/ir/attributes.def"
#undef CHOICE

struct record {
	const struct ir_attribute *attributes;
	uint32_t n;
	size_t size;
};
#define ONE(kind, member, text) {.word = text, .type = &ir_attribute_##kind, .offset = offsetof(self, member)},
#define EACH(kind, member, text) {.word = text, .type = &ir_attribute_##kind, .offset = offsetof(self, member), .count = IR_EACH},
#define LIST(kind, member, n, text) {.word = text, .type = &ir_attribute_##kind, .offset = offsetof(self, member), .count = n},
#define PICK(names, member, text) \
	{.word = text, .type = &ir_attribute_choice, .offset = offsetof(self, member), .choices = texts_of_##names},
#define RECORD(name, members)                                                             \
	static struct record record_##name(void)                                          \
	{                                                                                 \
		typedef struct ir_##name self;                                            \
		static const struct ir_attribute list[] = {members};                      \
		return (struct record){list, sizeof list / sizeof list[0], sizeof(self)}; \
	}
#include "backend/ir/attributes.def"
#undef ONE
#undef EACH
#undef LIST
#undef PICK

static struct record record_of(const struct ir_inst *i)
{
	switch (ir_op_record(i->op)) {
#define RECORD(name, members) \
	case IR_RECORD_##name: return record_##name();
#include "backend/ir/attributes.def"
	default: return (struct record){NULL, 0, 0};
	}
}

/* A record is behind its kind, which the verifier compares with the operation. */
struct header {
	_Alignas(max_align_t) enum ir_record kind;
};
static enum ir_record attributes_kind_of(const void *attributes) { return ((const struct header *)attributes)[-1].kind; }

static void *record_new(struct arena *a, enum ir_record kind, size_t size, const void *content)
{
	struct header *h = arena_alloc(a, sizeof *h + size, _Alignof(max_align_t));
	h->kind = kind;
	return content ? memcpy(h + 1, content, size) : h + 1;
}

uint32_t ir_attributes_of(enum ir_op op, const struct ir_attribute **list)
{
	struct record r = record_of(&(struct ir_inst){.op = op});
	*list = r.attributes;
	return r.n;
}

const void *ir_attributes(const struct ir_inst *i, enum ir_record r)
{
	BUG_ON(ir_op_record(i->op) != r);
	return i->attributes;
}

void ir_set_attributes(struct ir_fn *f, ir_ref i, enum ir_record r, const void *attributes)
{
	struct ir_inst *to = ir_at(f, i);
	BUG_ON(ir_op_record(to->op) != r);
	to->attributes = record_new(f->unit, r, record_of(to).size, attributes);
}

static struct ir_value attributes_value(const struct dims *d, const struct ir_inst *i, const struct ir_attribute *a)
{
	return (struct ir_value){d, i, a, (char *)(uintptr_t)i->attributes + a->offset};
}
static bool attributes_is_absent(const struct ir_value *v) { return v->attribute->type->is_absent && v->attribute->type->is_absent(v); }
static uint32_t attributes_count(const struct ir_inst *i, const struct ir_attribute *a)
{
	return a->count == IR_EACH ? i->type.rank : a->count;
}

void ir_print_attributes(const struct dims *d, const struct ir_inst *i, struct buf *out)
{
	struct record r = record_of(i);
	for (uint32_t k = 0; k < r.n; k++) {
		const struct ir_attribute *a = &r.attributes[k];
		struct ir_value v = attributes_value(d, i, a);
		if (attributes_is_absent(&v))
			continue;
		buf_printf(out, *a->word ? " %s " : " ", a->word);
		if (a->count == IR_ONE) {
			a->type->print(&v, out);
			continue;
		}
		buf_putc(out, '[');
		for (uint32_t n = 0; n < attributes_count(i, a); n++, v.at = (char *)v.at + a->type->size) {
			buf_puts(out, n ? ", " : "");
			a->type->print(&v, out);
		}
		buf_putc(out, ']');
	}
}

static void attributes_read_list(struct ir_reader *r, struct ir_value v)
{
	bool each = v.attribute->count == IR_EACH;
	uint32_t most = each ? HIR_MAX_RANK : v.attribute->count, least = each ? 0 : most, n = 0;
	ir_read_expect(r, "[");
	for (; !r->failed && !ir_read_eat(r, "]"); n++) {
		if (n)
			ir_read_expect(r, ",");
		if (n == most)
			ir_read_fail(r, "fewer values expected");
		if (r->failed)
			return;
		v.attribute->type->read(&v, r);
		v.at = (char *)v.at + v.attribute->type->size;
	}
	if (n < least)
		ir_read_fail(r, "more values expected");
	if (each && r->fn->n_each != NO_EACH && r->fn->n_each != n)
		ir_read_fail(r, "as many values as the result has dimensions expected");
	if (each)
		r->fn->n_each = n;
}

void ir_read_attributes(struct ir_reader *r, struct ir_inst *i)
{
	struct record of = record_of(i);
	if (of.n)
		i->attributes = record_new(r->unit, ir_op_record(i->op), of.size, NULL);
	for (uint32_t k = 0; k < of.n && !r->failed; k++) {
		const struct ir_attribute *a = &of.attributes[k];
		struct ir_value v = attributes_value(r->dims, i, a);
		if (attributes_is_absent(&v))
			continue;
		if (*a->word)
			ir_read_expect(r, a->word);
		if (a->count == IR_ONE)
			a->type->read(&v, r);
		else
			attributes_read_list(r, v);
	}
}

void ir_hash_attributes(struct hasher *h, const struct dims *dims, const struct ir_inst *i, ir_hash_dim *hash_one)
{
	struct ir_hash to = {h, dims, hash_one};
	struct record r = record_of(i);
	for (uint32_t k = 0; k < r.n; k++) {
		const struct ir_attribute *a = &r.attributes[k];
		struct ir_value v = attributes_value(dims, i, a);
		uint32_t n = attributes_is_absent(&v) ? 0 : a->count == IR_ONE ? 1 : attributes_count(i, a);
		for (; n; n--, v.at = (char *)v.at + a->type->size)
			a->type->hash(&v, &to);
	}
}

bool ir_attributes_const(const struct dims *d, const struct ir_inst *i)
{
	struct record r = record_of(i);
	for (uint32_t k = 0; k < r.n; k++) {
		const struct ir_attribute *a = &r.attributes[k];
		if (!a->type->dims || a->type->for_callee)
			continue;
		struct ir_value v = attributes_value(d, i, a);
		uint32_t n = 0;
		const dim *x = a->type->dims(&v, &n);
		for (uint32_t j = 0; j < n; j++)
			if (!dim_is_const(d, x[j], NULL))
				return false;
	}
	return true;
}

const char *ir_attributes_fault(const struct ir_fn *f, const struct ir_inst *i)
{
	struct record r = record_of(i);
	if ((r.n > 0) != (i->attributes != NULL) || (r.n && attributes_kind_of(i->attributes) != ir_op_record(i->op)))
		return "the attributes are not those of the operation";
	for (uint32_t k = 0; k < r.n; k++) {
		const struct ir_attribute *a = &r.attributes[k];
		struct ir_value v = attributes_value(f->dims, i, a);
		uint32_t n = a->count == IR_ONE ? 1 : attributes_count(i, a);
		for (; a->type->fault && n; n--, v.at = (char *)v.at + a->type->size) {
			const char *fault = a->type->fault(&v, f);
			if (fault)
				return fault;
		}
	}
	return NULL;
}

void ir_own_attributes(struct ir_fn *f, struct ir_inst *i)
{
	struct record r = record_of(i);
	if (!r.n)
		return;
	i->attributes = record_new(f->unit, ir_op_record(i->op), r.size, i->attributes);
	for (uint32_t k = 0; k < r.n; k++) {
		struct ir_value v = attributes_value(f->dims, i, &r.attributes[k]);
		if (v.attribute->type->own)
			v.attribute->type->own(&v, f->unit);
	}
}
