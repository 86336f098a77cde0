/* Private to this folder: the attributes of one instruction, as attributes.def lists them. */
#ifndef TRIB_BACKEND_IR_ATTRIBUTES_H
#define TRIB_BACKEND_IR_ATTRIBUTES_H
#include "backend/ir/ir.h"

struct ir_reader;
struct ir_attribute_type;

/* One member of a record. */
struct ir_attribute {
	const char *word;
	const struct ir_attribute_type *type;
	uint16_t offset;
	uint8_t count;              /* number of values; IR_EACH: as many as the result has dims */
	const char *const *choices; /* texts of the choices, then NULL; NULL: no choices */
};
enum { IR_ONE = 0, IR_EACH = 255 };

/* A value of an attribute. */
struct ir_value {
	const struct dims *dims;
	const struct ir_inst *i;
	const struct ir_attribute *attribute;
	void *at; /* mutable only if its record is being made */
};
struct ir_hash {
	struct hasher *h;
	const struct dims *dims;
	ir_hash_dim *hash_dim;
};
struct ir_attribute_type {
	size_t size;
	void (*print)(const struct ir_value *v, struct buf *out);
	void (*read)(const struct ir_value *v, struct ir_reader *r);
	void (*hash)(const struct ir_value *v, struct ir_hash *h);
	/* The dims in it; NULL: none. Those of `syms` do not decide whether a value is known when the library is built. */
	dim *(*dims)(const struct ir_value *v, uint32_t *n);
	bool for_callee;
	/* Returns what is wrong with it, or NULL. */
	const char *(*fault)(const struct ir_value *v, const struct ir_fn *f);
	void (*own)(const struct ir_value *v, struct arena *a); /* copies what it refers to; NULL: nothing */
	bool (*is_absent)(const struct ir_value *v);            /* NULL: it is never absent */
};
#define TYPE(name, c) extern const struct ir_attribute_type ir_attribute_##name;
#include "backend/ir/attributes.def"
extern const struct ir_attribute_type ir_attribute_choice;

/* Returns the number of attributes of an operation, and their list. */
uint32_t ir_attributes_of(enum ir_op op, const struct ir_attribute **list);
void ir_print_attributes(const struct dims *d, const struct ir_inst *i, struct buf *out);
/* Reads what ir_print_attributes printed, except the elements of a constant: ir_read_constant reads those, once the type is known. */
void ir_read_attributes(struct ir_reader *r, struct ir_inst *i);
void ir_read_constant(struct ir_reader *r, struct ir_inst *i);
/* Returns what is wrong with the attributes of i, or NULL. */
const char *ir_attributes_fault(const struct ir_fn *f, const struct ir_inst *i);
/* True if all dims among the attributes of i are constant. The symbols of a callee do not count. */
bool ir_attributes_const(const struct dims *d, const struct ir_inst *i);
/* "[a, b]" */
void ir_print_dims(const struct dims *d, const dim *x, uint32_t n, struct buf *out);
#endif
