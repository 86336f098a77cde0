/* Whether cold builds keep to the targets of their class of models. */
#ifndef TRIB_BUILDER_PROFILE_TARGETS_H
#define TRIB_BUILDER_PROFILE_TARGETS_H
#include <stdbool.h>
#include "base/vec.h"
#include "builder/profile/scaling.h"

struct arena;
struct buf;
struct report_options;

enum target_class {
#define TARGET(id, ...) TARGET_##id,
#include "builder/profile/targets.def"
	TARGET_CLASSES
};
struct target {
	const char *name;
	double most_parameters, most_layers;      /* of its models */
	double wall_ns, private_dirty_bytes;      /* of a build */
	const char *model, *entry, *sources_file; /* of its network in examples/zoo */
};
extern const struct target targets[TARGET_CLASSES];

/* True if it is the name of a class. */
bool target_class_parse(const char *text, enum target_class *out);
enum target_class target_class_of(const struct scaling_model *model);

struct target_row {
	struct scaling_model model; /* measured */
	bool is_generated;          /* the network of its class; false: a model of the project */
};
struct target_rows {
	struct arena *arena;
	uint32_t samples; /* the most of one row */
	VEC(struct target_row) list;
};
/* The fastest build counts: other processes only make a build slower. */
bool target_time_holds(const struct target_row *r);
/* Of private dirty memory; of resident memory if the system does not tell it. */
bool target_memory_holds(const struct target_row *r);
bool targets_hold(const struct target_rows *t);
/* Appends a row for each model, with PASS or FAIL. */
void report_targets(const struct target_rows *t, const struct report_options *options, struct buf *out);
#endif
