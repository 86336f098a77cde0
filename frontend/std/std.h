/* The modules of the standard library, embedded into the executable. Part of frontend/frontend.h. */
#ifndef TRIB_FRONTEND_STD_STD_H
#define TRIB_FRONTEND_STD_STD_H
#include <stdbool.h>
#include <stdint.h>

/* Returns the text of a module ("nn"), or NULL if there is none. */
const char *frontend_std(const char *module, uint32_t *len);
/* Compares a module's precompiled tree (frontend/names/std_tree.h) with a new parse of its text. */
struct frontend_precompiled {
	uint32_t lines;
	int64_t parse_ns; /* the minimum of several parses */
	bool same;        /* the trees are equal */
};
/* False: there is no such module. */
bool frontend_check_precompiled(const char *module, struct frontend_precompiled *out);
/* Writes the names of at most `most` modules and returns their number. */
uint32_t frontend_std_names(const char **names, uint32_t most);
#endif
