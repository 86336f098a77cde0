#include "builder/build/model/backends.h"
#include <string.h>

#define EMIT(id, text, value, ...) extern const struct backend value;
#include "builder/manifest/emits.def"
#undef EMIT

const struct backend *emit_backend(enum emit e)
{
	static const struct backend *const backends[] = {
#define EMIT(id, text, value, ...) &value,
#include "builder/manifest/emits.def"
#undef EMIT
	};
	return backends[e];
}

enum emit emit_of_device(const char *name)
{
	enum emit e = 0;
	while (e < EMIT_COUNT && !(emit_backend(e)->library && strcmp(emit_backend(e)->name, name) == 0))
		e++;
	return e;
}
