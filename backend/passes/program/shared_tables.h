/* Private to this folder: parameters that are read in two ways, as an embedding with a tied head. */
#ifndef TRIB_BACKEND_PASSES_PROGRAM_SHARED_TABLES_H
#define TRIB_BACKEND_PASSES_PROGRAM_SHARED_TABLES_H
#include <stdbool.h>

struct arena;
struct hir_program;

/* Returns for each unit and input whether it is a parameter whose rows are looked up in one place, and whose transpose is multiplied by in
 * another. In `a`. */
bool **shared_tables_find(struct arena *a, const struct hir_program *p);
#endif
