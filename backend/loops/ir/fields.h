/* Private to the codec: visitors of fields that several files need. */
#ifndef TRIB_BACKEND_LOOPS_IR_FIELDS_H
#define TRIB_BACKEND_LOOPS_IR_FIELDS_H
#include "backend/loops/ir/codec.h"

/* fields.c */
void code_buffer_number(struct codec *c, uint32_t *x);
void code_elem(struct codec *c, dtype *x);
void code_shape(struct codec *c, uint8_t *rank, dim *dims);
/* fields_nest.c */
void code_nest(struct codec *c, struct loop_nest *n);
void code_all_loops(struct codec *c, struct loop_nest *n);
void code_schedule(struct codec *c, struct loop_schedule *x);
/* fields_stmt.c */
extern const char code_stmt_starts[]; /* the words that statements begin with */
void code_stmt(struct codec *c, struct loop_stmt *x);
#endif
