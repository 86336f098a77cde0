/* Names in a generated library and its header; private to the model files. */
#ifndef TRIB_BACKEND_LINK_MODEL_MODEL_NAMES_H
#define TRIB_BACKEND_LINK_MODEL_MODEL_NAMES_H
#include <stdbool.h>
#include <stdint.h>

struct arena;
struct buf;
struct hir_entry;
struct hir_program;
struct model_info;
struct model_input;

/* One tensor of an entry: a run-time input or an output; or a state, which is no tensor of a run call. */
struct model_io {
	const char *name;   /* as in the source */
	const char *member; /* as a member of the io struct: unique, and means nothing else in C or C++ */
	const struct hir_type *type;
	bool output, state;
};
/* Returns the *n_inputs inputs and then the outputs of an entry; *n is the number of both. The states are the last of each. */
struct model_io *model_io_list(struct arena *a, const struct hir_entry *e, uint32_t *n, uint32_t *n_inputs);
/* True if the entry writes the rows of new value k of a state behind the old ones. */
bool model_state_grows(const struct model_input *in, const struct hir_entry *e, uint32_t k);
/* Appends the declaration of PREFIX_io. */
void model_io_put(struct arena *a, struct buf *out, const struct model_input *in, const char *prefix, uint32_t entry);
/* Appends the first words of a generated C file: a comment that the caller goes on with. */
void model_title_put(struct buf *out, const struct model_info *info);
/* Returns the prefix of the names of entry i: the model's name, or NAME_ENTRY if there are several entries. */
const char *model_entry_prefix(struct arena *a, const struct hir_program *p, const char *model, uint32_t i);
#endif
