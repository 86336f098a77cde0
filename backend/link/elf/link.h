/* Linking objects into an ELF shared object for x86-64, in process. */
#ifndef TRIB_BACKEND_LINK_ELF_LINK_H
#define TRIB_BACKEND_LINK_ELF_LINK_H
#include <stdbool.h>
#include <stdint.h>

struct arena;
struct buf;
struct object;
struct unit_lines;

struct link_request {
	const char *soname;
	struct object *const *objects;
	uint32_t n_objects;
	const char *const *exports; /* global symbols that become dynamic. Only sections that they reach are linked */
	uint32_t n_exports;
	const char *const *needed; /* DT_NEEDED; undefined symbols bind there at load time */
	uint32_t n_needed;
	const struct unit_lines *const *lines; /* for each object, or NULL: it has none. NULL: the library gets no debug information */
	uint64_t weights;                      /* size of the section of kind WEIGHTS; 0: there is none */
};
/* The weights are at this offset of the library. Their number of bytes is rounded up to the next multiple of it. */
#define LINK_WEIGHTS_AT 4096u
/* Appends the library without its weights: the LINK_WEIGHTS_AT bytes before them, and all bytes after them. Equal requests give equal bytes.
 * Returns false with a message in *error, in `scratch`. */
bool link_shared(struct arena *scratch, const struct link_request *r, struct buf *out, const char **error);
/* True if imports.def lists the symbol. */
bool link_may_import(const char *name);
#endif
