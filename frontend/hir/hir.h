/* The elaborated program, the output of the front end. Compile-time control flow, generics and layer instances are resolved. A unit is a
 * list of builtin applications and calls in SSA order; element types and shapes of its tensors are solved. Names of locals and positions
 * are not part of it, except `at`, which is never hashed. */
#ifndef TRIB_FRONTEND_HIR_HIR_H
#define TRIB_FRONTEND_HIR_HIR_H
#include <stdbool.h>
#include <stdint.h>
#include "base/hash.h"
#include "base/source.h"
#include "frontend/hir/dim.h"
#include "frontend/hir/dtype.h"

#define HIR_MAX_RANK 8

typedef uint32_t hir_ref; /* index into hir_unit.nodes */
#define HIR_NONE UINT32_MAX

struct hir_type {
	dtype elem;
	uint8_t rank;
	dim dims[HIR_MAX_RANK]; /* of the unit's `dims` */
};

enum builtin {
#define BUILTIN(id, ...) BI_##id,
#include "frontend/hir/builtins.def"
#undef BUILTIN
	BI_COUNT
};
/* Returns its name in sources: "conv2d". */
const char *builtin_name(enum builtin b);

/* One argument of a builtin. Arguments have the order of the parameters in builtins.def. */
enum hir_arg_kind { ARG_NONE, ARG_TENSOR, ARG_INT, ARG_FLOAT, ARG_BOOL, ARG_STR, ARG_DIM, ARG_LIST };
struct hir_arg {
	enum hir_arg_kind kind;
	union {
		hir_ref tensor;
		int64_t i; /* ARG_INT, ARG_BOOL */
		double f;
		const char *s;
		dim d;
		struct {
			uint32_t start, n; /* ARG_LIST: elements in hir_unit.args */
		} list;
	} u;
};

enum hir_kind {
	HIR_INPUT,   /* inputs[index] */
	HIR_CONST,   /* literal: `data` holds the elements, host layout, row-major; rank 0 for scalars */
	HIR_DIM,     /* the run-time int64 scalar value of `extent` */
	HIR_BUILTIN, /* builtin(args) */
	HIR_CALL,    /* callee(args): all ARG_TENSOR, one per input of the callee; has as many results as the callee has outputs */
	HIR_PRINT,   /* effect, in order, never merged or removed. args: ARG_STR template (base/format.h), the values: ARG_TENSOR */
	HIR_ASSERT,  /* effect. args: ARG_STR template of the message, ARG_STR "net.tri:7", the condition (a bool of rank 0), the values */
	/* condition ? callee(…) : other(…). args: the condition, a bool scalar; the inputs of `callee`; those of `other` */
	HIR_IF,
	/* while (go) go, carried… = callee(carried…, captured…). args: `go`, a bool scalar, then the inputs of `callee`. The outputs of
	 * `callee`: the next `go` and the carried values. Results: the final carried values. */
	HIR_LOOP,
	HIR_RESULT, /* result `index` of node `source`, a call, branch, loop, or builtin with several results */
};
struct hir_node {
	enum hir_kind kind;
	bool build_time; /* depends on parameters and constants only: evaluated when the library is built */
	enum builtin builtin;
	struct hir_type type;  /* with several results: of result 0, a bool scalar if there is none; HIR_RESULT nodes have each result */
	uint32_t args, n_args; /* in hir_unit.args */
	uint32_t index;
	hir_ref source;
	dim extent;
	const void *data;
	struct hir_unit *callee, *other; /* other: HIR_IF only */
	/* HIR_CALL of a layer's function: the path of the layer in this unit's layer, as in names of parameters: "layer1.0"; "" for the same
	 * layer. NULL: not of a layer. Never hashed */
	const char *layer;
	const dim *callee_syms; /* value of each symbol of the callee, in this unit's dims; the same for `other` */
	span at;
	/* How the source writes it. For back ends that print sources; never hashed: */
	const char *name;                 /* of the local that it was first assigned to; NULL: of none */
	enum builtin written;             /* the call of a builtin whose result it is; the front end may have made it of others */
	uint32_t written_args, n_written; /* in hir_unit.args: one for each parameter, as the call gives it; n_written 0: it is of none */
};

struct hir_input {
	const char *name; /* "x"; for a parameter its dotted name relative to this unit's layer: "fc1.weight" */
	struct hir_type type;
	bool build_time; /* a parameter, or an input that all callers pass a build-time value; its shape is constant */
	uint8_t grows;   /* of a state with a capacity the dim that grows, plus one; else 0 */
	bool param;      /* of the unit's layer or of one below, which callers pass by that name. Never hashed */
	bool state;      /* likewise a state. Never hashed */
};
struct hir_output {
	const char *name; /* "out", or "out0", "out1" … */
	hir_ref node;     /* not a call, branch or loop, but a HIR_RESULT of it */
	uint32_t state;   /* of the next value of a state its input, plus one; else 0 */
	bool state_only;  /* it is no result as well. Never hashed */
};

/* A value that is known when a layer is made. */
struct hir_value {
	const char *name;       /* of the argument; NULL: of none */
	enum hir_arg_kind kind; /* ARG_TENSOR: of another kind: a layer, a function, a type */
	union {
		int64_t i; /* ARG_INT, ARG_BOOL */
		double f;
		const char *s;
		const struct hir_value *list;
	} u;
	uint32_t n; /* ARG_LIST: elements */
};
/* A layer instance as the source makes it. Never hashed, but `key`. */
struct hir_layer {
	const char *name; /* of the definition: "Conv2d" */
	hash128 key;      /* of the definition and the arguments */
	bool standard;    /* of the standard library */
	span at;          /* the definition */
	const struct hir_value *args;
	uint32_t n_args;
};

struct hir_unit {
	const char *name;   /* for messages: "Block(64, stride=1) [N, 64, 56, 56]" */
	const char *symbol; /* an identifier: the definition's name and 16 hex digits of `identity` */
	hash128 identity; /* of the definition (item_hash_identity), compile-time arguments, element types, shapes, build-time flags: survives body edits */
	const char *definition_name;   /* "Block"; "main" for a main block */
	const char *function;          /* "forward"; of a body, of the function around it */
	const struct hir_layer *layer; /* whose function it is; NULL: of none */
	hash128 definition;            /* token hash of the source definition */
	const char *file;              /* of its definition, as in diagnostics */
	span at;
	bool always_inline; /* @inline: inlined at -O1 */
	bool never_inline;  /* @noinline */
	bool effects;       /* it or a callee prints or asserts: no call of it may be removed, merged or reordered */
	int8_t opt;         /* @opt(n), or -1 */
	struct dims *dims;
	struct hir_input *inputs;
	uint32_t n_inputs;
	struct hir_output *outputs;
	uint32_t n_outputs;
	struct hir_node *nodes; /* operands precede users; the HIR_INPUT nodes are first, in order, each once */
	uint32_t n_nodes;
	struct hir_arg *args;
	uint32_t n_args;
};

/* A parameter of the model, by its full dotted name. */
struct hir_param {
	const char *name;
	struct hir_type type; /* constant dims, of `dims` */
	const struct dims *dims;
	struct hir_unit *init;      /* no inputs, one output; seeded by `name`. NULL: the weights file must have the parameter */
	bool buffer;                /* of a layer with @nograd: not trained, for example running statistics */
	span at;                    /* its declaration */
	const char *const *aliases; /* its other names, in layers that share it */
	uint32_t n_aliases;
};

/* Memory that an opened model keeps between runs, by its full dotted name. An entry gets the value as an input, and its new value, if the
 * entry changes it, is an output. */
struct hir_state {
	const char *name;
	struct hir_type type; /* constant dims, of `dims`; 0 for the dimension that grows */
	const struct dims *dims;
	uint32_t axis;         /* the dimension that grows; HIR_NONE: none */
	uint32_t capacity;     /* index into hir_program.capacities */
	struct hir_unit *init; /* of a state that does not grow: as hir_param.init; NULL: zeros */
	span at;               /* its declaration */
};
/* The filled length that states of one layer share: T of `cap T`. */
struct hir_capacity {
	const char *name;
	span at; /* the first declaration */
};

struct hir_entry {
	const char *name; /* "forward" or the function's name; "Net", "Net_step" if two have the same name */
	struct hir_unit *unit;
	uint32_t *params; /* per unit input: index into hir_program.params, or HIR_NONE for a run-time input */
	/* States are the last run-time inputs and the last outputs of the unit: */
	uint32_t *states_in, *states_out; /* indices into hir_program.states */
	uint32_t n_states_in, n_states_out;
};

struct hir_program {
	struct hir_entry *entries;
	uint32_t n_entries;
	struct hir_param *params;
	uint32_t n_params;
	struct hir_state *states;
	uint32_t n_states;
	struct hir_capacity *capacities;
	uint32_t n_capacities;
	struct hir_unit **units; /* callees before callers; every unit once */
	uint32_t n_units;
};

static inline bool hir_calls(enum hir_kind k) { return k == HIR_CALL || k == HIR_IF || k == HIR_LOOP; }
/* Returns the type of output k. */
static inline const struct hir_type *hir_output_type(const struct hir_unit *u, uint32_t k) { return &u->nodes[u->outputs[k].node].type; }
/* True if the node has side effects. */
static inline bool hir_has_effect(const struct hir_node *n)
{
	return n->kind == HIR_PRINT || n->kind == HIR_ASSERT ||
	       (hir_calls(n->kind) && (n->callee->effects || (n->other && n->other->effects)));
}

/* True if two shapes of one unit are equal. */
static inline bool hir_same_shape(const struct hir_type *a, const struct hir_type *b)
{
	bool same = a->rank == b->rank;
	for (uint32_t i = 0; same && i < a->rank; i++)
		same = dim_eq(a->dims[i], b->dims[i]);
	return same;
}

/* Returns the content hash of a unit: of nodes, types, literals and callee identities, not of callee bodies, names or positions. */
hash128 hir_unit_hash(const struct hir_unit *u);
/* The same, with the content hashes of all callees. */
hash128 hir_unit_hash_all(const struct hir_unit *u);
/* Appends the text for --dump-types and golden tests. */
struct buf;
void hir_print(const struct hir_unit *u, struct buf *out);
#endif
