/* How the cost of a build grows with the size of a model, with the number of jobs and with the level of optimisation. */
#ifndef TRIB_BUILDER_PROFILE_SCALING_H
#define TRIB_BUILDER_PROFILE_SCALING_H
#include <stdbool.h>
#include "base/vec.h"
#include "builder/profile/statistics.h"

struct arena;
struct buf;
struct report_options;

/* What models are measured by: SIZE(id, name in JSON, title, a step that people think in). */
#define SCALING_SIZES(SIZE)                                       \
	SIZE(PARAMETERS, "parameters", "million parameters", 1e6) \
	SIZE(LAYERS, "layers", "layer", 1) SIZE(LINES, "lines", "1,000 lines", 1e3)
enum scaling_size {
#define SIZE(id, name, title, step) SIZE_##id,
	SCALING_SIZES(SIZE)
#undef SIZE
		SIZE_COUNT
};
/* Medians of cold builds. */
struct scaling_cost {
	double wall_ns, cpu_ns, peak_bytes;
	double least_wall_ns;
	double private_dirty_bytes; /* 0: unknown */
};
struct scaling_model {
	const char *name;
	double size[SIZE_COUNT];
	bool is_measured; /* false: too large, or its weights are missing */
	struct scaling_cost cost;
};
typedef VEC(struct scaling_model) scaling_models;
/* All measured models in one build: "-j2", "-O3". */
struct scaling_setting {
	const char *flag;
	double jobs; /* 0: a level */
	struct scaling_cost cost;
};
struct scaling {
	struct arena *arena;
	uint32_t samples; /* the most of one figure */
	scaling_models models;
	VEC(struct scaling_setting) settings; /* the jobs, then the levels */
};
/* The time, or the memory, of the measured models as a line over a size. False: fewer than three models, or all of one size. */
bool scaling_line(const struct scaling *s, enum scaling_size against, bool memory, struct line *out);
/* Appends tables: models, lines, jobs, levels. */
void report_scaling(const struct scaling *s, const struct report_options *options, struct buf *out);
#endif
