/* A back end: what turns one stage of a model into files. A row of builder/manifest/emits.def names its value and its files; nothing else knows
 * it by name. */
#ifndef TRIB_BACKEND_LINK_BACKEND_H
#define TRIB_BACKEND_LINK_BACKEND_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/hash.h"

struct arena;
struct codegen;
struct codegen_api;
struct codegen_target;
struct diags;
struct ir_notes;
struct lazy_info;
struct model_info;
struct model_input;
struct model_weights;
struct object;
struct plan;
struct plan_options;
struct sources;
struct target;

enum backend_stage {
	BACKEND_HIR,  /* the elaborated program: the builder makes no plans for the back end */
	BACKEND_IR,   /* the run_fn of each unit's plan; its loops are not made */
	BACKEND_LOOPS /* the loops of each unit's plan */
};
enum backend_weights {
	BACKEND_NO_WEIGHTS,     /* it reads none: none are packed */
	BACKEND_WEIGHTS_INSIDE, /* its first file contains them */
	BACKEND_WEIGHTS_BESIDE  /* if they are large they are in a file beside; else as above */
};

/* One unit, to become a fragment. */
struct emit_request {
	const struct plan *plan; /* with its code */
	bool is_lazy;            /* a lazy library compiles the unit at its first call */
	/* Returns the code generator of this thread for a target, and its functions; NULL with a message in *error. */
	struct codegen *(*generator)(void *ctx, const struct codegen_target *target, const struct codegen_api **api, struct buf *error);
	void *ctx;
};
/* What one unit became. */
struct backend_fragment {
	const void *bytes; /* NULL: the unit is inlined everywhere */
	size_t len;
	hash128 key;
	struct object *object; /* the bytes, parsed, if they are an object */
	const struct plan_options *options;
};

/* What the files are made from. */
struct backend_model {
	struct arena *arena;
	struct diags *diags;
	const struct sources *sources; /* of comments */
	const struct model_input *in;  /* BACKEND_HIR: its program alone */
	const struct model_info *info; /* BACKEND_HIR: what no plan and no commit decides */
	const struct model_weights
		*weights; /* BACKEND_NO_WEIGHTS: NULL. A blob's bytes are set unless a library is linked or they are beside it */
	const struct backend_fragment *fragments; /* for each of program->units; BACKEND_HIR: NULL */
	const struct lazy_info *lazy;             /* NULL: not a lazy library */
};
struct backend_file {
	const char *name; /* without a folder */
	struct buf text;
};
struct backend_output {
	struct backend_file *files; /* in the order of the row in emits.def. The text of a library stays empty: it is linked */
	uint32_t n_files;
	struct object **objects; /* of the library but its runtime. Has room for one for each unit and two more */
	uint32_t n_objects;
	const char *needs; /* a feature that the library needs and some devices lack; NULL: none */
};

/* What makes the first file a shared library with the C interface of models. */
struct backend_library {
	bool has_devices;          /* it runs on devices with drivers of their own; there may be several, with numbers */
	bool emits_objects;        /* fragments are objects, but those of lazy libraries */
	const char *const *needed; /* shared libraries, NULL-terminated */
	/* Returns the bytes of object i of the runtime for the target, and its name for messages; NULL: there is no object i. */
	const void *(*runtime)(const struct target *t, uint32_t i, const char **name, size_t *len);
};

struct backend {
	const char *name;  /* of a library: tri_model_desc.backend, and the device of `trib run` */
	const char *title; /* in messages */
	enum backend_stage stage;
	/* Makes the files. On a worker, but for BACKEND_HIR. Returns false with a message in *error, or NULL after reporting into m->diags. */
	bool (*assemble)(const struct backend_model *m, struct backend_output *out, const char **error);
	/* Returns why no model can have this name; NULL: one can. NULL: a model can have any name that the manifest allows. */
	const char *(*name_fault)(const char *model);

	/* BACKEND_HIR has nothing of the following. */
	const struct backend_library *library; /* NULL: all files are texts */
	enum backend_weights weights;
	uint64_t most_inside; /* bytes of weights that the first file contains; 0: as the manifest says */
	/* Returns the target of plans for a machine with the processor `cpu`, and NULL with a message in *error if there is none; both may be in
	 * `a`. `dense`: matrices of trits are packed as TRIT1_6 if the target can read them. */
	const struct target *(*target)(struct arena *a, const struct target *cpu, bool dense, const char **error);
	/* Appends the fragment of a unit. Returns false with a message in *error. NULL: a fragment is the serialized loops. */
	bool (*emit)(const struct emit_request *r, struct buf *fragment, struct buf *error);
	/* Appends the text of the code of all units, for --dump-code; NULL: the code generator prints it. `notes`: where it comes from, for comments. */
	void (*print)(const struct plan *const *units, uint32_t n, const struct ir_notes *notes, struct buf *out);
};
#endif
