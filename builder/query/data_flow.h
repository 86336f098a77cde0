/* The data flow in a unit: its statements, and the values that flow from one to the next. */
#ifndef TRIB_BUILDER_QUERY_DATA_FLOW_H
#define TRIB_BUILDER_QUERY_DATA_FLOW_H
#include <stdint.h>

struct arena;
struct hir_type;
struct hir_unit;
struct map;
struct sources;

enum step_kind {
#define STEP(id, text, help) FLOW_##id,
#include "builder/query/step_kinds.def"
};
struct flow_step {
	enum step_kind kind;
	const char *name;     /* "x", "conv2d", the name of the callee */
	const char *layer;    /* of a call of a layer: "layer1.0", as in names of parameters; else NULL */
	uint32_t line;        /* 0: unknown */
	uint32_t unit, other; /* of calls: indices of units, or UINT32_MAX; other: the second branch */
};
struct flow_value {
	uint32_t from, to; /* steps */
	const char *type;  /* "float32[N, 64]" */
};
struct data_flow {
	struct flow_step *steps;
	uint32_t n_steps;
	struct flow_value *values;
	uint32_t n_values;
};
/* Memory in `a`. by_identity: hir_unit.identity → a number, to which `first` is added. */
struct data_flow data_flow_of(struct arena *a, const struct hir_unit *u, const struct sources *s, const struct map *by_identity,
			      uint32_t first);
const char *step_kind_text(enum step_kind k);
/* "float32[N, 64]" */
const char *hir_type_text(struct arena *a, const struct hir_unit *u, const struct hir_type *t);
#endif
