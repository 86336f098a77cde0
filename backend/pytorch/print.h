/* What the parts of this folder share. */
#ifndef TRIB_BACKEND_PYTORCH_PRINT_H
#define TRIB_BACKEND_PYTORCH_PRINT_H
#include "backend/pytorch/pytorch.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/source.h"
#include "base/vec.h"
#include "frontend/hir/hir.h"

/* One file under construction. */
struct printer {
	struct arena *a;
	const struct hir_program *program;
	const struct sources *sources;
	struct diags *diags;
	const char *model;
	struct owner *file;        /* of the functions that are no methods */
	struct owner_list *owners; /* all of them */
};
/* Reports what cannot be written in Python. */
void report_unprintable(struct printer *p, span at, const char *what);

/* ---- bodies (body.c) ---- */
struct method;
struct owner;
/* How a unit's body is printed. */
struct body_spec {
	const struct hir_unit *unit;
	const char *name;       /* of the function */
	struct owner *owner;    /* whose method it is; NULL: of the file */
	const uint32_t *params; /* of an entry that is no layer: for each input not HIR_NONE if it is a parameter; else NULL */
};
/* Returns the function with its body, not indented, with holes. Sets m's sizes. */
const char *print_function(struct printer *p, const struct body_spec *spec, struct method *m);
/* Returns the expression of a unit without inputs that has one output. */
const char *print_initial(struct printer *p, const struct hir_unit *u);
/* The name of the method or function that prints a unit. */
const char *function_name(struct printer *p, const struct owner *owner, const struct hir_unit *u);

/* ---- expressions (expr.c) ---- */
enum precedence { PREC_TERNARY, PREC_COMPARE, PREC_SUM, PREC_PRODUCT, PREC_UNARY, PREC_CALL };
struct expr {
	const char *text; /* with holes */
	enum precedence prec;
	bool is_number; /* a number of Python, not a tensor */
};
struct held {
	const char *path;
	hir_ref node;
};
/* A unit's body while it is printed. */
struct body {
	struct printer *p;
	const struct body_spec *spec;
	const struct hir_unit *u;
	const char **inputs; /* the text of each input */
	const char **vars;   /* of each node that a statement computes: its variable */
	uint32_t *uses;      /* of each node */
	hir_ref *place;      /* of each node: the statement that computes it, or whose part it is */
	hir_ref *last;       /* of each statement: the last one that uses it */
	const char **sizes;  /* the variable of each symbol; NULL: no size needs it */
	hir_ref *size_of;    /* of each symbol: a node with such a dimension, or HIR_NONE */
	uint32_t *size_dim;
	VEC(struct held) held; /* of each state: the node whose value the layer has now */
	const char **tuple;    /* the variables of the tuple that is being assigned */
	uint32_t n_tuple;
	const char *device; /* "x.device"; "": there is no tensor input */
};
/* The call of a unit with the arguments args[0 … n-1] for its inputs. */
const char *call_text(struct body *b, const struct hir_node *call, const struct hir_unit *callee, const struct hir_arg *args, uint32_t n);
/* False for an input that the callee finds itself: a parameter or a state. */
static inline bool is_passed(const struct hir_unit *callee, uint32_t input)
{
	return !callee->inputs[input].param && !callee->inputs[input].state;
}
/* The part of a path before its first dot. */
const char *first_part(struct arena *a, const char *path);
/* True for the first parameter of a layer that is an argument of a function. */
bool is_layer_argument(const struct hir_unit *u, uint32_t input);
/* The path of the layer that a call passes as that argument; NULL: it is not known. */
const char *layer_argument_path(struct arena *a, const struct hir_unit *u, const struct hir_node *call, const struct hir_unit *callee,
				uint32_t input);
/* The number of outputs that a call returns. */
uint32_t returned_outputs(const struct hir_unit *callee);
/* The arguments that the text of a node shows. */
const struct hir_arg *shown_args(const struct body *b, hir_ref r, uint32_t *n);
struct expr node_expr(struct body *b, hir_ref r);
/* The node's variable, or its expression. */
struct expr operand_expr(struct body *b, hir_ref r);
/* With parentheses if it binds less than `prec`. */
const char *operand_text(struct body *b, hir_ref r, enum precedence prec);
/* The same of a node that must be a tensor: numbers become tensors. */
const char *tensor_text(struct body *b, hir_ref r);
const char *dim_expr(struct body *b, dim d, enum precedence prec);
const char *dtype_python(struct arena *a, dtype t); /* "torch.float32" */

/* ---- the layers of the program (owners.c) ---- */
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

/* ---- layers that Python has (native.c) ---- */
struct native { /* a row of layers.def */
	const char *name, *python, *args;
};
const struct native *native_layer(const struct hir_layer *l);
/* True for a layer that takes and gives its two states as a pair. */
bool native_takes_pair(const struct hir_layer *l);
/* Returns the call that makes the layer, with holes. */
const char *native_call(struct printer *p, const struct native *n, const struct hir_layer *l);
const char *layer_value_text(struct printer *p, const struct hir_value *v);

/* ---- classes (classes.c) ---- */
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
/* Returns the statements that make the members of a layer, with holes (members.c). */
const char *print_members(struct printer *p, struct owner *o);
/* Returns nn.Sequential with the layers of an owner, with holes. */
const char *print_sequence(struct printer *p, const struct owner *o);
/* Names and prints the methods of an owner. */
void print_methods(struct printer *p, struct owner *o);
/* Prints the functions of the file that take layers, once all methods have names. */
void print_functions_of_layers(struct printer *p);

/* ---- comments (comment.c) ---- */
/* Returns the comment in the lines above a place, its lines without `#`, in `p->a`; "" if there is none. */
const char *comment_above(struct printer *p, span at);
/* Appends the lines of a comment, each after `# `. */
void put_comment(struct buf *out, uint32_t indent, const char *comment);
#endif
