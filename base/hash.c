#include "base/hash.h"
#define XXH_INLINE_ALL /* inlined, because most inputs are short */
#include <xxhash.h>
#include <string.h>
#include "base/bug.h"
#include "base/hash_wide.h"

struct hasher {
	XXH3_state_t state;
};

static hash128 from_xxh(XXH128_hash_t h) { return (hash128){h.low64, h.high64}; }

#ifdef HASH_WIDE
enum { LONG = 1024 }; /* bytes for which a call is worth it */

static bool has_avx512(void) { return __builtin_cpu_supports("avx512f"); }
static bool has_avx2(void) { return __builtin_cpu_supports("avx2"); }
#endif

hash128 hash_bytes(const void *p, size_t n)
{
#ifdef HASH_WIDE
	if (n >= LONG && has_avx512())
		return hash_bytes_avx512(p, n);
	if (n >= LONG && has_avx2())
		return hash_bytes_avx2(p, n);
#endif
	return from_xxh(XXH3_128bits(p, n));
}

uint64_t hash64_bytes(const void *p, size_t n) { return XXH3_64bits(p, n); }

static void put_le64(unsigned char *out, uint64_t v)
{
	for (int i = 0; i < 8; i++)
		out[i] = (unsigned char)(v >> (8 * i));
}

static void hash_put(unsigned char out[16], hash128 h)
{
	put_le64(out, h.lo);
	put_le64(out + 8, h.hi);
}

hash128 hash_combine(hash128 a, hash128 b)
{
	unsigned char both[32];

	hash_put(both, a);
	hash_put(both + 16, b);
	return hash_bytes(both, sizeof both);
}

struct hasher *hasher_new(void)
{
	/* The state needs an alignment of 64 bytes. */
	struct hasher *h = aligned_alloc(64, (sizeof *h + 63) & ~(size_t)63);

	if (!h)
		bug_no_memory();
	XXH3_INITSTATE(&h->state);
	XXH3_128bits_reset(&h->state);
	return h;
}

void hasher_add(struct hasher *h, const void *p, size_t n)
{
#ifdef HASH_WIDE
	if (n >= LONG && has_avx512()) {
		hash_update_avx512(&h->state, p, n);
		return;
	}
	if (n >= LONG && has_avx2()) {
		hash_update_avx2(&h->state, p, n);
		return;
	}
#endif
	if (n)
		XXH3_128bits_update(&h->state, p, n);
}

void hasher_add_u64(struct hasher *h, uint64_t v)
{
	unsigned char le[8];

	put_le64(le, v);
	hasher_add(h, le, sizeof le);
}

void hasher_add_str(struct hasher *h, const char *s)
{
	size_t n = strlen(s);

	hasher_add_u64(h, n);
	hasher_add(h, s, n);
}

void hasher_add_hash(struct hasher *h, hash128 v)
{
	unsigned char le[16];

	hash_put(le, v);
	hasher_add(h, le, sizeof le);
}

hash128 hasher_finish(struct hasher *h)
{
	hash128 v = from_xxh(XXH3_128bits_digest(&h->state));

	free(h);
	return v;
}

/* Both digests have the same state. */
uint64_t hasher_finish64(struct hasher *h)
{
	uint64_t v = XXH3_64bits_digest(&h->state);

	free(h);
	return v;
}

void hash_hex(hash128 h, char out[33])
{
	static const char digits[] = "0123456789abcdef";

	for (int i = 0; i < 16; i++) {
		out[i] = digits[h.hi >> (60 - 4 * i) & 15];
		out[16 + i] = digits[h.lo >> (60 - 4 * i) & 15];
	}
	out[32] = '\0';
}

static int hash_hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool hash_parse_hex(const char *s, hash128 *out)
{
	uint64_t part[2] = {0, 0};

	for (int i = 0; i < 32; i++) {
		int v = hash_hex_value(s[i]); /* the NUL of a short text is not a digit */

		if (v < 0)
			return false;
		part[i / 16] = part[i / 16] << 4 | (uint64_t)v;
	}
	if (s[32] != '\0')
		return false;
	*out = (hash128){.lo = part[1], .hi = part[0]};
	return true;
}
