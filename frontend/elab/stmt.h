/* Statements and the expressions that have files of their own. */
#ifndef TRIB_FRONTEND_ELAB_STMT_H
#define TRIB_FRONTEND_ELAB_STMT_H
#include "frontend/elab/elab.h"

struct value eval_if(struct elab *e, node_id n, enum flow *flow);
/* 1 or 0; -1: not known at compile time (not reported); -2: an error was reported. */
int decide_condition(struct elab *e, struct value v, span at, bool report);

/* ---- loop.c ---- */
enum flow exec_for(struct elab *e, node_id n);
enum flow exec_while(struct elab *e, node_id n);
struct value eval_comprehension(struct elab *e, node_id n);

/* ---- index.c ---- */
struct value eval_index(struct elab *e, node_id n);

/* ---- fstring.c ---- */
struct value eval_fstring(struct elab *e, node_id n);

/* ---- assert.c ---- */
enum flow exec_assert(struct elab *e, node_id n);
/* Emits an assertion that `given` is the size of the dimension `name`. */
void assert_size(struct elab *e, const char *name, struct value given, struct value size, span at);
#endif
