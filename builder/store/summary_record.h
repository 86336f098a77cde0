/* The summary of a unit in its record: an unchanged unit is not lowered to summarise it again. */
#ifndef TRIB_BUILDER_STORE_SUMMARY_RECORD_H
#define TRIB_BUILDER_STORE_SUMMARY_RECORD_H

struct serializer;
struct unit_summary;

/* Writes or reads a summary, but for the symbol and the identity of its unit. ir_program_verify checks what was read, in a program. */
void summary_serialize(struct serializer *s, struct unit_summary *summary);
#endif
