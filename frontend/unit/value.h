/* The values of expressions during elaboration. They are passed by value and point into the front end's arena. V_DIM and V_TENSOR belong
 * to the unit under construction and have no meaning outside it. */
#ifndef TRIB_FRONTEND_UNIT_VALUE_H
#define TRIB_FRONTEND_UNIT_VALUE_H
#include "base/intern.h"
#include "frontend/hir/hir.h"
#include "frontend/syntax/ast.h"

enum value_kind {
	V_POISON, /* unknown: an error was reported, or a check cannot decide it. No errors follow. `typed`: the use of a local is the error;
		     element: of a list of unknown length; NULL: it may be no list */
	V_NONE,
	V_VOID,
	V_INT,         /* i */
	V_DIM,         /* d: an integer computed from sizes known only at run time */
	V_FLOAT,       /* f */
	V_BOOL,        /* b */
	V_TRIT,        /* i */
	V_STR,         /* s */
	V_TUPLE,       /* seq */
	V_LIST,        /* seq */
	V_RANGE,       /* range */
	V_TENSOR,      /* t */
	V_LAYER,       /* layer: an instance */
	V_FN,          /* fn */
	V_LAYER_CLASS, /* item: a module-form layer; a call makes an instance */
	V_BUILTIN,     /* builtin */
	V_SPECIAL,     /* special */
	V_DTYPE,       /* dt; a call casts */
	V_MODULE,      /* mod */
	V_TYPE,        /* item: an alias; s: a type's name of the prelude */
	V_TEXT,        /* text: a string with run-time values in it */
	V_PARTIAL,     /* partial: first element of a tuple that is a layer with some of its arguments */
	V_STACKED,     /* t: the stacked elements of a list that a run-time loop collected */
	V_COLLECTED,   /* in such a list inside the loop: the elements of earlier iterations */
	V_UNSET,       /* i: the node of its type. A local of `let x: T` before its first assignment */
};
enum special { SP_PRINT, SP_LEN, SP_SHAPE, SP_RANGE, SP_ENUMERATE, SP_ZIP, SP_REVERSED, SP_STR, SP_NTUPLE, SP_COUNT };

struct value {
	enum value_kind kind;
	uint8_t typed; /* of a number: its element type plus 1, which can hold it; 0: a literal, exact, which takes the type that it needs */
	union {
		int64_t i;
		dim d;
		double f;
		bool b;
		const char *s;
		struct text_template *text;
		const struct partial *partial;
		const struct element *element;
		struct seq *seq;
		struct range *range;
		hir_ref t;
		struct instance *layer;
		struct func *fn;
		struct item *item;
		enum builtin builtin;
		enum special special;
		dtype dt;
		struct module *mod;
	} u;
};
/* What a check knows of a list of unknown length. */
struct element {
	struct value item;    /* an element; V_VOID: none is known yet */
	uint32_t first;       /* symbols from this one on differ from element to element */
	bool apart;           /* each of them is at one place of `item` only */
	struct element *next; /* an element may also be like this one: a layer of another definition */
};
struct partial {
	struct func *fn; /* a functional layer, or a function of a block that captures locals */
	span at;         /* the call that gave the first arguments */
	const span *ats; /* by parameter: where its argument is */
	struct {
		bool called;   /* as a layer */
		bool reported; /* as a value without its other arguments */
	} *use;
};
struct text_template {
	const char *template; /* of base/format.h */
	struct value values;  /* a V_TUPLE of tensors */
};
struct seq {
	uint32_t n;
	uint32_t kinds; /* of all nested values, as bits 1 << kind; valid once `summed` */
	uint32_t total; /* nested values; valid once summed */
	uint16_t depth;
	bool summed;
	struct value *at;
	struct seq_capacity *capacity; /* of `at`, after an append; NULL: none */
};
/* Lists that grow share their elements: a list that ends at `used` can append in place. */
struct seq_capacity {
	uint32_t used, size;
};
struct range {                 /* from, from + step, … before `to` */
	struct value from, to; /* V_INT, V_DIM, or V_TENSOR: a scalar known only at run time */
	int64_t step;
};
/* A function, a functional-form layer, or a member function of an instance. */
struct func {
	struct module *mod;
	struct item *item; /* the top-level definition that contains it */
	node_id node;      /* FN or LAYER */
	name_id name;
	struct instance *self;   /* NULL: top level */
	bool local;              /* defined in a block */
	const name_id *captured; /* the locals that it takes with it */
	uint32_t n_captured;
};

/* A parameter or a state of one instance. */
struct layer_param {
	uint32_t id;
	name_id name;
	struct instance *owner;
	node_id node;         /* PARAM or STATE */
	bool has_type;        /* `type` is valid */
	struct hir_type type; /* of `dims` */
	struct dims *dims;
	/* Of a state: */
	name_id local;    /* its local in a unit */
	name_id capacity; /* T of `cap T` */
	uint32_t axis;    /* the dimension that grows, 0 in `type`; STATE_FIXED: none */
	span at;
};
#define STATE_FIXED UINT32_MAX
enum member_kind { M_VALUE, M_PARAM, M_STATE, M_LAZY, M_FN };
struct member {
	enum member_kind kind;
	name_id name;
	struct value value; /* M_VALUE, M_FN */
	struct layer_param *param;
	node_id node; /* M_LAZY: the LET or CONST, evaluated in each unit that uses it */
	span at;
	bool is_arg;
};
/* An instance of a module-form layer, with its parameters and sub-layers. */
struct instance {
	uint32_t id;
	struct item *item;
	struct member *members;
	uint32_t n_members, cap_members;
	hash128 key;    /* of the definition (item_hash_identity) and the arguments: instances with equal keys have equal structure */
	bool failed;    /* errors in it were reported: members may be missing */
	bool generic;   /* its definition is checked on its own, for any arguments */
	span at;        /* the call that made it */
	uint64_t given; /* bits of the arguments that the call passed; the others have their defaults */
	struct tied_param *tied; /* what the call gives to parameters: elab/tied.h */
	uint32_t n_tied;
	const struct instance *hidden_in;         /* bound to a member of it whose name begins with `_`; NULL: not so */
	bool binds_hidden;                        /* its body computes such a member */
	const struct dims *dims;                  /* of the sizes among the arguments */
	const struct param_tree *params, *states; /* NULL while its body runs */
	const struct hir_layer *made;             /* how the units of its functions show it; NULL: none was finished */
};
/* Another place of a parameter: it is tied, or its instance has two names. */
struct param_alias {
	uint32_t param; /* index in the list of parameters */
	const char *name;
};
/* The parameters or states of an instance and its sub-layers, with names relative to it. */
struct param_tree {
	uint32_t n, n_aliases, n_repeats;
	struct layer_param **at;
	const char **names;
	struct param_alias *aliases;
	uint32_t *repeats; /* as in param_list (elab/unit.h) */
};

#define VALUE_POISON ((struct value){.kind = V_POISON})
static inline struct value value_int(int64_t i) { return (struct value){.kind = V_INT, .u.i = i}; }
static inline struct value value_float(double f) { return (struct value){.kind = V_FLOAT, .u.f = f}; }
static inline struct value value_bool(bool b) { return (struct value){.kind = V_BOOL, .u.b = b}; }
static inline struct value value_str(const char *s) { return (struct value){.kind = V_STR, .u.s = s}; }
static inline struct value value_tensor(hir_ref t) { return (struct value){.kind = V_TENSOR, .u.t = t}; }
static inline bool value_is_seq(struct value v) { return v.kind == V_TUPLE || v.kind == V_LIST; }
/* True for a number, bool, trit or size. */
static inline bool value_is_scalar(struct value v)
{
	return v.kind == V_INT || v.kind == V_FLOAT || v.kind == V_BOOL || v.kind == V_TRIT || v.kind == V_DIM;
}
/* True for a number computed from literals and sizes alone: it takes the type that it needs. */
static inline bool value_is_literal(struct value v) { return !v.typed && (v.kind == V_INT || v.kind == V_FLOAT || v.kind == V_DIM); }
/* The element type of a scalar: the declared one, else the default of its kind. */
dtype scalar_type(struct value v);
/* The nearest number of float type t. */
double round_float(double d, dtype t);
/* A number or bool as a float of type t, rounded once. */
double number_as(struct value v, dtype t);
/* Stores a float of type t. */
void float_bytes(double d, dtype t, void *out);
/* The number with type t: rounded if t is a float type, else t can hold it. Other scalars stay. */
struct value value_with_type(struct value v, dtype t);
/* A dimension as V_INT if it is constant, else V_DIM. */
struct value value_dim(const struct dims *d, dim x);

struct arena;
struct value value_seq(struct arena *a, enum value_kind kind, uint32_t n); /* the caller fills in the elements */
/* The number of nested values: the cost of a walk. */
uint32_t value_count(struct value v);
/* True for a functional layer with some of its arguments, and a function with captured locals: a tuple that programs do not see as one. */
static inline bool value_is_partial(struct value v) { return v.kind == V_TUPLE && v.u.seq->n && v.u.seq->at[0].kind == V_PARTIAL; }
/* True for what a call accepts as its callee. */
static inline bool value_is_callable(struct value v)
{
	return v.kind == V_FN || v.kind == V_LAYER || v.kind == V_LAYER_CLASS || v.kind == V_BUILTIN || v.kind == V_SPECIAL ||
	       v.kind == V_DTYPE || value_is_partial(v);
}
/* The elements of a, then those of b, as a sequence of a's kind. *copied: the number of elements copied. */
struct value value_concat(struct arena *arena, struct value a, struct value b, uint32_t *copied);
/* The nesting depth of lists and tuples; 0 for other values. */
uint32_t value_depth(struct value v);
/* True if a value of the kind is nested in it, or is v itself. */
bool value_contains(struct value v, enum value_kind kind);
/* A cheap comparison: nested values are compared by address, so false does not imply a difference. */
bool value_is_same(struct value a, struct value b);
/* For messages: "a tensor", "an integer". */
const char *value_kind_text(struct value v);

struct buf;
struct frontend;
/* Prints for people: 64, 1e-05, "same", [1, 2], Linear(64, 10). Sizes are of `dims`. */
void value_print(const struct frontend *f, const struct dims *dims, struct value v, struct buf *out);
/* Prints the call that made it: Linear(64, 10). */
void instance_print(const struct frontend *f, const struct instance *in, struct buf *out);
/* Adds a value to a key. Tensors and sizes add only their kind. */
void value_hash(struct hasher *h, const struct frontend *f, struct value v);
struct member *instance_member(const struct instance *in, name_id name);
#endif
