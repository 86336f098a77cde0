/* The standard library's modules, built into the executable. Part of frontend/frontend.h. */
#ifndef TRIB_FRONTEND_STD_STD_H
#define TRIB_FRONTEND_STD_STD_H
#include <stdbool.h>
#include <stdint.h>

/* The standard library's module text ("nn"), built into the executable; NULL if there is none. */
const char *frontend_std(const char *module, uint32_t *len);
/* What a module's tree, which was made when trib was built (frontend/names/std_tree.h), saves: its text is lexed and parsed anew. */
struct frontend_precompiled {
	uint32_t lines;
	int64_t parse_ns; /* the least of several times */
	bool same;        /* the tree is what the text gives */
};
/* False: there is no such module. */
bool frontend_check_precompiled(const char *module, struct frontend_precompiled *out);
/* The names of its modules; how many. */
uint32_t frontend_std_names(const char **names, uint32_t most);
#endif
