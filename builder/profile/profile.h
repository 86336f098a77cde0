/* A profile: what a build or the runs of a model cost, measured in one process or in several. Its items form a tree. PROFILE.md
 * describes the file. */
#ifndef TRIB_BUILDER_PROFILE_PROFILE_H
#define TRIB_BUILDER_PROFILE_PROFILE_H
#include <stdbool.h>
#include <stdint.h>
#include "base/hash.h"
#include "base/vec.h"

struct arena;
struct buf;

#define PROFILE_VERSION 1
#define PROFILE_NONE UINT32_MAX
/* Files with larger trees are refused: paths are printed for each item. */
#define PROFILE_MOST_DEPTH 1000
#define PROFILE_MOST_PATH (1 << 16) /* bytes */

enum profile_kind { PROFILE_BUILD, PROFILE_RUN };
extern const char *const profile_kinds[]; /* "build", "run" */
enum profile_metric {
#define METRIC(id, name, title, unit, compared) METRIC_##id,
#include "builder/profile/metrics.def"
	METRIC_COUNT
};
enum metric_unit { UNIT_NS, UNIT_BYTES, UNIT_COUNT, UNITS };
extern const char *const metric_units[UNITS];
enum metric_comparison { COMPARED_SHOWN, COMPARED_TIMED, COMPARED_COUNTED };
struct metric_row {
	const char *name, *title;
	enum metric_unit unit;
	enum metric_comparison comparison;
};
extern const struct metric_row profile_metrics[METRIC_COUNT];

enum profile_item_kind {
#define ITEM(id, name, help) ITEM_##id,
#include "builder/profile/item_kinds.def"
	ITEM_KINDS
};
extern const char *const profile_item_kinds[ITEM_KINDS];
/* The parts of a build: bits of kinds. */
#define PROFILE_STAGES (1u << ITEM_PHASE | 1u << ITEM_STAGE | 1u << ITEM_PASS)
/* What a statement of a run is measured against. */
enum profile_ceiling { CEILING_UNKNOWN, CEILING_FLOAT, CEILING_INT8, CEILING_MEMORY, CEILINGS };
extern const char *const profile_ceilings[CEILINGS];

/* For each metric an array of `n_samples` values; NULL: it was not measured. */
struct profile_values {
	double *of[METRIC_COUNT];
};
/* A part of the work. The values include those of its children. */
struct profile_item {
	enum profile_item_kind kind;
	uint32_t parent;       /* an item before it, or PROFILE_NONE */
	uint32_t depth;        /* 1: it has no parent */
	uint32_t path_len;     /* of profile_item_path */
	hash128 key;           /* of the kinds and names of it and its parents: items of equal keys are the same part of two profiles */
	const char *name;      /* differs from those of its siblings of the same kind */
	const char *at, *note; /* "src/net.tri:12", and further words for the reader; may be NULL */
	const char *kernel;    /* of a run: the symbol of what a kernel item calls, "tri_conv_f32"; else NULL */
	enum profile_ceiling ceiling;
	struct profile_values values;
};
/* When an item ran, in the first sample. */
struct profile_span {
	uint32_t item, lane;  /* lane 0: the main thread; w + 1: worker w */
	int64_t start_ns, ns; /* from the beginning of the build or run */
	uint32_t is_critical; /* 1: on the critical path */
};
struct profile_point {
	int64_t at_ns;
	double value;
};
/* A figure over time, in the first sample. */
struct profile_counter {
	const char *name; /* "memory", "running tasks" */
	enum metric_unit unit;
	VEC(struct profile_point) points;
};
/* What must be equal for times to be comparable: "jobs" = "2". */
struct profile_setting {
	const char *name, *text;
};
/* A named number: "efficiency" = 0.93, "cache.hits" = 12. */
struct profile_fact {
	const char *name;
	double value;
};
struct profile_edge {
	uint32_t from, to; /* items: `from` uses `to` */
};
/* A ternary weight of the model that was run, as it is packed. */
struct profile_weight {
	const char *name, *layout, *form; /* form: "dense", "blocks", "lists" or "bytes", as in tri_weight_desc */
	double elements, zeros, bytes;    /* bytes: packed */
};
struct profile_machine {
	const char *id; /* 16 hex digits: equal on machines of one kind */
	const char *cpu, *system, *device;
	uint32_t cores;
	uint64_t memory_bytes;
};
struct profile {
	struct arena *arena; /* of all texts and arrays */
	enum profile_kind kind;
	const char *version, *build; /* of trib */
	struct profile_machine machine;
	uint32_t n_samples;
	struct profile_values total;          /* of the whole process */
	double *calibration_ns;               /* a fixed workload, timed beside each sample; NULL: it was not */
	VEC(struct profile_setting) settings; /* in the order of their names, unless a file has another */
	VEC(struct profile_fact) facts;
	VEC(struct profile_item) items;
	VEC(struct profile_span) spans;
	VEC(struct profile_counter) counters;
	VEC(struct profile_edge) edges;
	VEC(struct profile_weight) weights;
};

/* An empty profile of `n_samples` processes on this machine. */
struct profile *profile_new(enum profile_kind kind, uint32_t n_samples);
void profile_free(struct profile *p); /* NULL is accepted */
/* Adds an item without values; `name` and `at` (NULL: unknown) are copied. Returns its index. */
uint32_t profile_add_item(struct profile *p, enum profile_item_kind kind, uint32_t parent, const char *name, const char *at);
/* Sets what follows from the name, the kind and the parent of an item. */
void profile_place_item(struct profile *p, uint32_t item);
/* Sets one value. Values of the metric that are not set are 0. */
void profile_set(struct profile *p, struct profile_values *v, enum profile_metric m, uint32_t sample, double value);
/* The median over the samples; 0 if it was not measured. */
double profile_median(const struct profile *p, const struct profile_values *v, enum profile_metric m);
double profile_mean(const struct profile *p, const struct profile_values *v, enum profile_metric m);
/* The median of an item; and what of it is not its children's, at least 0. */
double profile_value(const struct profile *p, uint32_t item, enum profile_metric m);
double profile_own(const struct profile *p, uint32_t item, enum profile_metric m);
/* True for the statements and kernels of a run. */
static inline bool profile_is_code(const struct profile_item *i) { return i->kind == ITEM_STATEMENT || i->kind == ITEM_KERNEL; }
/* True if an item reads and writes so much that files take its time, which depends on the state of the system. */
bool profile_is_of_files(const struct profile *p, const struct profile_values *v);
/* The share of the machine that other processes used meanwhile; -1: unknown. */
double profile_others_share(const struct profile *p);
/* Copy their arguments, and replace an earlier one of the same name. */
void profile_add_setting(struct profile *p, const char *name, const char *text);
void profile_add_fact(struct profile *p, const char *name, double value);
/* NULL, or `otherwise`: it is absent. */
const char *profile_setting(const struct profile *p, const char *name);
double profile_fact(const struct profile *p, const char *name, double otherwise);
/* Returns the item's name after those of its parents, as in "codegen/emit". Only for texts, because its length grows with the depth: items
 * are compared by their keys. Allocated in `a`. */
const char *profile_item_path(struct arena *a, const struct profile *p, uint32_t item);

/* Returns the outermost parent of an item, or the item. */
const struct profile_item *profile_item_root(const struct profile *p, uint32_t item);

/* Appends the samples of `more`. Items are matched by their keys; an item that one of them lacks gets zeros there. The rest is that
 * of `to`. */
void profile_append(struct profile *to, const struct profile *more);

/* Appends the JSON text. */
void profile_print(const struct profile *p, struct buf *out);
/* Replaces the file. False: errno says why. */
bool profile_write(const struct profile *p, const char *path);
/* Reads a JSON text. NULL: *error is a sentence without the file's name, and says what to do. */
struct profile *profile_parse(const char *text, size_t len, struct buf *error);
/* Reads a file, or the standard input if the path is "-". NULL: *error names it. */
struct profile *profile_read(const char *path, struct buf *error);

/* Texts are allocated in `a`. The id is a digest of the CPU's model, the number of CPUs that the process may use, and the kernel's
 * machine type: not of the host's name, so that runners of one kind are equal. */
struct profile_machine machine_describe(struct arena *a);
#endif
