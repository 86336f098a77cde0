/* C interface of libtrib.so: opening a model of a project that was not built. Link with -ltrib; the model then is used through its descriptor (tri.h). */
#ifndef TRI_LAZY_OPEN_H
#define TRI_LAZY_OPEN_H
#include "tri.h"
#ifdef __cplusplus
extern "C" {
#endif

/* `model` is yours until tri_close_lazy; `desc` describes it and has the function that runs it. */
typedef struct tri_lazy_model {
	const tri_model_desc *desc;
	struct tri_model *model;
} tri_lazy_model;

/* Checks and plans model `name` of the project in `folder`, but compiles nothing: each unit is compiled when it is first called, or taken
 * from the user's cache. Opened again, a project of which nothing changed is not even read. opt and err may be NULL. Any number of threads may call it; one
 * opened model is used by one thread at a time. NULL: *err says why; of what the compiler reports, the first error. */
tri_lazy_model *tri_open_lazy(const char *folder, const char *name, const tri_options *opt, tri_error *err);
/* Closes the model and unloads its library. NULL is accepted. */
void tri_close_lazy(tri_lazy_model *m);

#ifdef __cplusplus
}
#endif
#endif
