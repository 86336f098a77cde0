/* Signatures: types of the source as patterns over dimension, element-type and shape variables, matched against values, and the linear
 * equations between dimensions that a call leaves to solve. */
#ifndef TRIB_FRONTEND_TYPES_SIG_H
#define TRIB_FRONTEND_TYPES_SIG_H
#include "frontend/unit/emit.h"

enum type_kind { TY_ANY, TY_TENSOR, TY_SCALAR, TY_STR, TY_VOID, TY_TUPLE, TY_LIST, TY_LAYER, TY_GENERIC };
enum shape_kind { SHAPE_ANY, SHAPE_VAR, SHAPE_DIMS };
#define SIG_NO_VAR UINT32_MAX

struct type {
	enum type_kind kind;
	dtype elem;        /* TY_SCALAR, TY_TENSOR; DT_COUNT: elem_var says */
	uint32_t elem_var; /* SIG_NO_VAR: any; TY_GENERIC: the generic */
	enum shape_kind shape;
	uint32_t shape_var;
	uint32_t rank;
	dim dims[HIR_MAX_RANK]; /* of the signature's dims */
	struct type **items;    /* TY_TUPLE; TY_LIST: one */
	uint32_t n_items;
	struct item *layer; /* TY_LAYER */
	span at;
};
enum sig_var_kind { SV_UNUSED, SV_DIM, SV_DTYPE, SV_SHAPE, SV_TYPE };
struct sig_var {
	enum sig_var_kind kind;
	name_id name;       /* 0: a `?` */
	bool bound, stands; /* stands: made for a `?`, or unbound on purpose */
	uint32_t sym;       /* SV_DIM: its symbol in the signature's dims */
	dim value;          /* SV_DIM, of the signature's dims, over outer symbols only */
	bool has_inner;     /* checking: stands for `inner`, a symbol of the current unit's dims */
	dim inner;
	dtype elem;
	uint32_t rank;
	dim shape[HIR_MAX_RANK]; /* SV_SHAPE: of the current unit's dims */
	uint32_t scope;          /* the alias that has it, 0: the signature itself */
	struct ast_nodes traits;
	span bound_at;
	const char *bound_by;   /* "argument `x`" */
	enum value_kind holds;  /* SV_TYPE: V_TENSOR for tensors and numbers, of `elem`, `rank` and `shape` */
	bool literal;           /* SV_TYPE: bound by a literal, which takes another's type */
	const char *bound_text; /* "a tensor int32[2]" */
};
/* One equation: pattern (signature's dims) = actual (the same, outer symbols only). */
struct sig_equation {
	dim pattern, actual;
	uint32_t match; /* which match it came from */
	uint32_t axis;
	bool done;
};
struct sig_match_info {
	const char *what; /* "argument `x` of `fc2`" */
	span at, decl;
	struct type *type;
	struct hir_type actual;
	hir_ref tensor; /* HIR_NONE: no tensor of the current unit */
};
/* An alias being read. An argument is read where the alias's body names its generic, as what the body takes it for, and where it is written. */
struct alias_frame {
	struct alias_frame *up; /* of the place where the arguments are written, as the four that follow */
	struct module *mod;
	struct instance *self;
	bool use_locals;
	uint32_t scope;
	const struct item *item;
	uint32_t n; /* generics */
	const name_id *names;
	const node_id *args;
	bool *used;
	dim *dims;  /* what they are as dimensions */
	bool *read; /* those that have been read as such */
};
struct sig {
	struct emitter *e;
	arena_mark_t mark;  /* of e->temp: signatures are opened and closed like brackets */
	struct module *mod; /* where the types are written */
	struct instance *self;
	bool use_locals;   /* an annotation inside a body: names of dimensions are its locals */
	bool result;       /* matching a result: codes and words differ */
	bool open;         /* unbound variables become symbols of the current unit, as while checking */
	struct dims *dims; /* outer symbols first, then the variables */
	uint32_t n_outer;
	VEC(struct sig_var) vars;
	VEC(struct sig_equation) eqs;
	VEC(struct sig_match_info) matches;
	VEC(uint32_t) imported;      /* the current unit's symbols made since: their symbols in dims */
	struct alias_frame *aliases; /* being read, innermost first */
	uint32_t scope;              /* whose variables are in sight */
	uint32_t n_scopes;
	uint32_t alias_depth; /* of the reading: arguments within aliases within arguments */
	uint32_t n_types;     /* made so far: aliases may multiply */
};

void sig_open(struct sig *s, struct emitter *e, struct module *mod, struct instance *self);
void sig_close(struct sig *s);
void sig_generics(struct sig *s, struct ast_nodes generics);
/* The variable that is a dimension of this name, made if need be; SIG_NO_VAR: the name is that of another kind of generic. */
uint32_t sig_dim_var(struct sig *s, name_id name);
/* Never NULL; TY_ANY where the type is wrong (reported) or unknown. */
struct type *sig_type(struct sig *s, node_id n);
/* Matches a value: element types and ranks now, dimensions when solved. Literals and widening become casts in *v. False: reported. */
bool sig_match(struct sig *s, struct type *t, struct value *v, span at, span decl, const char *what);
/* Adds the equation of one dimension of a declared type with a size of the current unit. `what`, `at` and `decl` are for the error. */
void sig_add_equation(struct sig *s, struct type *t, const struct hir_type *actual, uint32_t axis, span at, span decl, const char *what);
/* A dimension of the argument's name is that argument's value, where it is an integer known now. Before sig_solve. */
void sig_bind_size(struct sig *s, name_id name, struct value v, span at, const char *what);
/* Checking: the unknown value of an integer argument, which is what its name stands for as a dimension. */
struct value sig_unknown_size(struct sig *s, name_id name);
/* Solves the equations so far. False: reported (solve.c). */
bool sig_solve(struct sig *s);
/* "[N, 2*K]", with the values of the variables that are bound. */
const char *sig_pattern_text(struct sig *s, const struct type *t);
/* Dimension variables become locals of the current frame, which must be the callee's. */
void sig_bind_locals(struct sig *s);
/* Checking: from here on the variables that stand for unknown sizes are what they are. */
void sig_bind_unknowns(struct sig *s);
/* Checking: an unknown value of the type. Variables not bound become new symbols. V_POISON where the type says too little. */
struct value sig_unknown_value(struct sig *s, const struct type *t, span at);
/* The value as an annotation or declaration wants it. */
struct value sig_coerce(struct emitter *e, struct module *mod, node_id type, struct value v, span at, const char *what,
			struct instance *self);
/* The shape of a declared type whose dimensions are all constant, or symbols of the current unit. */
bool sig_constant_type(struct sig *s, const struct type *t, struct hir_type *out);
#endif
