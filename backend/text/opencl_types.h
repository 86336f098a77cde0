/* The names of element types in OpenCL C and CUDA C++. Arguments: the names of the 16-bit floats. */
#ifndef TRIB_BACKEND_TEXT_OPENCL_TYPES_H
#define TRIB_BACKEND_TEXT_OPENCL_TYPES_H
#define OPENCL_TYPES(float16, bfloat16)                                                                    \
	{[DT_BOOL] = "uchar",      [DT_TRIT] = "char",     [DT_INT8] = "char",     [DT_INT16] = "short",   \
	 [DT_INT32] = "int",       [DT_INT64] = "long",    [DT_UINT8] = "uchar",   [DT_FLOAT16] = float16, \
	 [DT_BFLOAT16] = bfloat16, [DT_FLOAT32] = "float", [DT_FLOAT64] = "double"}
#endif
