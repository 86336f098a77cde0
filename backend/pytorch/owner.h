/* Which functions and members belong to which layer. */
#ifndef TRIB_BACKEND_PYTORCH_OWNER_H
#define TRIB_BACKEND_PYTORCH_OWNER_H
#include "backend/pytorch/printer.h"
#include "base/vec.h"
#include "frontend/hir/hir.h"

struct native;
struct py_class;

struct method {
	const struct hir_unit *unit;
	const char *name, *text;
	const uint32_t *sizes; /* the symbols of the unit that are further arguments: no tensor has such a dimension */
	uint32_t n_sizes;
};
struct child {
	const char *path;
	struct owner *owner;
};
/* A parameter that is another one. */
struct tie {
	const char *name, *given;
};
/* The instances of a layer with equal arguments, or the functions of the file. */
struct owner {
	const struct hir_layer *layer; /* NULL: of an entry that is no layer, or of the file */
	const char *name;              /* of the definition */
	const char *path;              /* of one instance, in names of parameters */
	const struct native *native;   /* the class that Python has for it; NULL: none */
	VEC(struct method) methods;    /* callees before callers */
	VEC(struct child) children;
	VEC(struct tie) ties;
	const struct hir_entry *entry; /* that is no layer; else NULL */
	const char *init, *body;       /* its statements, and its methods; with holes */
	struct py_class *cls;          /* NULL: not printed yet */
	int state;                     /* of the search for an order of classes */
};
struct owner_list {
	struct owner **at;
	uint32_t len, cap;
};
/* Finds the owners of all units. The first one holds the functions of the file. */
void find_owners(struct printer *p, struct owner_list *out);
struct owner *owner_child(const struct owner *o, const char *path);
/* The owner of a layer; NULL: there is none. */
struct owner *owner_of_layer(const struct printer *p, const struct hir_layer *l);
/* True for nn.Sequential, which is made of its layers alone. */
bool owner_is_sequence(const struct owner *o);

/* ---- functions that take layers ---- */
/* The part of a path before its first dot. */
const char *first_part(struct arena *a, const char *path);
/* True for the first parameter of a layer that is an argument of a function. */
bool is_layer_argument(const struct hir_unit *u, uint32_t input);
/* The path of the layer that a call passes as that argument; NULL: it is not known. */
const char *layer_argument_path(struct arena *a, const struct hir_unit *u, const struct hir_node *call, const struct hir_unit *callee,
				uint32_t input);
#endif
