/* Links one model: its objects and packed weights become its outputs. */
#ifndef TRIB_BUILDER_BUILD_LINK_H
#define TRIB_BUILDER_BUILD_LINK_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "builder/manifest/manifest.h"

struct arena;
struct buf;
struct fragments;
struct link_request;
struct model_input;
struct model_job;
struct repository;
struct triw_entry;
struct variant;

/* Sets link.digest, and link.is_current if the outputs were made from an equal one. */
void link_digest(struct model_job *m, const struct repository *repo);
/* On a worker. Errors go to m->diags. */
void link_model(struct model_job *m, const struct repository *repo);
/* Leaves the runtime's objects to the session's next build. */
void link_retain_runtime(struct fragments *f, const struct variant *v);

/* ---- link_record.c: What the last link of a model wrote, and from what: in the project's store. ---- */

/* True if the outputs were made from link.digest and are unchanged. Sets outputs.weights then. */
bool link_record_is_current(struct model_job *m);
/* The weight file of the last link if it is unchanged; else NULL. */
const char *link_record_weights(const struct model_job *m);
/* The weights in the library of the last link if it is unchanged; else NULL. */
const struct triw_entry *link_record_library(const struct model_job *m, enum emit emit, uint32_t *n);
void link_record_save(const struct model_job *m);

/* ---- pack.c: Lays out the weights of one variant, and packs them. On workers. ---- */

/* What the linker needs to know of a variant. */
struct model_input pack_model_input(struct variant *v);
/* Earlier variants of the model are packed: what they have is shared. Errors go to the model's diags. */
void pack_lay_out(struct variant *v);
/* Packs parts until none is left. Several workers may do so at once, each with its own `a`, which holds the packed weights that no cache
 * holds. NULL, or the error. */
const char *pack_weights(struct variant *v, struct arena *a, uint32_t worker);
/* Merges equal weights. Completes the weight file, before the library that opens it is written. False: reported. */
bool pack_finish(struct variant *v);
/* Gives the blobs of the library their bytes, for an outside linker. False: reported. */
bool pack_map(struct variant *v);
/* Completes the library: the first `before` bytes of `library` are its start, the others follow `gap` bytes later. False: reported. */
bool pack_publish(struct variant *v, const struct buf *library, size_t before, uint64_t gap);

/* ---- trits.c: Describes the packed trits of a finished variant, in pack.trits. False: reported. ---- */
bool pack_list_trits(struct variant *v, const struct model_input *in);

/* ---- quantized.c: Prints what quantizers did to the parameters of a model. False: reported. ---- */
bool pack_print_quantized(struct model_job *m);

/* ---- link_external.c: Linking by an outside command (`linker = cc`), in place of our own linker. ---- */

/* Runs `command`, a C compiler driver found on PATH, over r's objects in the folder `scratch`, which is made and removed. Appends the
 * library. False: *error (arena text) says what failed, with the command's own words. */
bool link_external(struct arena *a, const struct link_request *r, const char *command, const char *scratch, struct buf *out,
		   const char **error);
#endif
