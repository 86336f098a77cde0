/* C interface of a library that trib built; part of every generated header. There is no global state. A model may be opened several
 * times; one thread at a time may use an opened model. A run during another run returns TRI_ERR_BUSY. A model that is closed during a
 * run is freed at its end. */
#ifndef TRI_ABI
#define TRI_ABI 9
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#ifndef TRI_TENSOR /* the headers of C sources have this part, too */
#define TRI_TENSOR
#define TRI_MAX_RANK 8

enum tri_dtype {
	TRI_BOOL = 0,
	TRI_TRIT = 1,
	TRI_INT8 = 2,
	TRI_INT16 = 3,
	TRI_INT32 = 4,
	TRI_INT64 = 5,
	TRI_FLOAT16 = 6,
	TRI_BFLOAT16 = 7,
	TRI_FLOAT32 = 8,
	TRI_FLOAT64 = 9,
	TRI_UINT8 = 10
};

/* A dense row-major tensor in the caller's memory. A trit is an int8 of -1, 0 or 1. */
typedef struct tri_tensor {
	void *data;
	int64_t shape[TRI_MAX_RANK];
	int32_t rank;
	int32_t dtype; /* enum tri_dtype */
} tri_tensor;

enum tri_code {
	TRI_OK,
	TRI_ERR_ARGUMENT,
	TRI_ERR_SHAPE,
	TRI_ERR_DTYPE,
	TRI_ERR_MEMORY,
	TRI_ERR_DEVICE,
	TRI_ERR_RANGE,
	TRI_ERR_WEIGHTS,
	TRI_ERR_ASSERT,
	TRI_ERR_COMPILE,
	TRI_ERR_BUSY,    /* another thread is running the same opened model; the call did nothing */
	TRI_ERR_CAPACITY /* a state has no room; the call did nothing */
};
typedef struct tri_error {
	int32_t code; /* enum tri_code */
	char message[252];
} tri_error;

/* The most rows of the states with one capacity: T of `cap T` in the sources. */
typedef struct tri_capacity {
	const char *name;
	int64_t most;
} tri_capacity;

#endif /* TRI_TENSOR */

/* How a kernel was launched on an OpenCL device, as its driver tells. On the CPU zeros. */
typedef struct tri_launch {
	uint64_t work_items;
	uint32_t work_group;                 /* work items of a group */
	uint32_t most_work_group, multiple;  /* the largest group and the preferred multiple for this kernel */
	uint32_t compute_units;              /* of the device */
	uint64_t local_bytes, private_bytes; /* local memory of a group, and private memory of a work item */
	double occupancy;                    /* an upper bound, 0 to 1: the work items in flight by those that the device can hold */
} tri_launch;

/* A statement of a unit that has ended. The statements of the units that it called were reported before it, and are part of its time. */
typedef struct tri_profile_event {
	uint32_t size;                    /* sizeof(tri_profile_event): later versions add members */
	uint32_t statement;               /* in tri_model_desc.statements, if the unit has them */
	const struct tri_unit_desc *unit; /* in tri_model_desc.units */
	int64_t start_ns, ns;             /* CLOCK_MONOTONIC, less the time of the reports of this run; and how long it took */
	int64_t cpu_ns;                   /* the sum of the times that threads worked on it meanwhile; on an OpenCL device 0 */
	/* What it must move to and from memory, and the operations of the network that it computes; 0 for calls of units. */
	int64_t bytes, operations;
	int64_t memory;    /* bytes of the unit's intermediate tensors meanwhile, without those of its callers */
	tri_launch launch; /* of a kernel; of calls of units zeros */
} tri_profile_event;

/* What a statement cost in all runs: NAME_profile. Texts are those of the library. */
typedef struct tri_profile_entry {
	const char *code;      /* "loop", "if", "while", or the symbol of the kernel or unit that it calls: "tri_conv_f32" */
	const char *operation; /* the first of its operations: "conv2d"; "" if it has none */
	const char *
		layer; /* the layer of that operation, as named in the layer of its unit: "layer1.0.conv1". The layers of an entry and of its callers,
				  joined, are the instance path */
	const char *file; /* "src/net.tri"; "": unknown */
	uint32_t line;
	uint32_t parent;    /* the entry of the call in which it is, an index before its own; TRI_NONE: the model calls it itself */
	uint32_t statement; /* in tri_model_desc.statements */
	uint32_t id;        /* the number that the entry has in all results of an opened model until they are reset */
	uint64_t calls;
	int64_t wall_ns;           /* with the statements of the units that it calls */
	int64_t cpu_ns;            /* as in tri_profile_event: cpu_ns / wall_ns threads were busy */
	int64_t bytes, operations; /* as in tri_profile_event; 0 for calls of units */
	int64_t memory;            /* the most bytes of intermediate tensors meanwhile, with those of its callers */
	tri_launch launch;         /* the last one */
} tri_profile_entry;
typedef struct tri_profile {
	uint32_t size; /* sizeof(tri_profile): later versions add members */
	uint32_t n_entries;
	const tri_profile_entry *entries; /* in the order of the first run */
	uint64_t runs;                    /* that succeeded */
	int64_t wall_ns, cpu_ns;          /* of these runs as wholes, without the reports */
	uint64_t memory_bytes;            /* of the intermediate tensors: the most so far */
	uint32_t threads;                 /* that the model may use */
	uint32_t pad;
	int64_t clock_ns; /* what reading the clock costs: it is taken from all times. 0: a device measured them */
	/* Inputs that were copied to an OpenCL device, and outputs from it: the time of the device, and bytes. On the CPU 0. */
	int64_t to_device_ns, from_device_ns;
	uint64_t to_device_bytes, from_device_bytes;
} tri_profile;

typedef struct tri_options {
	uint32_t size;    /* sizeof(tri_options): later versions add members */
	uint32_t threads; /* 0: one for each CPU */
	/* OpenCL libraries: "0", "1" … as `trib devices` lists them, or a part of the name of only one, maybe behind "opencl:". NULL or "opencl": the first.
	 * "cpu": the fallback. It is used, too, where none is named and no device can run the model */
	const char *device;
	const char *weights; /* path of the .triw file; NULL: beside the library */
	/* Called on the thread that runs the model after each statement, if the model was built with `profile = true`; else never. May be NULL. It must
	 * not run or close the model. */
	void (*profile)(void *user, const tri_profile_event *event);
	void *profile_user;
	const tri_capacity *capacities; /* instead of those of the manifest */
	uint32_t n_capacities;
	uint32_t no_profile; /* 1: measures nothing, although the model was built with `profile = true` */
	uint32_t
		verify; /* 1: reads the whole .triw file, and compares it with its digests, also if only a fallback needs it, which does not run.
				Without that, damage may change numbers */
	/* OpenCL libraries: a run that takes the device longer than so many milliseconds fails, and so do all later calls with the opened model, whose
	 * memory is not freed, since the device may still use it. Tensors are copied once more. 0: no limit */
	uint32_t timeout_ms;
	/* The same for opening a model, with the programs that the driver must build. What the driver does then goes on in a thread of its own. */
	uint32_t open_timeout_ms;
	uint32_t no_print; /* 1: the `print` of the model does nothing */
} tri_options;

/* A dimension as a postfix program over the dynamic dimensions of its entry. */
enum tri_dim_op { TRI_DIM_CONST, TRI_DIM_SYM, TRI_DIM_ADD, TRI_DIM_MUL, TRI_DIM_FLOORDIV, TRI_DIM_MOD };
typedef struct tri_dim_step {
	int32_t op;
	int32_t pad;
	int64_t value;
} tri_dim_step;
typedef struct tri_dim_desc {
	const tri_dim_step *steps;
	int32_t n_steps; /* a constant has one TRI_DIM_CONST step */
	int32_t pad;
} tri_dim_desc;

typedef struct tri_io_desc {
	const char *name;
	int32_t dtype, rank;
	tri_dim_desc dims[TRI_MAX_RANK];
} tri_io_desc;

/* Memory that an opened model keeps between runs. */
typedef struct tri_state_desc {
	const char *name; /* "layers.0.attn.k" */
	int32_t dtype, rank;
	int64_t shape[TRI_MAX_RANK]; /* 0 for the dimension that grows */
	int32_t axis;                /* the dimension that grows, or -1 */
	int32_t capacity;            /* of that dimension: index in tri_model_desc.capacities, or -1 */
	const void *initial;         /* NULL: zeros */
} tri_state_desc;

struct tri_model;
typedef struct tri_entry_desc {
	const char *name;
	const tri_io_desc *inputs, *outputs;
	int32_t n_inputs, n_outputs;
	const char *const *dim_names; /* of the dynamic dimensions */
	int32_t n_dims;
	int32_t pad;
	const void *code; /* private to the library */
	/* The states that it reads or changes, and those that it changes: indices in tri_model_desc.states. Their types follow those of the
	 * inputs and of the outputs. */
	const uint32_t *states_in, *states_out;
	int32_t n_states_in, n_states_out;
	const uint32_t *
		states_grow; /* for each of states_out 1 if its new value is the old one and further rows, in the same memory. NULL: none */
} tri_entry_desc;

/* Where code comes from in the sources. Texts are offsets in tri_model_desc.texts. */
#define TRI_NONE UINT32_MAX
typedef struct tri_origin {
	uint32_t file, line, column;
	uint32_t operation;  /* "conv2d" */
	uint32_t layer;      /* the layer, as its parameters are named in the unit's layer: "layer1.0.conv1"; "" for that layer itself */
	uint32_t inlined_at; /* its function was inlined: the call, an index in tri_model_desc.origins; else TRI_NONE */
} tri_origin;
/* What a statement is: code of its unit, such as a loop; a call of a kernel; a call of a unit. */
enum tri_statement_kind { TRI_STATEMENT_CODE, TRI_STATEMENT_KERNEL, TRI_STATEMENT_UNIT };
/* What bounds its speed: arithmetic of floats, dot products of int8, or memory, because it computes nothing. */
enum tri_ceiling { TRI_CEILING_FLOAT, TRI_CEILING_INT8, TRI_CEILING_MEMORY };
/* The compiler may have made it of several operations. */
typedef struct tri_statement {
	uint32_t name;                    /* "loop", "if", "while", "print", "assert", or the symbol of what it calls */
	uint32_t first_origin, n_origins; /* in tri_model_desc.members; the main one first */
	uint8_t kind, ceiling;            /* enum tri_statement_kind, enum tri_ceiling */
	uint16_t pad;
} tri_statement;
typedef struct tri_unit_desc {
	const char *name, *key;                 /* key: 32 hex digits */
	uint32_t first_statement, n_statements; /* in tri_model_desc.statements; none if the unit was inlined everywhere */
	uint32_t origin;                        /* its definition, or TRI_NONE */
	uint32_t tag;                           /* of its symbol: what its code reports an error with */
} tri_unit_desc;

/* A ternary weight as it is packed. A convolution has input and output channels for rows and columns. */
typedef struct tri_weight_desc {
	const char *name;   /* of the parameter that it is made of; "" if it is made of none */
	const char *layout; /* "trit2", "trit_blocks", "trit2_windows" … */
	const char
		*form; /* "dense"; "blocks": products skip blocks of zeros; "lists": only non-zero trits are stored; "bytes": not packed */
	int32_t rank, pad;
	int64_t shape[TRI_MAX_RANK];
	uint64_t bytes; /* packed */
	uint64_t zeros;
	uint32_t zero_rows, zero_columns;
	uint32_t zero_blocks, blocks; /* of four rows by 32 columns */
	/* Estimated time of products that skip blocks or read lists, as a part of that of dense ones: for one row of activations, and for each of
	 * many. 0: the layout or the weight has none. The costs that this is computed from were measured by `scripts/bench sparsity`. */
	float blocks_one, blocks_many, lists_one, lists_many;
} tri_weight_desc;

/* What an opened model runs on. Valid until it is closed. */
struct tri_model_desc;
typedef struct tri_device {
	const char *name; /* as its driver has it; "cpu": the processor */
	const char *why;  /* why the fallback of an OpenCL library runs; "": it does not */
	const struct tri_model_desc
		*desc; /* of the code that runs, with the units and statements that profiles name: the library's, or its fallback */
} tri_device;

/* Called once at the end of an asynchronous run, on a thread of the opened model, also if the run failed or its device did not end in time. *err: TRI_OK,
 * or its error, until the return. The model is free then: `done` may run it at once, start another run, or close it. Runs of one model follow each
 * other, and so do these calls; those of several models come at the same time. */
typedef void tri_done(void *user, const tri_error *err);

/* Describes a library. It exports its descriptor as NAME_desc and, for loaders that do not know the name, as TRI_DESC_SYMBOL. */
#define TRI_DESC_SYMBOL "tri_desc"
typedef struct tri_model_desc {
	uint32_t abi; /* TRI_ABI */
	uint32_t n_entries, n_units, n_states;
	const char *name, *version, *compiler, *target, *backend; /* backend: "cpu" or "opencl" */
	const char *commit;                                       /* of the model's repository, 40 hex digits; "" if it has none */
	int32_t dirty;                                            /* 1: uncommitted changes when it was built */
	int32_t reserved;
	const tri_entry_desc *entries;
	const tri_unit_desc *units;
	const tri_statement *statements;
	const tri_origin *origins;
	const uint32_t *members; /* indices in `origins` */
	const char *texts;
	struct tri_model *(*open)(const tri_options *opt, tri_error *err);               /* NAME_open, NAME_run and NAME_close */
	int (*run)(struct tri_model *m, uint32_t entry, tri_tensor *io, tri_error *err); /* io: the inputs, then the outputs */
	void (*close)(struct tri_model *m);
	const tri_state_desc *states;
	const tri_capacity *capacities; /* `most` of the manifest; 0: tri_options must set it */
	uint32_t n_capacities;
	uint32_t pad;
	/* Sets all states to their initial values; those that grow become empty. */
	int (*reset)(struct tri_model *m, tri_error *err);
	/* Copies all states to `to`, which has room for *size bytes, and sets *size to their number. `to` NULL: only sets *size. */
	int (*state_save)(struct tri_model *m, void *to, uint64_t *size, tri_error *err);
	/* Sets all states to saved ones. Data that is damaged, or of other states, changes nothing. */
	int (*state_load)(struct tri_model *m, const void *from, uint64_t size, tri_error *err);
	const tri_weight_desc *weights; /* the ternary ones, those that take longest first */
	uint32_t n_weights;
	uint32_t pad_weights;
	/* NAME_profile and NAME_profile_reset; NULL if the model was built without `profile = true`. The result is valid until the next call, run or
	 * close. It cannot be called during a run. NULL: *err says why. */
	const tri_profile *(*profile)(struct tri_model *m, tri_error *err);
	int (*profile_reset)(struct tri_model *m, tri_error *err);
	const void *profiling; /* private to the library */
	/* Starts a run and returns. Unless it returns an error, `done` is called once, and io and its memory must last until then. A close waits until
	 * `done` has returned, unless `done` itself closes the model, or the run has not ended: then that run frees it. */
	int (*run_async)(struct tri_model *m, uint32_t entry, tri_tensor *io, tri_done *done, void *user, tri_error *err);
	const tri_device *(*device)(struct tri_model *m); /* NAME_device */
	const struct tri_model_desc *fallback; /* of an OpenCL library: the same model for the CPU, without functions; NULL: none */
	const void *engine;                    /* private to the library */
} tri_model_desc;

#ifdef __cplusplus
}
#endif
#endif
