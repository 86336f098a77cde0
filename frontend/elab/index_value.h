/* Values noted in an editor's index: only for code that is checked with its errors shown. */
#ifndef TRIB_FRONTEND_ELAB_INDEX_VALUE_H
#define TRIB_FRONTEND_ELAB_INDEX_VALUE_H
#include "frontend/elab/elab.h"
#include "frontend/names/index_note.h"

/* Adds the symbols of the prelude: its names, then the types that are no values. */
void index_prelude(struct frontend *f);
void index_note_value(struct elab *e, token_id at, struct value v);
/* The result of the function that is being checked. */
void index_note_result(struct elab *e, struct value v);
/* The member or function that `name` refers to. */
void index_note_member(struct elab *e, token_id name, struct value object, struct value found);
void index_note_call(struct elab *e, token_id callee_name, struct value callee, bool method);
void index_note_argument(struct elab *e, span name, struct module *mod, token_id declared);
void index_offer_members(struct elab *e, struct value object);
#endif
