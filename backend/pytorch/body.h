/* A unit's body while it is printed as a function. */
#ifndef TRIB_BACKEND_PYTORCH_BODY_H
#define TRIB_BACKEND_PYTORCH_BODY_H
#include "backend/pytorch/printer.h"
#include "base/vec.h"
#include "frontend/hir/hir.h"

struct buf;
struct expr;
struct method;
struct owner;

/* How a unit is printed. */
struct body_spec {
	const struct hir_unit *unit;
	const char *name;       /* of the function */
	struct owner *owner;    /* whose method it is; NULL: of the file */
	bool documented;        /* the comment above its definition is its docstring */
	const uint32_t *params; /* of an entry that is no layer: for each input not HIR_NONE if it is a parameter; else NULL */
};
/* A state of the layer and the node whose value it has now. */
struct held {
	const char *path;
	hir_ref node;
};
struct body {
	struct printer *p;
	const struct body_spec *spec;
	const struct hir_unit *u;
	const char **inputs; /* the text of each input */
	const char **vars;   /* of each node that a statement computes: its variable */
	struct expr *exprs;  /* of each node: its expression, once it was made */
	uint32_t *uses;      /* of each node */
	bool *is_source;     /* of each node: other nodes are its results */
	hir_ref *place;      /* of each node: the statement that computes it, or whose part it is */
	hir_ref *last;       /* of each statement: the last one that uses it */
	const char **sizes;  /* the variable of each symbol; NULL: no size needs it */
	hir_ref *size_of;    /* of each symbol: a node with such a dimension, or HIR_NONE */
	uint32_t *size_dim;
	VEC(struct held) held;
	const char **tuple; /* the variables of the tuple that is being assigned */
	uint32_t n_tuple;
	const char *device; /* the first tensor argument, whose device new tensors are on; NULL: there is none */
	bool device_used;
	uint32_t commented; /* the line whose comment was printed last */
};

/* ---- function.c ---- */
/* Returns the function with its body, not indented, with holes. Sets m's sizes. */
const char *print_function(struct printer *p, const struct body_spec *spec, struct method *m);
/* Returns the expression of a unit without inputs that has one output; NULL: Python cannot write it. */
const char *print_initial(struct printer *p, const struct hir_unit *u);

/* ---- body.c: the statements ---- */
void put_body(struct body *b, struct buf *out);
/* Returns a free variable for what node r computes. */
const char *new_variable(struct body *b, hir_ref r, const char *wanted);
void put_line(struct buf *out, const char *indent, const char *text);

/* ---- uses.c: which nodes are statements, and how long a variable is needed ---- */
/* The arguments that the text of a node shows. */
const struct hir_arg *shown_args(const struct body *b, hir_ref r, uint32_t *n);
/* False for an input that the callee finds itself: a parameter or a state. */
bool is_passed(const struct hir_unit *callee, uint32_t input);
/* The number of outputs that a call returns. */
uint32_t returned_outputs(const struct hir_unit *callee);
bool changes_states(const struct hir_unit *u);
/* True for an input, a constant or a size: it needs no variable. */
bool is_leaf(const struct hir_node *n);
/* True for the source of several results, which a statement assigns to several variables. */
bool is_tuple(const struct body *b, hir_ref r);
bool is_tuple_result(const struct body *b, hir_ref r);
/* True for a result that is read from the layer's state after the call. */
bool is_state_result(const struct body *b, const struct hir_node *n);
void count_uses(struct body *b);
/* True if the node needs a statement of its own, whatever the length of its text. */
bool needs_statement(const struct body *b, hir_ref r);
/* Finds the last statement that reads each variable, if the nodes that have a variable are statements. */
void find_last_uses(struct body *b);

/* ---- states.c: assignments to the states of a layer ---- */
/* Before the first statement. */
void states_begin(struct body *b, struct buf *out);
/* The states that a call reads get the values that it is given. */
void put_states_of_call(struct body *b, const struct hir_node *n, struct buf *out);
/* After a call, states have the values that it returns. */
void note_states_of_call(struct body *b, hir_ref r);
/* The new values of the states that the function changes itself. */
void put_states(struct body *b, struct buf *out);
#endif
