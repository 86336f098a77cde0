/* The program under construction from a model's entries (entry.c) and its main blocks (program.c). */
#ifndef TRIB_FRONTEND_ELAB_PROGRAM_H
#define TRIB_FRONTEND_ELAB_PROGRAM_H
#include "frontend/elab/elab.h"
#include "frontend/unit/request.h"

/* A layer that entries name: entries of one layer share an instance. */
struct entry_layer {
	const struct item *item;
	struct value instance;
};
struct program {
	struct elab *e;
	const struct elab_request *req;
	VEC(struct entry_layer) layers;
	VEC(struct hir_param) params;
	VEC(struct hir_entry) entries;
	VEC(struct hir_unit *) units; /* callees first */
	struct map param_ids;         /* layer_param id to index in params */
	struct map seen;              /* unit identity → is it listed? else what it calls is being listed */
	uint32_t depth;               /* of the calls that are being listed */
	bool invalid_calls;           /* calls in a circle, or nested too deeply */
};

/* The last program of a front end that is kept. */
struct elaborated {
	hash128 request;
	struct hir_program *program;
	struct item_reads reads; /* of what belongs to no unit: entries, layers, parameters */
	uint64_t steps;
};

/* The entry "Net" or "Net.prefill", added unless errors were reported. */
void elab_entry(struct program *p, const char *name);
/* Appends a parameter; its index. */
uint32_t program_add_param(struct program *p, struct hir_param cp);
/* The parameter of a layer instance, appended under `name` unless it is there; its index. */
uint32_t program_add_layer_param(struct program *p, struct layer_param *ip, const char *name);
/* Appends an entry, and of its unit and what that calls all that is new. */
void program_add_entry(struct program *p, struct hir_entry entry);
/* The program of what was added, and an end. */
struct hir_program *program_finish(struct program *p);
void program_free(struct program *p);
/* The program of a request; NULL: errors were reported. */
struct hir_program *elab_program(struct elab *e, const struct elab_request *req);
#endif
