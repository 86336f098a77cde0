/* Signatures: declared types as patterns over variables for dimensions, element types and shapes. Values are matched against the
 * patterns. What a match says about dimensions becomes linear equations, which sig_solve solves. */
#ifndef TRIB_FRONTEND_TYPES_SIG_H
#define TRIB_FRONTEND_TYPES_SIG_H
#include "frontend/unit/emit.h"

enum type_kind { TY_ANY, TY_TENSOR, TY_SCALAR, TY_STR, TY_VOID, TY_TUPLE, TY_LIST, TY_LAYER, TY_FN, TY_OPTION, TY_GENERIC };
enum shape_kind { SHAPE_ANY, SHAPE_VAR, SHAPE_DIMS };
#define SIG_NO_VAR UINT32_MAX

struct type {
	enum type_kind kind;
	dtype elem;        /* TY_SCALAR, TY_TENSOR; DT_COUNT: given by elem_var */
	uint32_t elem_var; /* SIG_NO_VAR: any; TY_GENERIC: the generic */
	enum shape_kind shape;
	uint32_t shape_var;
	uint32_t rank;
	dim dims[HIR_MAX_RANK]; /* of the signature's dims */
	struct type **items;    /* TY_TUPLE; TY_LIST, TY_OPTION: one */
	uint32_t n_items;
	struct item *layer; /* TY_LAYER; NULL: any layer */
	span at;
};
enum sig_var_kind { SV_UNUSED, SV_DIM, SV_DTYPE, SV_SHAPE, SV_TYPE };
struct sig_var {
	enum sig_var_kind kind;
	name_id name; /* 0: a `?` */
	bool bound;
	uint32_t sym;      /* SV_DIM: its symbol in the signature's dims */
	dim value;         /* SV_DIM, of the signature's dims, over outer symbols only */
	bool has_unit_sym; /* checking: its value is `unit_sym`, a symbol of the current unit's dims */
	dim unit_sym;
	dtype elem;
	uint32_t rank;
	dim shape[HIR_MAX_RANK]; /* SV_SHAPE: of the current unit's dims */
	uint32_t scope;          /* the alias that declares it; 0: the signature */
	struct ast_nodes traits;
	span bound_at;
	const char *bound_by;       /* "argument `x`" */
	enum value_kind value_kind; /* SV_TYPE: V_TENSOR for tensors and numbers, of `elem`, `rank` and `shape` */
	bool literal;               /* SV_TYPE: bound by a literal, which may still take another type */
	const char *bound_text;     /* "a tensor int32[2]" */
};
/* pattern = actual, both of the signature's dims; `actual` has outer symbols only. */
struct sig_equation {
	dim pattern, actual;
	uint32_t match; /* index into `matches` */
	uint32_t axis;
	bool done;
};
/* The value that is matched, for errors. */
struct sig_site {
	const char *what;                /* "argument `x` of `fc2`" */
	span at, decl;                   /* the value; the declaration, or SPAN_NONE */
	const struct named_layer *taker; /* the layer whose argument it is; NULL: none */
};
struct sig_match_info {
	struct sig_site site;
	struct type *type;
	struct hir_type actual;
	hir_ref tensor; /* HIR_NONE: no tensor of the current unit */
};
/* An alias under evaluation. Each use of a generic in its body evaluates the argument, in the scope where the argument is written. */
struct alias_frame {
	struct alias_frame *up; /* this and the next four members: the scope of the arguments */
	struct module *mod;
	struct instance *self;
	bool use_locals;
	uint32_t scope;
	const struct item *item;
	uint32_t n; /* generics */
	const name_id *names;
	const node_id *args;
	bool *used;
	dim *dims;       /* values of the arguments that were evaluated as dimensions */
	bool *evaluated; /* by argument: `dims` has it */
};
struct sig {
	struct emitter *e;
	arena_mark_t mark;  /* of e->temp: signatures nest */
	struct module *mod; /* where the types are written */
	struct instance *self;
	bool use_locals;   /* an annotation inside a body: locals are dimensions */
	bool result;       /* a result is matched: errors have other codes and words */
	bool open;         /* unbound variables become symbols of the current unit, as in a check */
	struct dims *dims; /* outer symbols first, then the variables */
	uint32_t n_outer;
	VEC(struct sig_var) vars;
	VEC(struct sig_equation) eqs;
	VEC(struct sig_match_info) matches;
	VEC(uint32_t) imported;      /* by symbol of the current unit made since sig_open: its symbol in `dims` */
	struct alias_frame *aliases; /* under evaluation, innermost first */
	uint32_t scope;              /* whose variables are visible */
	uint32_t n_scopes;
	uint32_t alias_depth; /* nesting of aliases and their arguments */
	uint32_t n_types;     /* made so far, for the limit */
};

void sig_open(struct sig *s, struct emitter *e, struct module *mod, struct instance *self);
void sig_close(struct sig *s);
void sig_generics(struct sig *s, struct ast_nodes generics);
/* The dimension variable of this name, added if there is none. SIG_NO_VAR: the name is another kind of generic. */
uint32_t sig_dim_var(struct sig *s, name_id name);
/* Evaluates a type. Never NULL; TY_ANY if it is wrong (reported) or unknown. */
struct type *sig_type(struct sig *s, node_id n);
/* Matches a value: element types and ranks now, dimensions in sig_solve. Literals and widening become casts in *v. False: reported. */
bool sig_match(struct sig *s, struct type *t, struct value *v, const struct sig_site *site);
/* Adds the equation between one dimension of a declared type and a size of the current unit. */
void sig_add_equation(struct sig *s, struct type *t, const struct hir_type *actual, uint32_t axis, const struct sig_site *site);
/* Binds the dimension of an argument's name to the argument's value if that is an integer known now. Call it before sig_solve. */
void sig_bind_size(struct sig *s, name_id name, struct value v, span at, const char *what);
/* Checking: the unknown value of an integer argument, which is also the dimension of its name. */
struct value sig_unknown_size(struct sig *s, name_id name);
/* Solves the equations so far. False: reported (solve.c). */
bool sig_solve(struct sig *s);
/* "[N, 2*K]", with the values of the variables that are bound. */
const char *sig_pattern_text(struct sig *s, const struct type *t);
/* Adds the dimension variables as locals of the current frame, which must be the callee's. */
void sig_bind_locals(struct sig *s);
/* Checking: binds each variable of an unknown size to its own symbol. */
void sig_bind_unknowns(struct sig *s);
/* Checking: an unknown value of the type. Unbound variables become new symbols. Poison if the type is incomplete. */
struct value sig_unknown_value(struct sig *s, const struct type *t, span at);
/* The value converted to an annotated type; poison if it does not match (reported). */
struct value sig_coerce(struct emitter *e, struct module *mod, node_id type, struct value v, span at, const char *what,
			struct instance *self);
/* The tensor type of a declared type. False: a dimension is neither constant nor a symbol of the current unit. */
bool sig_constant_type(struct sig *s, const struct type *t, struct hir_type *out);
#endif
