/* The emitter: what a rule needs to append nodes to the unit under construction and to report errors. Does not know the elaborator. */
#ifndef TRIB_FRONTEND_UNIT_EMIT_H
#define TRIB_FRONTEND_UNIT_EMIT_H
#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "frontend/hir/hir.h"
#include "frontend/names/module.h"
#include "frontend/unit/report.h"
#include "frontend/unit/value.h"

struct reads;

/* A member `let` whose value is a tensor, evaluated in this unit. */
struct lazy_member {
	const struct instance *owner;
	name_id name;
	struct value value;
};
/* A layer as the source names it. */
struct named_layer {
	const char *what;            /* "layer instance `fc2`" */
	span made;                   /* the call that made it; SPAN_NONE: unknown */
	const struct instance *self; /* NULL: a functional layer */
};
struct layer_result {
	hir_ref tensor;
	struct named_layer layer; /* whose call returned it */
};
/* A unit under construction. */
struct builder {
	struct builder *outer;
	struct dims *dims;
	VEC(struct hir_node) nodes;
	VEC(struct hir_arg) args;
	VEC(struct hir_input) inputs;
	VEC(struct lazy_member) lazies;
	VEC(struct layer_result) layer_results; /* for errors (layer_pair.h) */
	struct map params;                      /* layer_param id to input node */
	struct map touched;                     /* ids of the states that the unit reads or changes */
	uint32_t named_from, named_to;          /* checking: symbols that are names in the signature of the function being checked */
	VEC(uint32_t) joined;                   /* checking: symbols that mean any size (elab/join.h), ascending */
	bool open_params;                       /* parameters become inputs when they are used */
	VEC(struct layer_param *) opened;       /* with open_params: the parameters behind the inputs, in order */
	bool effects;
	bool body;                    /* of a run-time branch or loop inside `outer` (elab/branch.h) */
	bool executed;                /* a body that runs exactly once */
	struct map imported, origins; /* of a body: nodes of `outer` to its own, and back */
};
struct arg {
	struct value v;
	span at;
	name_id name; /* 0: positional */
	span name_at;
};
struct args {
	uint32_t n;
	struct arg *at;
};
/* What the lower layers ask of the elaborator: the only calls that go upwards. Set by elab_init. */
struct evaluator {
	/* Calls a function or layer instance. */
	struct value (*call)(struct emitter *e, struct value callee, struct args *args, span at, const char *what);
	/* Finds a name as the definition under elaboration sees it. False: there is none. */
	bool (*find_name)(struct emitter *e, name_id name, span at, struct value *out);
	/* The same as a module and an instance of its layers (or NULL) see it, without locals. */
	bool (*find_global)(struct emitter *e, struct module *mod, struct instance *self, name_id name, span at, struct value *out);
	/* Adds a constant local. */
	void (*bind_constant)(struct emitter *e, name_id name, struct value v);
	/* Notes an error about the type of the expression at `at`. */
	void (*note_type_error)(struct emitter *e, span at);
};
struct emitter {
	struct frontend *f;
	struct builder *b; /* the unit under construction */
	struct reporter report;
	const struct evaluator *evaluator;
	struct arena *temp;  /* freed when the outermost signature closes */
	struct reads *reads; /* NULL: not recorded */
	bool checking;       /* one definition is checked on its own: its sizes are symbols */
	bool types_in_text;  /* inside a compile-time message: values known only at run time are shown as their types */
	int conditional;     /* checking: nested branches and loops that may not run */
	uint64_t seed;       /* of the constant under evaluation, changed by each random tensor; 0: there is none */
};

static inline bool is_poison(struct value v) { return v.kind == V_POISON; }

void builder_open(struct emitter *e, struct builder *b);
void builder_close(struct emitter *e); /* frees what a finished unit has not copied */
struct hir_node *node_at(struct emitter *e, hir_ref r);
static inline struct hir_type *type_of(struct emitter *e, hir_ref r) { return &e->b->nodes.at[r].type; }

/* True if all sizes of a tensor type are constant. */
bool has_constant_shape(struct emitter *e, const struct hir_type *t);

/* ---- nodes ---- */
hir_ref emit_input(struct emitter *e, const char *name, const struct hir_type *t, bool build_time, span at);
hir_ref emit_const(struct emitter *e, const struct hir_type *t, const void *data, span at);
hir_ref emit_dim(struct emitter *e, dim d, span at);
hir_ref emit_cast(struct emitter *e, hir_ref r, dtype t, span at); /* r itself if it has the type */
/* Checking only: a tensor of unknown value. */
hir_ref emit_unknown_tensor(struct emitter *e, const struct hir_type *t, span at);
hir_ref emit_builtin(struct emitter *e, enum builtin bi, const struct hir_type *t, const struct hir_arg *args, uint32_t n, span at);
/* HIR_PRINT or HIR_ASSERT. */
void emit_effect(struct emitter *e, enum hir_kind kind, const struct hir_arg *args, uint32_t n, span at);
hir_ref emit_result(struct emitter *e, hir_ref source, uint32_t index, const struct hir_type *t, span at);
struct hir_arg arg_list(struct emitter *e, const struct hir_arg *items, uint32_t n);
static inline struct hir_arg arg_tensor(hir_ref r) { return (struct hir_arg){.kind = ARG_TENSOR, .u.tensor = r}; }
static inline struct hir_arg arg_int(int64_t i) { return (struct hir_arg){.kind = ARG_INT, .u.i = i}; }
static inline struct hir_arg arg_dim(dim d) { return (struct hir_arg){.kind = ARG_DIM, .u.d = d}; }
static inline struct hir_arg arg_none(void) { return (struct hir_arg){.kind = ARG_NONE}; }

/* ---- scalars (scalar.c) ---- */
/* A compile-time scalar as an element of `t`, into 8 bytes at `out`. False: it does not fit (reported). */
bool scalar_bytes(struct emitter *e, struct value v, dtype t, void *out, span at);
/* A scalar constant of the element type; for V_DIM the size at run time. HIR_NONE: it does not fit (reported). */
hir_ref emit_scalar(struct emitter *e, struct value v, dtype t, span at);
/* True if a scalar converts to type t without loss. */
bool scalar_converts(struct value v, dtype t);
/* A scalar, or a tensor of rank 0, as a tensor of type t. HIR_NONE: it does not convert without loss (nothing reported). */
hir_ref scalar_tensor(struct emitter *e, struct value v, dtype t, span at);
hir_ref emit_bool(struct emitter *e, bool v, span at);
hir_ref emit_not(struct emitter *e, hir_ref c, span at);
hir_ref emit_logic(struct emitter *e, enum builtin bi, hir_ref a, hir_ref b, span at);
/* True for an integer known now, a size, or an integer scalar known only at run time. */
bool is_integer_scalar(struct emitter *e, struct value v);

/* The value of a condition, 1 or 0. -1: not known at compile time (nothing reported); -2: it is no condition (reported if `report`). */
int decide_condition(struct emitter *e, struct value v, span at, bool report);

/* ---- element types of numbers known at compile time (number.c) ---- */
/* The type of literal v as an operand beside type t; DT_COUNT: none. */
dtype literal_type_beside(struct value v, dtype t);
/* Converts the two operands of an operator to one type, *t; DT_COUNT: both are literals. False: a literal does not fit (reported). */
bool convert_operands(struct emitter *e, enum token_kind op, struct value *a, struct value *b, dtype *t, span at);
/* The number rounded to type t; poison if it does not fit (reported). */
struct value convert_number(struct emitter *e, struct value v, dtype t, span at);
/* A limit of an element type: float32.max, int8.min, float16.eps. False: there is none of the name. */
bool number_limit(dtype t, const char *name, struct value *out);
/* The value of a number or bool. */
double number_value(struct value v);

/* ---- elements (elements.c) ---- */
/* The elements of a list, tuple or range. False: reported, or not known (then *unknown). */
bool list_elements(struct emitter *e, struct value v, span at, struct value *list, bool *unknown);
/* The element type of the numbers of a range. */
dtype range_counter_type(struct emitter *e, const struct range *range);
/* A text of the same template with other run-time values. */
struct value template_with_values(struct emitter *e, const struct text_template *old, struct value values);
/* A copy of v with each tensor replaced by `fn` of it. */
struct value value_map_tensors(struct emitter *e, struct value v, hir_ref (*fn)(void *ctx, hir_ref r), void *ctx);
#endif
