/* The elaborator: an interpreter of the syntax tree whose tensors are nodes of the unit under construction. It elaborates an entry,
 * where all sizes of layers are known and errors are exact. It also checks definitions on their own (em.checking): their sizes are
 * symbols, and what cannot be decided becomes V_POISON without an error. */
#ifndef TRIB_FRONTEND_ELAB_ELAB_H
#define TRIB_FRONTEND_ELAB_ELAB_H
#include "frontend/unit/emit.h"
#include "frontend/unit/reads.h"

struct checked_loop;
struct param_list;
struct unit_spec;

/* The states of a unit: their values when it is entered and, after it, when it is left. */
struct unit_states {
	struct layer_param *const *at;
	struct value *values;
	uint32_t n;
};
struct local {
	name_id name;
	bool constant, state; /* state: the value of a state, without a name in the source */
	uint8_t type_errors;  /* reported so far */
	struct value value;
	span at; /* what it was last bound or assigned to */
};
/* The definition whose code runs. */
struct frame {
	struct call_site site;
	struct frame *up;
	struct module *mod;
	struct instance *self;
	const struct func *func;          /* NULL: a layer's body, a constant, main */
	const struct builder *unit;       /* what it emits into */
	uint32_t base;                    /* first local */
	const struct unit_states *states; /* NULL: none */
	struct value result;
	span result_at; /* the expression of the result */
	bool returned;
	hash128 functions;          /* of the functions and layers among the arguments */
	bool tensor_args;           /* checking: an argument is a tensor, so that calls are units */
	span conditional_result_at; /* checking: a result under a condition known only at run time; an empty span: none */
};
/* Exits of a function or loop under run-time conditions: locals without a name in the source. LEFT and SKIPPED are of the innermost loop. */
enum exit_kind { EXIT_RETURNED, EXIT_RESULT, EXIT_LEFT, EXIT_SKIPPED, EXIT_COUNT };
struct elab {
	struct emitter em; /* first, so that its address is that of the elaborator */
	struct frame *frame;
	VEC(struct local) locals;
	name_id exit_names[EXIT_COUNT];
	uint32_t unknown_exits;           /* checking: exits met under conditions that cannot be decided */
	struct checked_loop *loop;        /* checking: the innermost loop whose trip count is unknown; NULL: none */
	bool value_wanted;                /* the value of the block to be evaluated is used */
	const struct unit_spec *callee;   /* of the frame that is entered next; NULL: not a call of a unit */
	const struct unit_states *states; /* of the unit whose frame is entered next */
	struct param_list *main_params;   /* in main: its layers' parameters, named after the locals that hold them; else NULL */
};
/* How a statement ends. FLOW_MAYBE: known only at run time; the locals of `enum exit_kind` hold the conditions. */
enum flow { FLOW_NEXT, FLOW_BREAK, FLOW_CONTINUE, FLOW_RETURN, FLOW_MAYBE };

static inline bool is_exit(enum flow f) { return f == FLOW_RETURN || f == FLOW_BREAK || f == FLOW_CONTINUE; }

void elab_init(struct elab *e, struct frontend *f, bool checking);
/* Prepares for the next definition; the steps of all count together. */
void elab_reset(struct elab *e);
void elab_free(struct elab *e);

static inline const struct ast *elab_tree(const struct elab *e) { return &e->frame->mod->ast; }
static inline span elab_span(const struct elab *e, node_id n) { return ast_span(elab_tree(e), n); }
/* The name that is a node's token. */
static inline name_id node_name(struct elab *e, struct module *m, node_id n) { return token_name(e->em.f, m, ast_token(&m->ast, n)); }
static inline name_id elab_name(struct elab *e, token_id t) { return token_name(e->em.f, e->frame->mod, t); }

/* ---- the recursion of the interpreter: every file of this folder may call these; all other calls between its files go one way ---- */
struct value eval(struct elab *e, node_id n);
struct value eval_block(struct elab *e, node_id block, enum flow *flow); /* value of its last expression, else V_VOID */
enum flow exec(struct elab *e, node_id n, struct value *value);
#endif
