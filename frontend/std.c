/* Looking up the standard library's modules. */
#include <string.h>
#include "frontend/frontend.h"
#include "frontend/std_data.h"

const char *frontend_std(const char *module, uint32_t *len)
{
	for (const struct std_module *m = std_modules; m->name; m++)
		if (!strcmp(m->name, module)) {
			*len = m->len;
			return m->text;
		}
	return NULL;
}
