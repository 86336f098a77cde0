/* Recognises files of other formats by their first bytes, for messages. */
#ifndef TRIB_BUILDER_WEIGHTS_FILE_KIND_H
#define TRIB_BUILDER_WEIGHTS_FILE_KIND_H
#include <stddef.h>

enum file_kind {
	FILE_UNKNOWN,
	FILE_EMPTY,
	FILE_PYTORCH,
	FILE_PICKLE,
	FILE_NPZ,
	FILE_NPY,
	FILE_ZIP,
	FILE_GZIP,
	FILE_HDF5,
	FILE_GGUF,
	FILE_LFS,
	FILE_HTML,
	FILE_INDEX,
	FILE_JSON
};

/* The format of a file with these bytes. Safetensors files are FILE_UNKNOWN. */
enum file_kind file_kind_of(const void *bytes, size_t len);
/* "a PyTorch file (torch.save)". */
const char *file_kind_text(enum file_kind kind);
#endif
