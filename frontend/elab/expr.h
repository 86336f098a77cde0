/* Expressions: names, members, calls, indexing, lists. */
#ifndef TRIB_FRONTEND_ELAB_EXPR_H
#define TRIB_FRONTEND_ELAB_EXPR_H
#include "frontend/elab/elab.h"

/* ---- values of names: locals, members of a layer instance, items of a module, the prelude (name.c) ---- */
/* A name in the current frame. False: there is none. */
bool name_lookup(struct elab *e, name_id name, span at, struct value *out);
/* The same from a module and an instance (or NULL), without locals. */
bool name_lookup_static(struct elab *e, struct module *mod, struct instance *self, name_id name, span at, struct value *out);
/* The same among the builtins and element types alone. */
bool prelude_lookup(struct elab *e, name_id name, struct value *out);
void prelude_init(struct frontend *f);
struct value item_value(struct elab *e, struct item *it, span at);
struct value member_value(struct elab *e, struct instance *in, struct member *member, span at);
struct func *item_func(struct frontend *f, struct item *it);

/* ---- members of values (member.c) ---- */
/* A member of a value. False: it has none of the name. */
bool value_member(struct elab *e, struct value v, name_id name, span at, struct value *out);
/* Reports the member access `n`, and returns poison. */
struct value report_no_member(struct elab *e, struct value v, node_id n, name_id name);
/* Offers the members of `object` to an editor that asks for a completion at node n. */
void offer_value_members(struct elab *e, node_id n, struct value object);

/* ---- calls (args.c, call.c, partial.c) ---- */
/* Orders arguments as the parameters are; bound[i] is NULL where the default applies. False: reported. */
bool bind_args(struct elab *e, struct module *mod, struct ast_nodes params, struct args *args, span at, const char *what,
	       struct arg **bound);
/* Reports an argument whose name is none of a layer's arguments and parameters. in: an instance of it. */
void report_unknown_param(struct elab *e, const struct instance *in, const struct arg *a, const char *what);

/* Binds arguments to parameters, solves shapes, then calls a unit or runs the body in the current unit. */
struct value call_value(struct elab *e, struct value callee, struct args *args, span at, const char *what);
/* True if the call passes some of a functional layer's arguments, and no wrong ones. */
bool is_partial_call(struct elab *e, const struct func *fn, const struct args *args);
struct value partial_make(struct elab *e, struct func *fn, const struct args *args, span at);
/* All arguments of the second call: those of the first, and `args`. False: reported. */
bool partial_args(struct elab *e, struct value layer, const struct args *args, span at, struct args *all);

/* ---- indexing (index.c, index_tensor.c) ---- */
struct value eval_index(struct elab *e, node_id n);
struct value index_tensor(struct elab *e, struct value v, node_id n, struct ast_nodes subs);
/* The bound of a slice, or none. */
struct value eval_bound(struct elab *e, node_id n);
struct value report_bad_index(struct elab *e, node_id sub, struct value v);
struct value eval_fstring(struct elab *e, node_id n);

/* ---- lists that grow (list.c) ---- */
/* Executes `xs.append(x)` or `xs.extend(ys)` of a local list. False: the call is something else. */
bool exec_append(struct elab *e, node_id call, struct value *out);
/* The name of the list that a call appends to; 0: none. */
name_id appended_list(struct elab *e, node_id call);
/* True if a value contains a list of unknown length, which cannot leave its function (reported). */
bool report_stacked_escape(struct elab *e, struct value v, span at);
#endif
