/* Habits from other languages where a type stands: each says so where it is one, takes what stands there, and is true. */
#ifndef TRIB_FRONTEND_FOREIGN_TYPE_H
#define TRIB_FRONTEND_FOREIGN_TYPE_H
#include <stdbool.h>

struct parser;

bool foreign_array(struct parser *p);               /* [3, 4]float, [float32; 4] */
bool foreign_type(struct parser *p);                /* pointers, functions, structures, quotes */
bool foreign_dim(struct parser *p);                 /* _, *, :, "batch"; the dimension is `?` then */
bool foreign_suffix(struct parser *p, bool tuple);  /* (int) -> int, int? */
bool value_as_type(struct parser *p);               /* in_features: 784 in a signature, which is taken as the default */
bool foreign_generic(struct parser *p);             /* <const N: int> */
#endif
