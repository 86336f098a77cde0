/* OpenCL C 1.2 for processors: a work item executes a chunk with vectors; 16-bit floats are loaded as their bits. The helpers are those of
 * gpu/templates/lanes.cl. */
#include "backend/text/dialect.h"
#include "backend/text/opencl_types.h"

static const struct dialect_vectors opencl_wide_vectors = {
	.type = "%s%u",
	.splat = "(%s)(%s)",
	.steps = "(%s)(TRI_STEPS_%u)",
	.load = "*(%stri_%s *)(%s)",
	.store = "*(%stri_%s *)(%s) = %s;\n",
	.strided = "(%s)(TRI_STRIDED_%u(%s, %s))",
	.indexed = "(%s)(TRI_INDEXED_%u(%s, %s, %s, %s))",
	.store_strided = "TRI_SCATTER_%u(%s, %s, %s);\n",
	.convert = "convert_%s(%s)",
	.name = "%s_%u",
	.fma = "fma(%s, %s, %s)",
	.epilogue = "#undef TRI_STORE16\n#define TRI_STORE16(batch, row, column, value) ",
	.epilogue_lanes = 16,
};

const struct dialect dialect_opencl_wide = {
	.launch = LAUNCH_CHUNKS,
	.values = OPENCL_TYPES("float", "float"),
	.memory = OPENCL_TYPES("ushort", "ushort"),
	.kernel = "kernel ",
	.function = "static ",
	.global = "global ",
	.local = "private ",
	.shared = "private ",
	.constant = "constant ",
	.baked = "constant ",
	.aligned = "",
	.read_only = "",
	.buffer = "global uchar *p%u, ulong o%u",
	.buffer_argument = "p%u, o%u",
	.address = "p%u + o%u",
	.frame = "private uchar frame[%lld] __attribute__((aligned(64)))",
	.fail = "global long *fail",
	.item = "(long)get_global_id(0)",
	.long_suffix = "L",
	.place_suffix = "ul",
	.nan = {"nan(0U)", "nan(0UL)"},
	.float_suffix = "",
	.clamp = "clamp",
	.load_half = "TRI_LOAD_F16(%s, %s)",
	.load_baked_half = "TRI_LOAD_F16(%s, %s)",
	.store_half = "TRI_STORE_F16(v%u, %s, b%u);\n",
	.bake_limit = 1024,
	.vectors = &opencl_wide_vectors,
};
