/* The graph of a project: definitions with inferred types, and units with compile times, what uses what, and which values flow
 * between statements. */
#ifndef TRIB_BUILDER_QUERY_GRAPH_H
#define TRIB_BUILDER_QUERY_GRAPH_H
#include <stdbool.h>
#include <stdint.h>
#include "base/hash.h"
#include "builder/query/data_flow.h"

struct buf;
struct build_context;
struct project;

struct graph_links {
	const uint32_t *uses, *used_by;
	uint32_t n_uses, n_used_by;
};
struct graph_type {                     /* a typed part of a definition */
	const char *kind, *name, *type; /* "argument", "x", "float32[N, 64]"; type NULL: it differs between uses */
};
struct graph_def {
	const char *name, *file, *kind, *signature; /* "Net", "src/net.tri", "layer", "layer Net(n: int)" */
	uint32_t line;
	bool std;         /* of the standard library */
	const char *type; /* of its result, or of the constant; NULL: unknown, or it differs */
	struct graph_type *types;
	uint32_t n_types;
	struct graph_links links; /* definitions */
};
struct graph_unit {
	const char *name, *definition, *file, *signature; /* signature: "(x: float32[N, 64]) -> (out: float32[N, 10])" */
	uint32_t line, model, def;                        /* def: UINT32_MAX if there is none */
	bool built;   /* compiled or cached by the last build; else it was inlined, or there was no build */
	bool current; /* built, and unchanged since */
	hash128 key;
	int64_t cost_ns;          /* measured compile time; 0: unknown */
	struct graph_links links; /* units of the same model */
	struct data_flow flow;
};
struct graph_entry {
	const char *name;
	uint32_t unit;
};
struct graph_model {
	const char *name;
	struct graph_entry *entries;
	uint32_t n_entries;
	uint32_t first_unit, n_units;
	const char *const *files;
	uint32_t n_files;
};
struct graph {
	struct graph_def *defs;
	uint32_t n_defs;
	struct graph_unit *units;
	uint32_t n_units;
	struct graph_model *models;
	uint32_t n_models;
};
#define GRAPH_NONE UINT32_MAX

/* From a project loaded with indexes, and the records of the last build. Memory in the context's arena. */
struct graph *graph_new(const struct build_context *c, const struct project *p);
void graph_print_dot(const struct graph *g, struct buf *out);
void graph_print_json(const struct graph *g, struct buf *out);
struct json_writer;
void graph_put_def(const struct graph *g, const struct graph_def *d, struct json_writer *w);
void graph_put_unit(const struct graph *g, const struct graph_unit *u, struct json_writer *w);
#endif
