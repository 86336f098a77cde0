/* The elaborated program: what the front end hands to the back end. Compile-time control flow, generics and layer instances are gone; what is
 * left is units, each a straight list of builtin applications and calls in SSA order over tensors whose element type and shape are solved.
 * Nothing here names a local variable or (but for `at`, which is never hashed) a position. */
#ifndef TRIB_FRONTEND_CORE_H
#define TRIB_FRONTEND_CORE_H
#include <stdbool.h>
#include <stdint.h>
#include "base/hash.h"
#include "base/source.h"
#include "frontend/dim.h"
#include "frontend/dtype.h"

#define CORE_MAX_RANK 8

typedef uint32_t core_ref; /* index into core_unit.nodes */
#define CORE_NONE UINT32_MAX

struct core_type {
	dtype elem;
	uint8_t rank;
	dim dims[CORE_MAX_RANK]; /* of the unit's `dims` */
};

enum builtin {
#define BUILTIN(id, ...) BI_##id,
#include "frontend/builtins.def"
#undef BUILTIN
	BI_COUNT
};

/* One argument of a builtin, by the position of its parameter in builtins.def. */
enum core_arg_kind { ARG_NONE, ARG_TENSOR, ARG_INT, ARG_FLOAT, ARG_BOOL, ARG_STR, ARG_DIM, ARG_LIST };
struct core_arg {
	enum core_arg_kind kind;
	union {
		core_ref tensor;
		int64_t i; /* ARG_INT, ARG_BOOL */
		double f;
		const char *s;
		dim d;
		struct {
			uint32_t start, n; /* ARG_LIST: elements in core_unit.args */
		} list;
	} u;
};

enum core_kind {
	CORE_INPUT,   /* inputs[index] */
	CORE_CONST,   /* literal: `data` holds the elements, host layout, row-major; rank 0 for scalars */
	CORE_DIM,     /* the run-time int64 scalar value of `extent` */
	CORE_BUILTIN, /* builtin(args) */
	CORE_CALL,    /* callee(args): all ARG_TENSOR, one per input of the callee; has as many results as the callee has outputs */
	CORE_PRINT,   /* effect, in order, never merged or removed. args: ARG_STR template (base/format.h), the values: ARG_TENSOR */
	CORE_ASSERT,  /* effect. args: ARG_STR template of the message, ARG_STR "net.tri:7", the condition (a bool of rank 0), the values */
	CORE_IF, /* cond ? callee(args) : other(args): the condition, a bool scalar, then what `callee` takes, then what `other` takes */
	CORE_LOOP, /* while (go) go, carried… = callee(carried…, captured…): `go`, a bool scalar, then the inputs of `callee`, whose outputs
	                 are the next `go` and the carried values; results: the carried values in the end */
	CORE_RESULT, /* result `index` of node `source`, a call, branch, loop, or builtin with several results */
};
struct core_node {
	enum core_kind kind;
	bool build_time; /* depends on parameters and constants only: evaluated when the library is built */
	enum builtin builtin;
	struct core_type
		type; /* of result 0 for calls, branches, loops and multi-result builtins (a bool scalar where there is none); use CORE_RESULT
	                          nodes for each result of those */
	uint32_t args, n_args; /* in core_unit.args */
	uint32_t index;
	core_ref source;
	dim extent;
	const void *data;
	struct core_unit *callee, *other; /* other: CORE_IF only */
	const dim *callee_syms;           /* value of each symbol of the callee, in this unit's dims; `other` has the same symbols */
	span at;
};

struct core_input {
	const char *name; /* "x"; for a parameter its dotted name relative to this unit's layer: "fc1.weight" */
	struct core_type type;
	bool build_time; /* a parameter, or an argument that every build-time value is passed for; constant shape then */
};
struct core_output {
	const char *name; /* "out", or "out0", "out1" … */
	core_ref node;    /* never a call, branch or loop itself: a CORE_RESULT of it */
};

struct core_unit {
	const char *name;   /* for people: "Block(64, stride=1) [N, 64, 56, 56]" */
	const char *symbol; /* identifier-safe and stable: definition's name + 16 hex digits of identity */
	hash128 identity;   /* of the definition (item_hash), compile-time arguments, element types, shapes, build-time flags: survives body edits */
	hash128 definition; /* token hash of the source definition */
	const char *file;   /* where it was defined, as in the diagnostics */
	span at;
	bool always_inline; /* @inline: callers take it in at -O1 */
	bool never_inline;  /* @noinline */
	bool effects;       /* it prints or asserts, itself or in what it calls: no call of it may be removed, merged or reordered */
	int8_t opt;         /* @opt(n), or -1 */
	struct dims *dims;
	struct core_input *inputs;
	uint32_t n_inputs;
	struct core_output *outputs;
	uint32_t n_outputs;
	struct core_node *nodes; /* operands precede users; every CORE_INPUT exists once, in order, first */
	uint32_t n_nodes;
	struct core_arg *args;
	uint32_t n_args;
};

/* A parameter of the model, by its full dotted name. */
struct core_param {
	const char *name;
	struct core_type type; /* constant dims, of `dims` */
	const struct dims *dims;
	struct core_unit *init; /* no inputs, one output; evaluated with a seed taken from `name`. NULL: must come from the weights file */
	bool buffer;            /* of a layer marked @nograd: nothing that training learns, such as running statistics */
	span at;                /* its declaration */
};

struct core_entry {
	const char *name; /* "forward" or the function's name; of two the same "Net", "Net_step" */
	struct core_unit *unit;
	uint32_t *params; /* per unit input: index into core_program.params, or CORE_NONE for a run-time input */
};

struct core_program {
	struct core_entry *entries;
	uint32_t n_entries;
	struct core_param *params;
	uint32_t n_params;
	struct core_unit **units; /* callees before callers; every unit once */
	uint32_t n_units;
};

static inline bool core_calls(enum core_kind k) { return k == CORE_CALL || k == CORE_IF || k == CORE_LOOP; }
/* Does the node do more than give results? */
static inline bool core_has_effect(const struct core_node *n)
{
	return n->kind == CORE_PRINT || n->kind == CORE_ASSERT ||
	       (core_calls(n->kind) && (n->callee->effects || (n->other && n->other->effects)));
}

/* Dimensions of one unit: equal handles are equal sizes. */
static inline bool core_same_shape(const struct core_type *a, const struct core_type *b)
{
	bool same = a->rank == b->rank;
	for (uint32_t i = 0; same && i < a->rank; i++)
		same = dim_eq(a->dims[i], b->dims[i]);
	return same;
}

/* Content hash of a unit: nodes, types, literals, callee identities (not their bodies); no names, no positions. */
hash128 core_unit_hash(const struct core_unit *u);
/* With the contents of all that it calls. */
hash128 core_unit_hash_all(const struct core_unit *u);
/* Text for --dump-types and golden tests. */
struct buf;
void core_print(const struct core_unit *u, struct buf *out);
#endif
