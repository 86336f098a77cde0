#include "builder/manifest/backends.h"
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

bool emit_has_devices(enum emit e)
{
	const struct backend_library *library = emit_backend(e)->library;
	return library && library->has_devices;
}

static bool runs_on(const struct backend *b, const char *device)
{
	size_t n = strlen(b->name);
	return b->library && strncmp(b->name, device, n) == 0 && (!device[n] || device[n] == ':');
}

enum emit emit_of_device(const char *device)
{
	enum emit e = 0;
	while (e < EMIT_COUNT && !runs_on(emit_backend(e), device))
		e++;
	return e;
}

bool device_is_foreign(const char *device)
{
	enum emit e = emit_of_device(device);
	return e < EMIT_COUNT && emit_has_devices(e);
}
