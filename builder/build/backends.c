#include "builder/build/backends.h"
#include <string.h>
#include "gpu/opencl.h"

const struct backend *emit_backend(enum emit e)
{
	static const struct backend *const backends[] = {
#define EMIT(id, text, backend, file, what) backend,
#include "builder/manifest/emits.def"
#undef EMIT
	};
	return backends[e];
}

enum emit emit_of_backend(const char *name)
{
	enum emit e = 0;
	while (e < EMIT_COUNT && (!emit_backend(e) || strcmp(emit_backend(e)->name, name) != 0))
		e++;
	return e;
}
