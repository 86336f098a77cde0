/* Operations on numbers that C lacks. Programs mean the same by them at compile time, in the interpreter and in compiled code. */
#ifndef TRIB_BASE_ARITH_H
#define TRIB_BASE_ARITH_H
#include <stdint.h>

/* As in PyTorch: has the sign of y. By 0 it is NaN. */
double arith_float_mod(double x, double y);
/* As in PyTorch: the floor of the quotient, which infinities keep (-1 // inf is -1). By 0 it is x / y. */
double arith_float_floordiv(double x, double y);
/* NaN wins. */
double arith_float_min(double x, double y);
double arith_float_max(double x, double y);

/* By 0 both are 0; INT64_MIN // -1 wraps. */
int64_t arith_int_mod(int64_t x, int64_t y);
int64_t arith_int_floordiv(int64_t x, int64_t y);
/* Wraps. For n < 0: 1 and -1 to their powers, else 0. */
int64_t arith_int_pow(int64_t x, int64_t n);
/* Shifts; n < 0 and n > 63 shift all bits out. The lowest bits of the result are those of a narrower type, if x and n are its values. */
int64_t arith_int_shl(int64_t x, int64_t n);
int64_t arith_int_shr(int64_t x, int64_t n);
#endif
