/* C interface of libtrib.so: opens a model of a project that was not built. Link with -ltrib. Use the model through its descriptor
 * (tri.h). */
#ifndef TRI_LAZY_OPEN_H
#define TRI_LAZY_OPEN_H
#include "tri.h"
#ifdef __cplusplus
extern "C" {
#endif

/* `model` is valid until tri_close_lazy. `desc` describes it and has the function that runs it. */
typedef struct tri_lazy_model {
	const tri_model_desc *desc;
	struct tri_model *model;
} tri_lazy_model;

/* Checks and plans model `name` of the project in `folder`, without compiling. Each unit is compiled at its first call, or loaded from
 * the user's cache. If the project is unchanged, its sources are not read again. opt and err may be NULL. Any thread may call it; one
 * opened model is used by one thread at a time. NULL: *err has the first error. */
tri_lazy_model *tri_open_lazy(const char *folder, const char *name, const tri_options *opt, tri_error *err);
/* Closes the model and unloads its library. NULL is accepted. */
void tri_close_lazy(tri_lazy_model *m);

#ifdef __cplusplus
}
#endif
#endif
