/* Private to this folder: XXH3 of long inputs with the vectors of this machine. The values are those of hash.c. */
#ifndef TRIB_BASE_HASH_WIDE_H
#define TRIB_BASE_HASH_WIDE_H
#include <stdbool.h>
#include <stddef.h>
#include "base/hash.h"

#if defined(__x86_64__)
#define HASH_WIDE 1
hash128 hash_bytes_avx2(const void *p, size_t n);
hash128 hash_bytes_avx512(const void *p, size_t n);
/* `state`: a XXH3_state_t. */
void hash_update_avx2(void *state, const void *p, size_t n);
void hash_update_avx512(void *state, const void *p, size_t n);
#endif
#endif
