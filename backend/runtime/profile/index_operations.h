/* The operations by which an index out of range is reported. */
#ifndef TRIB_BACKEND_RUNTIME_PROFILE_INDEX_OPERATIONS_H
#define TRIB_BACKEND_RUNTIME_PROFILE_INDEX_OPERATIONS_H
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* True if the operation indexes; a statement may have others, too. */
static inline bool tri_is_index_operation(const char *operation)
{
	static const char *const names[] = {"index",     "narrow",  "index_select", "gather",
					    "embedding", "scatter", "scatter_add",  "select_scatter"};
	for (size_t k = 0; k < sizeof names / sizeof *names; k++)
		if (!strcmp(operation, names[k]))
			return true;
	return false;
}
#endif
