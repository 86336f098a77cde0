/* XXH3 with the vectors of AVX2: CMakeLists.txt has the flags. */
#include "base/hash_wide.h"
#ifdef HASH_WIDE
#define XXH_INLINE_ALL
#define XXH_VECTOR XXH_AVX2
#include <xxhash.h>

hash128 hash_bytes_avx2(const void *p, size_t n)
{
	XXH128_hash_t h = XXH3_128bits(p, n);
	return (hash128){h.low64, h.high64};
}

void hash_update_avx2(void *state, const void *p, size_t n) { XXH3_128bits_update(state, p, n); }
#endif
