/* The entries of a zip archive that are stored without compression. */
#ifndef TRIB_BUILDER_WEIGHTS_ZIP_H
#define TRIB_BUILDER_WEIGHTS_ZIP_H
#include <stddef.h>
#include <stdint.h>

struct arena;

struct zip_entry {
	const char *name;
	const void *data; /* into the file. NULL: compressed or encrypted */
	size_t size;
};
struct zip {
	struct zip_entry *entries; /* sorted by name */
	uint32_t n;
};
/* Memory in `a`. NULL: *error (in `a`) says why. */
const struct zip *zip_parse(struct arena *a, const void *bytes, size_t len, const char **error);
/* NULL: there is none. */
const struct zip_entry *zip_find(const struct zip *z, const char *name);
#endif
