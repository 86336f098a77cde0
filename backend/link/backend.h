/* A back end: what turns the loops of units into fragments, and fragments into a library. builder/build/backends.c lists all. */
#ifndef TRIB_BACKEND_LINK_BACKEND_H
#define TRIB_BACKEND_LINK_BACKEND_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/hash.h"

struct arena;
struct buf;
struct codegen;
struct codegen_api;
struct diags;
struct lazy_info;
struct loop_fn;
struct model_info;
struct model_input;
struct model_weights;
struct object;
struct plan;
struct plan_options;
struct target;

/* What one unit became. */
struct backend_fragment {
	const void *bytes; /* NULL: the unit is not linked */
	size_t len;
	hash128 key;
	struct object *object; /* the bytes, parsed, if they are an object */
	const struct plan_options *options;
};

struct emit_request {
	const struct loop_fn *loops;
	const struct codegen_api *api; /* NULL: the fragment is to be serialized loops */
	struct codegen *generator;
};

struct backend_link {
	struct arena *arena;
	const struct model_input *in;
	const struct model_weights *weights;
	const struct model_info *info;
	const struct backend_fragment *fragments; /* for each of program->units */
	const struct lazy_info *lazy;             /* NULL: not a lazy library */
};

struct backend {
	const char *name;     /* tri_model_desc.backend; the device of `trib run` */
	const char *title;    /* in messages */
	bool has_devices;     /* there may be several, with numbers */
	bool has_weight_file; /* a library can have its weights in a file beside it; otherwise it contains them */
	bool emits_objects;   /* fragments are objects from the code generator, but those of lazy libraries; otherwise serialized loops */
	const char *const *needed; /* shared libraries, NULL-terminated */
	/* The target of plans for a machine with the processor `cpu`. */
	const struct target *(*target)(const struct target *cpu);
	/* Returns why no code can be made for the target, in `a`, or NULL. */
	const char *(*refuse)(struct arena *a, const struct target *t);
	/* Reports what of the plan cannot run on its target; `model` is for messages. True if all can. */
	bool (*supports)(const struct plan *p, const char *model, struct diags *diags);
	/* Appends the fragment of a unit. Returns false with a message in *error. */
	bool (*emit)(const struct emit_request *r, struct buf *fragment, struct buf *error);
	/* Appends the text of the code of all units of a library; NULL for those without. NULL: the code generator prints it. */
	void (*print)(const struct loop_fn *const *units, uint32_t n, struct buf *out);
	/* Stores the objects of a library but those of its runtime; `objects` has room for one for each unit and two more. Returns false
	 * with a message in *error. */
	bool (*link)(const struct backend_link *l, struct object **objects, uint32_t *n, const char **error);
	/* Returns the bytes of object i of the runtime for the target, and its name for messages; NULL: there is no object i. */
	const void *(*runtime)(const struct target *t, uint32_t i, const char **name, size_t *len);
};

extern const struct backend cpu_backend;
#endif
