/* The difference of two run-time integers, if it is known at compile time. */
#ifndef TRIB_FRONTEND_RULES_DIFFERENCE_H
#define TRIB_FRONTEND_RULES_DIFFERENCE_H
#include "frontend/unit/emit.h"

/* Stores to - from. False: a value is no integer, or the difference depends on run-time values. */
bool known_difference(struct emitter *e, struct value from, struct value to, dim *difference);
#endif
