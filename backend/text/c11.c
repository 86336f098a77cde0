/* C11 without extensions; 16-bit floats are stored as their bits. */
#include "backend/text/dialect.h"

#define C_VALUES(float16, bfloat16)                                                                        \
	{[DT_BOOL] = "uint8_t",    [DT_TRIT] = "int8_t",   [DT_INT8] = "int8_t",   [DT_INT16] = "int16_t", \
	 [DT_INT32] = "int32_t",   [DT_INT64] = "int64_t", [DT_UINT8] = "uint8_t", [DT_FLOAT16] = float16, \
	 [DT_BFLOAT16] = bfloat16, [DT_FLOAT32] = "float", [DT_FLOAT64] = "double"}

const struct dialect dialect_c11 = {
	.launch = LAUNCH_LOOPS,
	.values = C_VALUES("float", "float"),
	.memory = C_VALUES("uint16_t", "uint16_t"),
	.kernel = "static ",
	.function = "static ",
	.global = "",
	.local = "",
	.shared = "",
	.constant = "const ",
	.baked = "static const ",
	.aligned = "",
	.read_only = "const ",
	.buffer = "void *p%u",
	.buffer_argument = "p%u",
	.address = "p%u",
	.frame = "unsigned char *frame",
	.fail = "struct tri_run *fail",
	.long_suffix = "LL",
	.place_suffix = "u",
	.nan = {"NAN", "(double)NAN"},
	.float_suffix = "f",
	.clamp = "tri_clamp",
	.unused = "(void)%c%u;\n",
	.load_half = "tri_load_f16(%s, %s)",
	.load_baked_half = "tri_load_f16(%s, %s)",
	.store_half = "tri_store_f16(v%u, %s, b%u);\n",
	.bake_limit = INT64_MAX,
	.bakes_infinity = true,
};
