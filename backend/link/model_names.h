/* Names in a generated library and its header; private to the model files. */
#ifndef TRIB_BACKEND_LINK_MODEL_NAMES_H
#define TRIB_BACKEND_LINK_MODEL_NAMES_H
#include <stdbool.h>
#include <stdint.h>

struct arena;
struct hir_entry;
struct hir_program;

/* One tensor of a run call: the run-time inputs, then the outputs. */
struct model_io {
	const char *name;   /* as in the source */
	const char *member; /* as a member of the io struct: no keyword of C or C++, and unique */
	const struct hir_type *type;
	bool output;
};
/* *n of them, of which *n_inputs are inputs. */
struct model_io *model_io_list(struct arena *a, const struct hir_entry *e, uint32_t *n, uint32_t *n_inputs);
/* What NAME_io and NAME_run of entry i begin with: the model's name, or NAME_ENTRY where there are several entries. */
const char *model_entry_prefix(struct arena *a, const struct hir_program *p, const char *model, uint32_t i);
#endif
