/* A program under construction. */
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
	VEC(struct hir_state) states;
	VEC(struct hir_capacity) capacities;
	VEC(struct hir_entry) entries;
	VEC(struct hir_unit *) units; /* callees first */
	struct map param_ids;         /* layer_param id to index in params */
	struct map state_ids;         /* the same of states */
	struct map capacity_ids;      /* id of an entry's layer, and a name, to index in capacities */
	struct map seen;              /* unit identity → 1 if it is listed, 0 while its callees are being listed */
	uint32_t depth;               /* of nested calls while listing */
	bool invalid_calls;           /* calls form a cycle, or are nested too deeply */
};

/* The last program, in a front end that can be refreshed. */
struct elaborated {
	hash128 request;
	struct hir_program *program;
	struct item_reads reads; /* those that belong to no unit: of entries, layers, parameters */
	uint64_t steps;
};

/* Adds a parameter and returns its index. */
uint32_t program_add_param(struct program *p, struct hir_param cp);
/* Adds the parameter of a layer instance unless it was added before. Returns its index. */
uint32_t program_add_layer_param(struct program *p, struct layer_param *ip, const char *name);
/* Adds another name of parameter i. */
void program_add_alias(struct program *p, uint32_t i, const char *name);
/* Adds a state of the entry layer `root`, or of a layer in it, unless it was added before. Returns its index. */
uint32_t program_add_state(struct program *p, const struct instance *root, struct layer_param *state, const char *name);
/* Adds an entry, and those units that it calls, directly or not, that are not in the program. */
void program_add_entry(struct program *p, struct hir_entry entry);
/* The program of all that was added. */
struct hir_program *program_finish(struct program *p);
void program_free(struct program *p);

/* ---- entries of a model ---- */
/* Elaborates the entry "Net" or "Net.prefill" and adds it to the program, unless errors were reported. */
void elab_entry(struct program *p, const char *name);
#endif
