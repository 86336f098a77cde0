/* An engine runs models: on the processor (processor.c), or on an OpenCL device (gpu/runtime/opencl_engine.c). tri_model_desc.engine points to one.
 * model.c has the code that both share. */
#ifndef TRI_ENGINE_H
#define TRI_ENGINE_H
#include "backend/runtime/claim.h"
#include "backend/runtime/context.h"
#include "backend/runtime/model.h"
#include "backend/runtime/profile/collect.h"
#include "backend/runtime/states.h"

enum { TRI_MAX_DIMS = 64 };

/* The part of an opened model that all engines have: the first member of theirs. */
struct tri_model {
	tri_claim claim;
	const tri_model_desc *desc;
	struct tri_states *states;           /* NULL: none */
	const struct tri_state_space *space; /* where the engine wants them; NULL: in the memory of the process */
	struct tri_async *async;             /* NULL: no asynchronous run so far */
	tri_device device;                   /* the engine sets the name when it is opened */
	bool is_unsuitable;                  /* it was not opened, because no device here can run the model */
	tri_error why;                       /* text of device.why */
	struct tri_collector *collector;     /* NULL: built without `profile = true`, nothing is measured */
	int64_t dims[TRI_MAX_DIMS];          /* of the entry that runs */
	/* For profiles: of the engine, and of its latest run. */
	uint32_t threads;
	uint64_t scratch_bytes;
	const struct tri_profile_clock *clock; /* NULL: the device measured */
};

struct tri_engine {
	/* Returns the memory of a model, zeroed. NULL: out of memory. */
	struct tri_model *(*allocate)(const tri_model_desc *desc);
	/* Opens the engine of m, whose desc and collector are set. Returns TRI_OK or the error; the caller closes it either way. */
	int (*open)(struct tri_model *m, const tri_options *opt, tri_error *err);
	/* Runs entry `number`. `e` and `io` have its states among the inputs and outputs. Returns TRI_OK or the error. */
	int (*run)(struct tri_model *m, uint32_t number, const tri_entry_desc *e, const tri_tensor *io, tri_error *err);
	/* Frees the memory, whatever was opened. */
	void (*close)(struct tri_model *m);
};
extern const struct tri_engine tri_processor, tri_opencl;

/* tri_options.device without the name of the library's back end, "opencl:"; NULL: none is named. */
const char *tri_wanted_device(const tri_model_desc *desc, const tri_options *opt);
#endif
