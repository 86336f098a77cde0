#include "builder/store/serializer.h"
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"

struct serializer serializer_to(struct buf *out) { return (struct serializer){.out = out, .ok = true}; }

struct serializer serializer_from(struct arena *a, const void *bytes, size_t n)
{
	return (struct serializer){.at = bytes, .left = bytes ? n : 0, .arena = a, .ok = bytes != NULL};
}

static void serializer_fail(struct serializer *s)
{
	s->ok = false;
	s->left = 0;
}

static void serializer_serialize_bytes(struct serializer *s, void *v, size_t n)
{
	if (s->out) {
		buf_put(s->out, v, n);
	} else if (n <= s->left) {
		memcpy(v, s->at, n);
		s->at += n;
		s->left -= n;
	} else {
		serializer_fail(s);
		memset(v, 0, n);
	}
}

void serialize_u8(struct serializer *s, uint8_t *v) { serializer_serialize_bytes(s, v, sizeof *v); }
void serialize_u32(struct serializer *s, uint32_t *v) { serializer_serialize_bytes(s, v, sizeof *v); }
void serialize_u64(struct serializer *s, uint64_t *v) { serializer_serialize_bytes(s, v, sizeof *v); }

void serialize_hash(struct serializer *s, hash128 *v)
{
	serialize_u64(s, &v->lo);
	serialize_u64(s, &v->hi);
}

void serialize_stamp(struct serializer *s, struct file_stamp *stamp)
{
	serialize_u64(s, &stamp->size);
	serialize_u64(s, &stamp->mtime_ns);
	serialize_u64(s, &stamp->ctime_ns);
	serialize_u64(s, &stamp->inode);
}

void serialize_enum(struct serializer *s, unsigned *v, unsigned count)
{
	uint8_t byte = (uint8_t)*v;

	serialize_u8(s, &byte);
	if (byte >= count)
		serializer_fail(s);
	if (!s->out)
		*v = s->ok ? byte : 0;
}

void serialize_bool(struct serializer *s, bool *v)
{
	unsigned number = *v;

	serialize_enum(s, &number, 2);
	if (!s->out)
		*v = number;
}

void serialize_str(struct serializer *s, const char **v)
{
	uint32_t n = s->out ? (uint32_t)strlen(*v) : 0;

	serialize_u32(s, &n);
	if (s->out) {
		buf_put(s->out, *v, (size_t)n + 1);
	} else if (s->ok && n < s->left && memchr(s->at, 0, (size_t)n + 1) == s->at + n) {
		*v = s->at;
		s->at += (size_t)n + 1;
		s->left -= (size_t)n + 1;
	} else {
		serializer_fail(s);
		*v = "";
	}
}

void serialize_array(struct serializer *s, void *at, uint32_t *n, size_t size)
{
	uint32_t count = s->out ? *n : 0;
	void *elements;

	serialize_u32(s, &count);
	if (s->out)
		return;
	if (count > s->left) { /* no element takes less than a byte */
		serializer_fail(s);
		count = 0;
	}
	elements = arena_alloc(s->arena, ((size_t)count + 1) * size, _Alignof(max_align_t));
	memcpy(at, &elements, sizeof elements);
	*n = count;
}

void serialize_magic(struct serializer *s, uint32_t magic)
{
	uint32_t v = magic;

	serialize_u32(s, &v);
	if (v != magic)
		serializer_fail(s);
}
