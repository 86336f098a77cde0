/* The runtime of the generated libraries (backend/runtime), compiled when trib was built and carried inside it as relocatable objects. */
#ifndef TRIB_BACKEND_LINK_RUNTIME_OBJECTS_H
#define TRIB_BACKEND_LINK_RUNTIME_OBJECTS_H
#include <stddef.h>
#include <stdint.h>

/* Processors the micro-kernels are built for. RUNTIME_VNNI needs x86-64-v4 and avx512vnni: x86-64-v4 alone takes RUNTIME_V3. */
enum runtime_level { RUNTIME_BASE, RUNTIME_V3, RUNTIME_VNNI, RUNTIME_LEVELS };

/* Objects of one level; link all of them, what is not used is left out. */
uint32_t runtime_object_count(void);
/* Bytes of object i, valid for ever; NULL if this build of trib has no such level. */
const void *runtime_object(enum runtime_level level, uint32_t i, size_t *len);
const char *runtime_object_name(uint32_t i); /* "pool" … */
/* Text of runtime/tri.h, NUL-terminated. */
const char *runtime_header(void);
/* Text of runtime/tri_live.h, to stand behind it. */
const char *runtime_live_header(void);

/* Private: made by backend/runtime/CMakeLists.txt. */
struct runtime_blob {
	const char *name;
	const unsigned char *start, *end;
};
extern const struct runtime_blob runtime_blobs[]; /* of level 0, then 1 … */
extern const uint32_t runtime_blobs_per_level, runtime_blob_levels;
extern const char runtime_tri_text[], runtime_tri_live_text[];
#endif
