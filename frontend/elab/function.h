/* Functions and layers: what a signature declares, and the run of a body. */
#ifndef TRIB_FRONTEND_ELAB_FUNCTION_H
#define TRIB_FRONTEND_ELAB_FUNCTION_H
#include "frontend/elab/elab.h"
#include "frontend/types/sig.h"

/* What a signature declares besides types: defaults, conditions, a result; the members of a type alias. */
/* True for `none` as an argument whose default is `none`: it has no type to match. */
static inline bool is_omitted(const struct ast *t, node_id param, struct value v)
{
	return v.kind == V_NONE && ast_b(t, param) && ast_kind(t, ast_b(t, param)) == NODE_NONE;
}
/* Matches an argument, or its default, with the declared type. False: reported; a default that never fits only by check_default. */
bool match_param(struct elab *e, struct sig *s, const struct ast_fn *decl, node_id param, bool is_default, struct value *v,
		 const struct sig_site *site);
/* Checks the default of an argument, if there is one, against its type. */
void check_default(struct elab *e, struct module *m, struct instance *self, struct ast_nodes generics, node_id param);
/* False if the values lack the traits, or fail the conditions, of the signature (reported at the call). */
bool check_where(struct elab *e, struct sig *s, const struct ast_fn *decl, const struct value *values, span at);
/* Reports a condition of a `where` clause that is a number. */
void check_condition(struct elab *e, node_id n);
/* `.shape`, `.size`, `.rank` or `.dtype` of the tensor type that alias `it` is. False: none, or it depends on the use. */
bool alias_member(struct elab *e, struct item *it, const char *name, struct value *out);
/* Reports a body without the declared result, and offers to return the value of its last statement. */
struct value report_no_result(struct elab *e, const struct ast_fn *decl, span at, span decl_at);

/* ---- runs the bodies of functions ---- */
/* Binds the locals that a function of a block captured. */
void push_captured(struct elab *e, const struct func *fn, const struct value *values);
/* Runs a function's body in the current unit; `values` are its arguments, then what it captured. */
struct value run_body(struct elab *e, struct func *fn, const struct value *values, const span *ats, span at, const char *what);
/* Checking: true if the body was found not to give the declared result, so that callers cannot rely on it. */
bool has_wrong_result(const struct elab *e, const struct func *fn);
/* True if the function is being run with the same functions among its arguments. */
bool is_recursive(struct elab *e, const struct func *fn, const struct value *values);
/* Returns false. */
bool report_recursion(struct elab *e, const struct func *fn, span at);
/* Enters the frame of a call; values: of the arguments, or NULL. False: it is recursive or nested too deeply (reported). */
bool enter_function(struct elab *e, const struct func *fn, const struct value *values, struct frame *fr, span at, const char *what);
void leave_function(struct elab *e);
/* Runs the statements of the current frame's function, and returns its result as the declared type. */
struct value run_statements(struct elab *e, struct sig *s, const struct ast_fn *decl);

/* ---- module-form layers: a call makes an instance by running the layer's body ---- */
struct value instantiate(struct elab *e, struct item *it, struct args *args, span at);
/* @variadic: packs the remaining positional arguments into the list that is the last of n_params parameters. */
void pack_variadic_arguments(struct elab *e, struct args *args, uint32_t n_params);
/* Reports `nn.ReLU(x)`, which passes a tensor to make a layer. False: it is none. */
bool report_tensor_argument(struct elab *e, struct item *it, const struct args *args, span at);
/* Reports an argument that is known only at run time. False: it is none. */
bool report_run_time_argument(struct elab *e, struct value v, span at);
/* The number of the layer's arguments: its first members. */
uint32_t instance_arguments(const struct instance *in);
/* Checking: an instance made as `like` was, from other arguments. Poison if that fails; nothing is reported. */
struct value instantiate_again(struct elab *e, const struct instance *like, const struct value *args);
/* Checking: an instance with unknown arguments, or with those defaults that it has. */
struct instance *instantiate_generic(struct elab *e, struct item *it, bool defaults);
#endif
