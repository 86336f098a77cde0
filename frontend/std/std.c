/* Finds modules of the standard library. */
#include <string.h>
#include "frontend/std/std.h"
#include "frontend/std/std_data.h"

uint32_t frontend_std_names(const char **names, uint32_t most)
{
	uint32_t n = 0;
	for (const struct std_module *m = std_modules; m->name && n < most; m++)
		names[n++] = m->name;
	return n;
}

const char *frontend_std(const char *module, uint32_t *len)
{
	for (const struct std_module *m = std_modules; m->name; m++)
		if (!strcmp(m->name, module)) {
			*len = m->len;
			return m->text;
		}
	return NULL;
}
