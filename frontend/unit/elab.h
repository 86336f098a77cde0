/* The elaborator: an interpreter of the syntax tree whose tensors are nodes of the unit under construction. The same engine elaborates an
 * entry (all sizes of layers known; errors are exact) and checks definitions on their own (`checking`: sizes are symbols; what cannot be
 * decided is V_POISON and passes in silence). */
#ifndef TRIB_FRONTEND_UNIT_ELAB_H
#define TRIB_FRONTEND_UNIT_ELAB_H
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/vec.h"
#include "frontend/hir/hir.h"
#include "frontend/names/module.h"
#include "frontend/unit/reads.h"
#include "frontend/unit/request.h"
#include "frontend/unit/value.h"

enum { ELAB_MAX_DEPTH = 1200, ELAB_MAX_FRAMES = 100, ELAB_MAX_STEPS = 2000000, ELAB_STEPS_PER_TOKEN = 200, ELAB_MAX_ARGS = 64 };

/* A member `let` whose value is a tensor, evaluated in this unit. */
struct lazy_local {
	const struct instance *owner;
	name_id name;
	struct value value;
};
/* A unit under construction. */
struct builder {
	struct builder *outer;
	struct dims *dims;
	VEC(struct hir_node) nodes;
	VEC(struct hir_arg) args;
	VEC(struct hir_input) inputs;
	VEC(struct lazy_local) lazies;
	struct map params;             /* iparam id to input node */
	uint32_t named_from, named_to; /* checking: symbols that are names in the signature of the function being checked */
	bool open_params;              /* a scratch unit: parameters become inputs when they are used */
	bool effects;
	VEC(struct iparam *) opened;  /* with open_params: the parameters behind the inputs, in order */
	bool body;                    /* of a run-time branch or loop inside `outer` (elab/body.h) */
	bool certain;                 /* a body that is executed for sure, once */
	struct map imported, origins; /* of a body: outer's nodes to its own, and back */
};
struct local {
	name_id name;
	bool constant;
	uint8_t blamed; /* errors about its type so far */
	struct value value;
	span at; /* what it was last bound or assigned to */
};
/* Ways out that run-time conditions guard, kept as locals without a name in the source. LEFT_* are of the innermost loop. */
enum exit_kind { EXIT_RETURNED, EXIT_RESULT, EXIT_LEFT, EXIT_SKIPPED, EXIT_COUNT };
struct unit_plan;
struct param_list;
struct frame {
	struct frame *up;
	struct module *mod;
	struct instance *self;
	const struct func *func;    /* NULL: a layer's body, a constant, main */
	const struct builder *unit; /* what it writes to */
	uint32_t base;              /* first local */
	span call_at;               /* SPAN_NONE: not called from source */
	const char *what;           /* "layer instance `fc2`": for labels along the path */
	struct value result;
	span result_at; /* the expression that gave it */
	bool returned;
	bool tensors;                 /* checking: an argument is a tensor, so that calls are units */
	span maybe_result_at;         /* checking: a result under a condition that only the run knows; an empty span: none */
	const struct unit_plan *plan; /* the call that is being made a unit, its arguments' nodes in `caller` */
	struct builder *caller;
};
struct elab {
	struct frontend *f;
	struct diags *out; /* where errors go: the front end's, or `trash` while quiet */
	struct diags *trash;
	struct arena *temp; /* what lives no longer than an open signature */
	int quiet;
	bool checking;
	int unsure;      /* inside a branch or loop that may not run */
	bool naming;     /* the text under construction is a compile-time message: run-time values are named, not printed */
	bool std_speaks; /* the message is the library's own, about the call: the place in the library says nothing more */
	bool gave_up;    /* a limit was hit and reported */
	uint32_t depth, frames;
	uint64_t steps, max_steps;
	struct {
		uint64_t message;
		uint32_t times;
	} said[8];       /* the last different messages about arguments */
	uint32_t n_said; /* so far */
	uint32_t errors; /* reported by this elaboration, also while quiet */
	struct builder *b;
	struct reads *reads; /* NULL: nobody asks */
	struct frame *frame;
	const struct unit_plan *next_plan; /* for the frame that is entered next */
	VEC(struct local) locals;
	struct param_list *main_params; /* elaborating main: its layers' parameters, named after the locals that hold them */
	name_id exits[EXIT_COUNT];
	uint32_t exits_seen; /* checking: ways out met under conditions that nobody knows */
	uint64_t seed;       /* of the constant that is evaluated, changed by each random tensor in it; 0: none is */
	bool tail;           /* the block to be evaluated gives a value that is wanted */
};

/* FLOW_MAYBE: one of the others but FLOW_NEXT, or FLOW_NEXT: only the run knows. The locals of `enum exit_kind` say under which conditions. */
enum flow { FLOW_NEXT, FLOW_BREAK, FLOW_CONTINUE, FLOW_RETURN, FLOW_MAYBE };

/* ---- errors (elab.c) ---- */
void elab_init(struct elab *e, struct frontend *f, bool checking);
/* Ready for the next definition; the steps of all count together. */
void elab_reset(struct elab *e);
void elab_free(struct elab *e);
enum { MOST_REPEATED = 2 }; /* the same mistake at several calls, or of one local: more would be noise */
/* Starts an error with labels along the instance path; add to it through e->out. */
struct diag *elab_error(struct elab *e, enum diag_code code, span at, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Notes the path of the layer instance in which the error lies, from the entry: "layer1.0.conv2" (elab/path.c). */
void elab_note_instance(struct elab *e, struct diag *g);
void elab_hush(struct elab *e);
void elab_unhush(struct elab *e);
/* Why sizes of which one is the run's do not fit, and what to write. */
void help_unknown_size(struct elab *e, struct diag *g, const struct dims *in, dim a, dim b);
/* Labels the place where a tensor of the current unit was made, unless that is `seen`. */
void elab_label_origin(struct elab *e, struct diag *g, const struct builder *b, hir_ref r, span seen);
/* A list or tuple that the source made: poison (reported) if it is nested or shared beyond all reason. Counts its size as steps. */
struct value elab_list(struct elab *e, struct value v, span at);
/* Is it neither? Reported otherwise. Counts no steps. */
bool elab_list_fits(struct elab *e, struct value v, span at);
/* A string the source made, of which the same holds. */
struct value elab_string(struct elab *e, const char *s, size_t n, span at);
/* Counts a step; false: a limit was reached (reported once). */
bool elab_step(struct elab *e, span at);
/* Text in the front end's arena. */
const char *elab_type_text(struct elab *e, hir_ref r);                 /* "float32[N, 64]" */
const char *elab_shape_text(struct elab *e, const struct hir_type *t); /* "[N, 64]" */
const char *elab_value_text(struct elab *e, struct value v);           /* "a tensor float32[N, 64]", "the integer 3" */
const char *text_join(struct elab *e, const char *a, const char *b, const char *c, const char *d);
const char *elab_source_text(struct elab *e, span at); /* the source, shortened to one line */
static inline span elab_span(struct elab *e, node_id n) { return ast_span(&e->frame->mod->ast, n); }
static inline name_id elab_name(struct elab *e, token_id t) { return token_name(e->f, e->frame->mod, t); }
static inline bool is_poison(struct value v) { return v.kind == V_POISON; }

/* ---- locals (elab/name.c) ---- */
void local_push(struct elab *e, name_id name, struct value v, bool constant);
struct local *local_find(struct elab *e, name_id name);
/* An error says that the expression at `at` has the wrong type. If that is a local, nothing is said of it after the second time. */
void local_blame(struct elab *e, span at);
/* A name in the current frame: locals, members of self, the module's items, the prelude. False: there is none. */
bool name_lookup(struct elab *e, name_id name, span at, struct value *out);
/* The same from a module and an instance, without locals. */
bool name_lookup_static(struct elab *e, struct module *mod, struct instance *self, name_id name, span at, struct value *out);
struct value item_value(struct elab *e, struct item *it, span at);
struct value member_value(struct elab *e, struct instance *in, struct member *m, span at);
struct func *item_func(struct frontend *f, struct item *it);
/* The same among the builtins and element types alone. */
bool prelude_lookup(struct elab *e, name_id name, struct value *out);
void prelude_init(struct frontend *f);

/* ---- expressions and statements ---- */
struct value eval(struct elab *e, node_id n);
struct value eval_block(struct elab *e, node_id block, enum flow *flow); /* value of its last expression, else V_VOID */
enum flow exec(struct elab *e, node_id n, struct value *value);
bool perhaps_run(struct elab *e); /* inside a run-time branch or loop, which may not be taken? */
struct value eval_if(struct elab *e, node_id n, enum flow *flow);
struct value eval_comprehension(struct elab *e, node_id n);
struct value eval_index(struct elab *e, node_id n);
struct args;
struct value eval_fstring(struct elab *e, node_id n);
enum flow exec_assert(struct elab *e, node_id n);
/* When it runs, `given` must be the size of the dimension `name`. */
void assert_size(struct elab *e, const char *name, struct value given, struct value size, span at);
/* print(a, b, label="x", sep=" ", end="\n") */
struct value call_print(struct elab *e, struct args *args, span at);
/* The values' texts in a row: V_STR, or V_TEXT where run-time values are in it. */
struct value values_to_text(struct elab *e, const struct value *v, uint32_t n, span at);
/* Numbers known now and their element types (elab/number.c). The type that literal v takes as an operand beside `t`; DT_COUNT: none. */
dtype literal_beside(struct value v, dtype t);
/* Brings two numbers that an operator takes to one type, which is *t; DT_COUNT: both are literals. False: a literal does not fit (reported). */
bool numbers_meet(struct elab *e, enum token_kind op, struct value *a, struct value *b, dtype *t, span at);
/* The result of an operation on numbers of type t, rounded to it; poison where it does not fit (reported). */
struct value number_of_type(struct elab *e, struct value v, dtype t, span at);
/* float32.max, int8.min, float16.eps: a limit of an element type, as a number of it. */
bool number_limit(dtype t, const char *name, struct value *out);
/* A float as its type holds it, an integer as it is. */
double number_value(struct value v);
struct value scalar_unary(struct elab *e, enum token_kind op, struct value v, span at);
struct value value_binary(struct elab *e, enum token_kind op, struct value a, struct value b, span at, span sa, span sb);
struct value text_with(struct elab *e, const struct text *old, struct value values); /* a text of the same template */
/* Rewrites the tensors of v by `fn` (elab/body.c). */
struct value value_map_tensors(struct elab *e, struct value v, hir_ref (*fn)(void *ctx, hir_ref r), void *ctx);
/* 1, 0, or -1: not known at compile time (nothing reported). -2: an error was reported. */
int condition(struct elab *e, struct value v, span at, bool report);
/* Binds a pattern to a value; new locals, or with `assign` existing ones. */
void bind_pattern(struct elab *e, node_id pattern, struct value v, span at, bool constant);
bool value_is_bound(struct elab *e, struct value v); /* an integer, also of the run */
/* The elements of something that can be iterated over. False: reported, or not known (then *unknown). */
bool iter_items(struct elab *e, struct value v, span at, struct value *list, bool *unknown);
void locals_snapshot(struct elab *e, struct local **copy, uint32_t *n);
/* Checking: locals that changed since are either value: of the type of both, or unknown. Where the run decides, types must agree. */
enum decided { DECIDED_EARLIER, DECIDED_BY_BRANCH, DECIDED_BY_LOOP }; /* earlier: perhaps by the elaboration */
void locals_either(struct elab *e, const struct local *before, uint32_t n, enum decided how, span at);
enum flow exec_for(struct elab *e, node_id n); /* elab/loop.c */
enum flow exec_while(struct elab *e, node_id n);

/* ---- calls ---- */
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
struct value call_value(struct elab *e, struct value callee, struct args *args, span at, const char *what);
struct value call_builtin(struct elab *e, enum builtin bi, struct args *args, span at);
struct value call_special(struct elab *e, enum special sp, struct args *args, span at);
struct value call_cast(struct elab *e, dtype to, struct args *args, span at);
/* Puts arguments in the order of the parameters; bound[i] is NULL where the default stands. False: reported. */
bool bind_args(struct elab *e, struct module *mod, struct ast_nodes params, struct args *args, span at, const char *what,
	       struct arg **bound);
/* Is it none, for a parameter whose default says that it may be? Then its type says nothing. */
static inline bool is_left_out(const struct ast *t, node_id param, struct value v)
{
	return v.kind == V_NONE && ast_b(t, param) && ast_kind(t, ast_b(t, param)) == NODE_NONE;
}
struct value instantiate(struct elab *e, struct item *it, struct args *args, span at);
/* Runs a function's body in the current unit; `values` are its arguments. */
struct value run_body(struct elab *e, struct func *fn, const struct value *values, const span *ats, span at, const char *what);
/* The same as a call of a unit, made if there is none for such arguments (elab/plan.c). */
struct value call_unit(struct elab *e, struct func *fn, struct value *values, uint32_t n, span at, const char *what);

/* ---- nodes (emit.c) ---- */
/* A scalar as a tensor without dimensions (elab/exits.c). */
hir_ref scalar_tensor(struct elab *e, struct value v, dtype t, span at);
/* True if a literal may be of type t. */
bool scalar_becomes(struct value v, dtype t);
void builder_open(struct elab *e, struct builder *b);
void builder_close(struct elab *e); /* frees what a finished unit has not copied */
struct hir_node *node_at(struct elab *e, hir_ref r);
static inline struct hir_type *type_of(struct elab *e, hir_ref r) { return &e->b->nodes.at[r].type; }
hir_ref emit_input(struct elab *e, const char *name, const struct hir_type *t, bool build_time, span at);
hir_ref emit_const(struct elab *e, const struct hir_type *t, const void *data, span at);
/* A scalar constant of the element type, or for V_DIM the size at run time. */
hir_ref emit_scalar(struct elab *e, struct value v, dtype t, span at);
hir_ref emit_dim(struct elab *e, dim d, span at);
hir_ref emit_cast(struct elab *e, hir_ref r, dtype t, span at); /* r itself if it has the type */
hir_ref emit_unknown(struct elab *e, const struct hir_type *t,
		     span at); /* checking only: a tensor of which the type is all that is known */
hir_ref emit_builtin(struct elab *e, enum builtin bi, const struct hir_type *t, const struct hir_arg *args, uint32_t n, span at);
/* HIR_PRINT or HIR_ASSERT. */
void emit_effect(struct elab *e, enum hir_kind kind, const struct hir_arg *args, uint32_t n, span at);
hir_ref emit_result(struct elab *e, hir_ref source, uint32_t index, const struct hir_type *t, span at);
struct hir_arg arg_list(struct elab *e, const struct hir_arg *items, uint32_t n);
static inline struct hir_arg arg_tensor(hir_ref r) { return (struct hir_arg){.kind = ARG_TENSOR, .u.tensor = r}; }
static inline struct hir_arg arg_int(int64_t i) { return (struct hir_arg){.kind = ARG_INT, .u.i = i}; }
static inline struct hir_arg arg_dim(dim d) { return (struct hir_arg){.kind = ARG_DIM, .u.d = d}; }
static inline struct hir_arg arg_none(void) { return (struct hir_arg){.kind = ARG_NONE}; }
/* The parameter's node in the current unit, or poison (elab/body.c). */
struct value param_value(struct elab *e, struct iparam *p, span at);
/* A compile-time value as an element of `t`, into 8 bytes at `out`. False: it does not fit (reported). */
bool scalar_bytes(struct elab *e, struct value v, dtype t, void *out, span at);

/* ---- checking definitions on their own ---- */
void check_func(struct elab *e, struct func *fn);
void check_layer(struct elab *e, struct item *it);

/* ---- layers and units ---- */
struct unit_info {
	struct hir_unit *unit;
	struct value result; /* V_TENSOR: output number; V_DIM: of the unit's dims */
	bool failed;
	/* In a front end that is kept, but not of the bodies of branches and loops, which are made with the unit that they belong to: */
	struct unit_plan *plan;
	struct dims_mark sizes; /* of the plan, as they were before the unit was made */
	struct item_reads reads;
};
struct param_list {
	VEC(struct iparam *) at;
	VEC(const char *) names;
	struct map seen; /* ids of those listed: an instance may be reached by two names */
};
/* All parameters in a value's instances, in order of declaration, with names under `prefix`. */
void params_of(struct elab *e, struct value v, const char *prefix, struct param_list *out);
void param_list_free(struct param_list *l);
/* The unit that computes a parameter's initial value; NULL: it has none, or failed (elab/init.c). */
struct hir_unit *param_init(struct elab *e, struct iparam *p);

/* A tensor argument of a unit that is to be made. */
struct leaf {
	const char *name;
	struct hir_type type; /* of the unit's dims */
	bool build_time;
	hir_ref caller; /* in the calling unit */
};
/* What a unit is made from. In `values`, a V_TENSOR is the number of a leaf, and a V_DIM is of the unit's dims. */
struct unit_plan {
	struct func *fn;
	struct dims *dims;
	struct param_list params;
	VEC(struct leaf) leaves;
	struct value *values;
	uint32_t n_values;
	bool is_call; /* not an entry */
	span at;
	const char *what;
};
/* The unit of the plan, made now if there is none. */
const struct unit_info *unit_get(struct elab *e, struct unit_plan *p);
/* Made, whether there is one or not. */
struct unit_info *unit_make(struct elab *e, struct unit_plan *p, hash128 identity);
void unit_plan_free(struct unit_plan *p);
/* The same for equal definitions, compile-time arguments, element types, shapes and build-time flags; a name for people (elab/identity.c). */
hash128 unit_identity(struct elab *e, const struct unit_plan *p);
/* What callers see of a unit but its inputs. */
hash128 unit_interface(struct elab *e, const struct unit_info *u);
const char *unit_name(struct elab *e, const struct unit_plan *p);
/* Copies the current builder into a unit and closes it. */
struct hir_unit *unit_finish(struct elab *e, const struct func *fn, hash128 identity, const char *name, struct value *result);
/* Copies the inputs, nodes and arguments of the current builder into u. */
void unit_take_nodes(struct elab *e, struct hir_unit *u);
/* What the definition's attributes say of its units. */
void unit_attributes(struct hir_unit *u, const struct func *fn);
struct hir_program *elab_program(struct elab *e, const struct elab_request *req);
#endif
