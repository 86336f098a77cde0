/* Frames and their locals. */
#ifndef TRIB_FRONTEND_ELAB_LOCALS_H
#define TRIB_FRONTEND_ELAB_LOCALS_H
#include "frontend/elab/elab.h"

/* Enters a frame whose mod, self, func, unit and site.at are set; its address must stay valid until frame_pop. */
void frame_push(struct elab *e, struct frame *fr);
/* Leaves the current frame and drops its locals. */
void frame_pop(struct elab *e);
void local_push(struct elab *e, name_id name, struct value v, bool constant);
/* The innermost local of the name in the current frame, or NULL. */
struct local *local_find(struct elab *e, name_id name);
/* Notes an error about the type of the expression at `at`. A local with MOST_REPEATED such errors becomes poison, so that no more follow. */
void local_note_type_error(struct elab *e, span at);
/* A copy of the frame's locals. */
void locals_snapshot(struct elab *e, struct local **copy, uint32_t *n);
void locals_restore(struct elab *e, const struct local *from, uint32_t n);
#endif
