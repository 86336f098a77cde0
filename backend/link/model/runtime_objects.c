#include "backend/link/model/runtime_objects.h"

uint32_t runtime_object_count(void) { return runtime_blobs_per_level; }

const void *runtime_object(enum runtime_level level, uint32_t i, size_t *len)
{
	if ((uint32_t)level >= runtime_blob_levels || i >= runtime_blobs_per_level)
		return NULL;
	const struct runtime_blob *b = &runtime_blobs[(uint32_t)level * runtime_blobs_per_level + i];
	*len = (size_t)(b->end - b->start);
	return b->start;
}

const char *runtime_object_name(uint32_t i) { return i < runtime_blobs_per_level ? runtime_blobs[i].name : ""; }
const char *runtime_header(void) { return runtime_tri_text; }
const char *runtime_live_header(void) { return runtime_tri_live_text; }
