#include "frontend/names/std_tree.h"
#include <string.h>

const struct std_tree *std_tree_find(const char *module)
{
	for (const struct std_tree *t = std_trees; t->module; t++)
		if (strcmp(t->module, module) == 0)
			return t;
	return NULL;
}
