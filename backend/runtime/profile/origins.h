/* Where statements come from. */
#ifndef TRIB_BACKEND_RUNTIME_PROFILE_ORIGINS_H
#define TRIB_BACKEND_RUNTIME_PROFILE_ORIGINS_H
#include "backend/runtime/abi/tri.h"

/* The line in the project: of an operation of the standard library that of the call which was inlined. */
const tri_origin *tri_origin_in_project(const tri_model_desc *d, const tri_origin *o);
enum { TRI_LINE = 128 };
/* Writes "FILE:LINE: " of a place, as in tri_fail_at, or nothing if it is not known. Returns `out`. */
const char *tri_place_line(const tri_model_desc *d, uint64_t place, char out[TRI_LINE]);
/* Sets TRI_ERR_RANGE with the line of an index that is out of range, if it is known, and returns it. place: as in tri_fail_at. */
int tri_error_index(tri_error *err, const tri_model_desc *d, int64_t index, int64_t bound, uint64_t place);
#endif
