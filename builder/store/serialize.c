#include "builder/store/serialize.h"
#include <string.h>
#include "base/buf.h"

void serialize_str(struct buf *b, const char *s)
{
	uint32_t n = (uint32_t)strlen(s);
	buf_u32(b, n);
	buf_put(b, s, n + 1);
}

void serialize_hash(struct buf *b, hash128 h)
{
	buf_u64(b, h.lo);
	buf_u64(b, h.hi);
}

void serialize_stamp(struct buf *b, const struct file_stamp *s)
{
	buf_u64(b, s->size);
	buf_u64(b, s->mtime_ns);
	buf_u64(b, s->ctime_ns);
	buf_u64(b, s->inode);
}

static void take(struct deserializer *w, void *out, size_t n)
{
	if (n > w->left) {
		w->ok = false;
		w->left = 0;
		memset(out, 0, n);
		return;
	}
	memcpy(out, w->at, n);
	w->at += n;
	w->left -= n;
}

uint8_t deserialize_u8(struct deserializer *w)
{
	uint8_t v;
	take(w, &v, sizeof v);
	return v;
}

uint32_t deserialize_u32(struct deserializer *w)
{
	uint32_t v;
	take(w, &v, sizeof v);
	return v;
}

uint64_t deserialize_u64(struct deserializer *w)
{
	uint64_t v;
	take(w, &v, sizeof v);
	return v;
}

hash128 deserialize_hash(struct deserializer *w)
{
	hash128 h;
	h.lo = deserialize_u64(w);
	h.hi = deserialize_u64(w);
	return h;
}

struct file_stamp deserialize_stamp(struct deserializer *w)
{
	struct file_stamp s;
	s.size = deserialize_u64(w);
	s.mtime_ns = deserialize_u64(w);
	s.ctime_ns = deserialize_u64(w);
	s.inode = deserialize_u64(w);
	return s;
}

const char *deserialize_str(struct deserializer *w)
{
	size_t n = deserialize_u32(w);
	const char *s = w->at;
	if (!w->ok || n >= w->left || memchr(s, 0, n + 1) != s + n) {
		w->ok = false;
		return "";
	}
	w->at += n + 1;
	w->left -= n + 1;
	return s;
}

uint32_t deserialize_count(struct deserializer *w, size_t each)
{
	uint32_t n = deserialize_u32(w);
	if (n <= w->left / each)
		return n;
	w->ok = false;
	return 0;
}
