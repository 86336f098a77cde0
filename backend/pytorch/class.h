/* Classes: their members, methods and arguments. */
#ifndef TRIB_BACKEND_PYTORCH_CLASS_H
#define TRIB_BACKEND_PYTORCH_CLASS_H
#include "backend/pytorch/owner.h"

struct buf;

/* Owners that differ only in numbers are one class, which takes the numbers as arguments. */
struct py_class {
	const char *name;
	const struct hir_layer *layer;
	const char *init, *body;  /* of its first owner */
	uint32_t n_holes, n_init; /* of both; of init */
	const char **names;       /* of each hole: the argument; NULL: the number is the same in all owners */
	struct class_arg {
		const char *name;
		uint32_t hole; /* one that has it */
		bool stored;   /* methods read it */
	} *args;
	uint32_t n_args;
};
/* Makes the classes of the owners, in the order of the file. */
struct py_class **make_classes(struct printer *p, const struct owner_list *owners, uint32_t *n);
/* Returns the call that makes the layer of an owner that has a class, with holes. */
const char *owner_call(struct printer *p, const struct owner *o);
/* Appends the class. */
void print_class(struct printer *p, const struct py_class *c, struct buf *out);

/* ---- members.c ---- */
/* Returns the statements that make the members of a layer, with holes. */
const char *print_members(struct printer *p, struct owner *o);
/* Returns nn.Sequential with the layers of an owner, with holes. */
const char *print_sequence(struct printer *p, const struct owner *o);

/* ---- methods.c ---- */
/* Names and prints the methods of an owner. */
void print_methods(struct printer *p, struct owner *o);
/* Prints the functions of the file that take layers, once all methods have names. */
void print_functions_of_layers(struct printer *p);
/* The name of the method or function that prints a unit. owner NULL: a function of the file. */
const char *function_name(struct printer *p, const struct owner *owner, const struct hir_unit *u);
#endif
