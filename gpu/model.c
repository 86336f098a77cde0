/* Builds the object of an OpenCL model: its launches, and the descriptor of all models. */
#include "backend/link/model_desc.h"
#include "backend/link/object.h"
#include "base/arena.h"
#include "gpu/launch_data.h"
#include "gpu/opencl.h"

struct object *opencl_model_object(struct arena *a, const struct model_input *in, const struct model_weights *w,
				   const struct model_info *info, const struct loop_fn *const *units)
{
	struct object *o = object_new(a, "opencl model");
	uint32_t *codes = ARENA_ARRAY(a, uint32_t, in->program->n_entries + 1);
	launch_data_add(o, in, w, units, codes);
	model_describe(o, in, info, &(struct model_backend){"opencl", codes});
	return o;
}
