/* The values of names: locals, members of a layer instance, items of a module, the prelude. */
#ifndef TRIB_FRONTEND_ELAB_NAME_H
#define TRIB_FRONTEND_ELAB_NAME_H
#include "frontend/elab/elab.h"

/* A name in the current frame. False: there is none. */
bool name_lookup(struct elab *e, name_id name, span at, struct value *out);
/* The same from a module and an instance (or NULL), without locals. */
bool name_lookup_static(struct elab *e, struct module *mod, struct instance *self, name_id name, span at, struct value *out);
/* The same among the builtins and element types alone. */
bool prelude_lookup(struct elab *e, name_id name, struct value *out);
void prelude_init(struct frontend *f);
struct value item_value(struct elab *e, struct item *it, span at);
struct value member_value(struct elab *e, struct instance *in, struct member *m, span at);
struct func *item_func(struct frontend *f, struct item *it);
#endif
