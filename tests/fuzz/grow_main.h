/* Generates typed programs from a list of choices, for fuzz_main. */
#ifndef TRIB_TESTS_FUZZ_GROW_MAIN_H
#define TRIB_TESTS_FUZZ_GROW_MAIN_H
#include <stddef.h>
#include <stdint.h>

struct buf;

/* Appends the program that these choices make: most of its statements check, whatever the choices are. */
void grow_program(const uint8_t *data, size_t size, struct buf *out);
#endif
