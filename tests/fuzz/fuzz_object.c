/* Object files: parsed, written, read again, and linked with every global symbol exported. They are linked alone, and together with the
 * copy that was read again, which defines the same symbols. */
#include <stdlib.h>
#include "backend/link/elf/link.h"
#include "backend/link/elf/object.h"
#include "base/arena.h"
#include "base/buf.h"
#include "tests/fuzz/fuzz.h"

/* Addresses of its uninitialised data cost memory, so it is kept small. */
static bool small(const struct object *o)
{
	uint64_t total = 0;
	for (uint32_t i = 0; i < o->n_sections; i++)
		total += o->sections[i].size < 1 << 24 ? o->sections[i].size + o->sections[i].align : 1 << 24;
	return total < 1 << 24;
}

static void link_all(struct arena *a, struct object *const *objects, uint32_t n)
{
	static const char *const needed[] = {"libc.so.6"};
	const struct object *o = objects[0];
	const char *error = NULL, **exports = ARENA_ARRAY(a, const char *, o->n_symbols);
	struct link_request r = {"x", objects, n, exports, 0, needed, 1, NULL, 0};
	struct buf library = {0};
	for (uint32_t i = 0; i < o->n_symbols; i++)
		if (o->symbols[i].global && o->symbols[i].section != OBJ_UNDEFINED)
			exports[r.n_exports++] = o->symbols[i].name;
	if (!link_shared(a, &r, &library, &error) && !error)
		abort();
	buf_free(&library);
}

static void use(struct arena *a, struct object *o)
{
	const char *error = NULL;
	struct object *both[] = {o, NULL};
	struct buf file = {0};
	link_all(a, both, 1);
	object_write(o, &file);
	both[1] = object_parse(a, "again", file.at, file.len, &error);
	if (!both[1])
		abort();
	link_all(a, both, 2);
	buf_free(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new(0);
	const char *error = NULL;
	struct object *o = object_parse(a, "fuzz", data, size, &error);
	if (!o && !error)
		abort();
	if (o && small(o))
		use(a, o);
	arena_free(a);
	return 0;
}
