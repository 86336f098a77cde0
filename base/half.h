/* The half precision formats: IEEE binary16 and bfloat16. */
#ifndef TRIB_BASE_HALF_H
#define TRIB_BASE_HALF_H
#include <stdint.h>

/* Bits from a double, rounded once, half to even; and back. */
uint16_t float16_bits(double v);
double float16_value(uint16_t bits);
uint16_t bfloat16_bits(double v);
double bfloat16_value(uint16_t bits);
#endif
