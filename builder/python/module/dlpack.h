/* The structs of DLPack 0.x, which NumPy, PyTorch and others exchange tensors with: a capsule "dltensor" holds a DLManagedTensor. */
#ifndef TRIB_PYTHON_DLPACK_H
#define TRIB_PYTHON_DLPACK_H
#include <stdint.h>

#define DL_CAPSULE "dltensor"
enum dl_device { DL_CPU = 1, DL_CUDA_HOST = 3 }; /* the devices whose memory the processor reads */
enum dl_code { DL_INT, DL_UINT, DL_FLOAT, DL_BFLOAT = 4, DL_BOOL = 6 };

typedef struct {
	void *data;
	struct {
		int32_t type, id;
	} device;
	int32_t rank;
	struct {
		uint8_t code, bits;
		uint16_t lanes;
	} dtype;
	int64_t *shape, *strides; /* in elements; strides NULL: row-major */
	uint64_t byte_offset;
} DLTensor;

typedef struct DLManagedTensor {
	DLTensor tensor;
	void *context;
	void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;
#endif
