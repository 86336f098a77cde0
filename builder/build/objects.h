/* The objects that a model's library is linked from. */
#ifndef TRIB_BUILDER_BUILD_OBJECTS_H
#define TRIB_BUILDER_BUILD_OBJECTS_H
#include <stdbool.h>
#include <stdint.h>

struct fragments;
struct model_job;
struct object;

enum { MOST_OPENCL_OBJECTS = 16 };
struct object_list {
	struct object **at; /* the model's own first; room for all */
	uint32_t n;
};

/* The units in the program's order, then the runtime. On a worker. False: reported. */
bool objects_add_cpu(struct model_job *m, struct object_list *l);
bool objects_add_opencl(struct model_job *m, struct object_list *l);
/* Leaves the runtime's objects to the session's next build. */
void objects_retain_runtime(struct fragments *f, const struct model_job *m);
#endif
