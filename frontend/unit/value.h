/* Compile-time values: what expressions are while the elaborator runs. Small, passed by value; what they point to lives in the front end's
 * arena. V_DIM and V_TENSOR belong to the unit under construction and have no meaning outside it. */
#ifndef TRIB_FRONTEND_UNIT_VALUE_H
#define TRIB_FRONTEND_UNIT_VALUE_H
#include "base/intern.h"
#include "frontend/hir/hir.h"
#include "frontend/syntax/ast.h"

enum value_kind {
	V_POISON, /* an error was reported, or (when checking) nobody can know: says nothing further; `typed`: of a local, its use is the error */
	V_NONE,
	V_VOID,
	V_INT,         /* i */
	V_DIM,         /* d: an integer that depends on run-time sizes */
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
	V_LAYER_CLASS, /* item: a module-form layer, which a call instantiates */
	V_BUILTIN,     /* builtin */
	V_SPECIAL,     /* special */
	V_DTYPE,       /* dt; a call casts */
	V_MODULE,      /* mod */
	V_TYPE,        /* item: an alias; s: a type's name of the prelude */
	V_TEXT,        /* text: a string with run-time values in it */
	V_PARTIAL,     /* partial: what a tuple begins with that is a layer with some of its arguments */
	V_STACKED,     /* t: [n, …], a list that a run-time loop collected, its n elements stacked */
	V_COLLECTED,   /* in a list while such a loop's body is elaborated: what earlier iterations collected */
};
enum special { SP_PRINT, SP_LEN, SP_SHAPE, SP_RANGE, SP_ENUMERATE, SP_ZIP, SP_REVERSED, SP_STR, SP_NTUPLE, SP_COUNT };

struct value {
	enum value_kind kind;
	uint8_t typed; /* a number that the source gave an element type: one more than that; 0: a literal takes the type it needs */
	union {
		int64_t i;
		dim d;
		double f;
		bool b;
		const char *s;
		struct text_template *text;
		const struct partial *partial;
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
struct partial {
	struct func *fn;
	span at; /* the call that gave the first arguments */
};
struct text_template {
	const char *template; /* as of base/format.h */
	struct value values;  /* a V_TUPLE of tensors */
};
struct seq {
	uint32_t n;
	uint32_t holds; /* what is in it, however deep, as bits 1 << kind; once `summed` */
	uint32_t total; /* elements, however deep; once summed */
	uint16_t depth;
	bool summed;
	struct value *at;
	struct seq_capacity *room; /* of `at`, where it has been appended to; NULL: none */
};
/* Lists that grow share their elements: one that ends where `used` does takes the next ones in place. */
struct seq_capacity {
	uint32_t used, size;
};
struct range {                 /* from, from + step, … before `to` */
	struct value from, to; /* V_INT, V_DIM, or V_TENSOR: a scalar of the run */
	int64_t step;
};
/* A function, a functional-form layer, or a member function of an instance. */
struct func {
	struct module *mod;
	struct item *item; /* the top-level definition it belongs to */
	node_id node;      /* FN or LAYER */
	name_id name;
	struct instance *self; /* NULL: top level */
};

/* A parameter of one instance. */
struct layer_param {
	uint32_t id;
	name_id name;
	struct instance *owner;
	node_id node;         /* PARAM */
	bool known;           /* type is valid */
	struct hir_type type; /* of `dims` */
	struct dims *dims;
	span at;
};
enum member_kind { M_VALUE, M_PARAM, M_LAZY, M_FN };
struct member {
	enum member_kind kind;
	name_id name;
	struct value value; /* M_VALUE, M_FN */
	struct layer_param *param;
	node_id node; /* M_LAZY: the LET or CONST, evaluated again in each unit that uses it */
	span at;
	bool is_arg;
};
/* A module-form layer with its arguments: the object that holds parameters and sub-layers. */
struct instance {
	uint32_t id;
	struct item *item;
	struct member *members;
	uint32_t n_members, cap_members;
	hash128 key;             /* of the definition (item_hash_identity) and the arguments: equal keys, equal structure */
	bool failed;             /* errors in it were reported: anything may be missing */
	bool generic;            /* of a definition that is checked on its own, for any arguments */
	uint64_t given;          /* arguments that the call gave, as bits: the others have their defaults */
	const struct dims *dims; /* of sizes among the arguments */
	/* The parameters in it, however deep, with names relative to it; NULL while its body runs. */
	const struct subtree *params;
};
struct subtree {
	uint32_t n;
	struct layer_param **at;
	const char **names;
};

#define VALUE_POISON ((struct value){.kind = V_POISON})
static inline struct value value_int(int64_t i) { return (struct value){.kind = V_INT, .u.i = i}; }
static inline struct value value_float(double f) { return (struct value){.kind = V_FLOAT, .u.f = f}; }
static inline struct value value_bool(bool b) { return (struct value){.kind = V_BOOL, .u.b = b}; }
static inline struct value value_str(const char *s) { return (struct value){.kind = V_STR, .u.s = s}; }
static inline struct value value_tensor(hir_ref t) { return (struct value){.kind = V_TENSOR, .u.t = t}; }
static inline bool value_is_seq(struct value v) { return v.kind == V_TUPLE || v.kind == V_LIST; }
/* A number, bool or trit known now. */
static inline bool value_is_scalar(struct value v)
{
	return v.kind == V_INT || v.kind == V_FLOAT || v.kind == V_BOOL || v.kind == V_TRIT || v.kind == V_DIM;
}
/* Is it a number made of literals and sizes alone, which takes the type that it needs? */
static inline bool value_is_literal(struct value v) { return !v.typed && (v.kind == V_INT || v.kind == V_FLOAT || v.kind == V_DIM); }
/* The element type of a scalar: as the source gave it, else that of its literals. */
dtype scalar_type(struct value v);
/* A float as an element of type t, rounded to nearest. */
void float_bytes(double d, dtype t, void *out);
/* A scalar as one of type t, which holds it: `typed`, 16-bit floats rounded. */
struct value value_with_type(struct value v, dtype t);
/* An integer dimension in canonical kind: V_INT where constant. */
struct value value_dim(const struct dims *d, dim x);

struct arena;
struct value value_seq(struct arena *a, enum value_kind kind, uint32_t n); /* elements to be filled in */
/* The number of values in it, however deep: what walking it costs. */
uint32_t value_count(struct value v);
/* A functional layer with some of its arguments: kept as a tuple, but no list to the program. */
static inline bool value_is_partial(struct value v) { return v.kind == V_TUPLE && v.u.seq->n && v.u.seq->at[0].kind == V_PARTIAL; }
/* The elements of a, then those of b, of the kind of a. *copied: how many elements that took. */
struct value value_concat(struct arena *arena, struct value a, struct value b, uint32_t *copied);
/* How deep lists and tuples are nested in it: 0 for other values. */
uint32_t value_depth(struct value v);
/* Does it hold, however deep, a value of the kind? */
bool value_contains(struct value v, enum value_kind kind);
bool value_is_same(struct value a, struct value b); /* cheap and shallow where deep would cost: false when in doubt */
/* "a tensor", "an integer", …: for messages. */
const char *value_kind_text(struct value v);

struct buf;
struct frontend;
/* For people: 64, 1e-05, "same", [1, 2], Linear(64, 10). Dimensions of `dims`. */
void value_print(const struct frontend *f, const struct dims *dims, struct value v, struct buf *out);
/* The call that made it: Linear(64, 10). */
void instance_print(const struct frontend *f, const struct instance *in, struct buf *out);
/* Into a key; tensors and dimensions are the caller's business and hash as their kind only. */
void value_hash(struct hasher *h, const struct frontend *f, struct value v);
struct member *instance_member(const struct instance *in, name_id name);
#endif
