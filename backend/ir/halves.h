/* Conversion of arrays between float32 and 16-bit floats, with vectors; the results are those of elem_cast. */
#ifndef TRIB_BACKEND_IR_HALVES_H
#define TRIB_BACKEND_IR_HALVES_H
#include <stdint.h>

void halves_from_bfloat16(const uint16_t *in, float *out, int64_t n);
void halves_from_float16(const uint16_t *in, float *out, int64_t n);
void halves_to_bfloat16(const float *in, uint16_t *out, int64_t n);
#endif
