/* The texts of the standard library, written by embed.cmake. */
#ifndef TRIB_FRONTEND_STD_STD_DATA_H
#define TRIB_FRONTEND_STD_STD_DATA_H
#include <stdint.h>

struct std_module {
	const char *name, *text;
	uint32_t len;
};
extern const struct std_module std_modules[]; /* ends with a NULL name */
#endif
