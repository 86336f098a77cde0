#include "backend/text/dialect.h"

#define VALUES(float16, bfloat16)                                                                          \
	{[DT_BOOL] = "uchar",      [DT_TRIT] = "char",     [DT_INT8] = "char",     [DT_INT16] = "short",   \
	 [DT_INT32] = "int",       [DT_INT64] = "long",    [DT_UINT8] = "uchar",   [DT_FLOAT16] = float16, \
	 [DT_BFLOAT16] = bfloat16, [DT_FLOAT32] = "float", [DT_FLOAT64] = "double"}

/* A work item has four neighbours, aligned as a whole. */
static const struct dialect_vectors opencl_c_vectors = {
	.type = "%s%u",
	.splat = "(%s)(%s)",
	.steps = "(%s)(TRI_STEPS_%u)",
	.load = "*(%s%s *)(%s)",
	.store = "*(%s%s *)(%s) = %s;\n",
	.convert = "convert_%s(%s)",
	.name = "%s_%u",
	.epilogue_lanes = 1,
};

const struct dialect dialect_opencl_c = {
	.launch = LAUNCH_ITEMS,
	.values = VALUES("float", "float"),
	.memory = VALUES("half", "ushort"),
	.kernel = "kernel ",
	.group_kernel = "kernel __attribute__((reqd_work_group_size(%u, 1, 1))) ",
	.function = "",
	.global = "global ",
	.local = "local ",
	.constant = "constant ",
	.aligned = " __attribute__((aligned(32)))",
	.read_only = "",
	.buffer = "global uchar *p%u, ulong o%u",
	.buffer_argument = "p%u, o%u",
	.address = "p%u + o%u",
	.frame = "local uchar frame[%lld] __attribute__((aligned(64)))",
	.part = "ulong",
	.fail = "global long *fail",
	.item = "get_global_id(0)",
	.group = "get_group_id(0)",
	.lane = "get_local_id(0)",
	.barrier = "barrier(CLK_LOCAL_MEM_FENCE)",
	.barrier_global = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)",
	.long_suffix = "L",
	.place_suffix = "ul",
	.nan = {"nan(0U)", "nan(0UL)"},
	.float_suffix = "",
	.clamp = "clamp",
	.load_half = "vload_half(%s, %s)",
	.load_baked_half = "vload_half(%s, (constant half *)%s)",
	.store_half = "vstore_half_rte(v%u, %s, b%u);\n",
	.bake_limit = 1024,
	.vectors = &opencl_c_vectors,
};
