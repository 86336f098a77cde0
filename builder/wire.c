#include "builder/wire.h"
#include <string.h>
#include "base/buf.h"

void wire_put_str(struct buf *b, const char *s)
{
	uint32_t n = (uint32_t)strlen(s);
	buf_u32(b, n);
	buf_put(b, s, n + 1);
}

void wire_put_hash(struct buf *b, hash128 h)
{
	buf_u64(b, h.lo);
	buf_u64(b, h.hi);
}

void wire_put_stamp(struct buf *b, const struct file_stamp *s)
{
	buf_u64(b, s->size);
	buf_u64(b, s->mtime_ns);
	buf_u64(b, s->ctime_ns);
	buf_u64(b, s->inode);
}

static void take(struct wire *w, void *out, size_t n)
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

uint8_t wire_u8(struct wire *w)
{
	uint8_t v;
	take(w, &v, sizeof v);
	return v;
}

uint32_t wire_u32(struct wire *w)
{
	uint32_t v;
	take(w, &v, sizeof v);
	return v;
}

uint64_t wire_u64(struct wire *w)
{
	uint64_t v;
	take(w, &v, sizeof v);
	return v;
}

hash128 wire_hash(struct wire *w)
{
	hash128 h;
	h.lo = wire_u64(w);
	h.hi = wire_u64(w);
	return h;
}

struct file_stamp wire_stamp(struct wire *w)
{
	struct file_stamp s;
	s.size = wire_u64(w);
	s.mtime_ns = wire_u64(w);
	s.ctime_ns = wire_u64(w);
	s.inode = wire_u64(w);
	return s;
}

const char *wire_str(struct wire *w)
{
	size_t n = wire_u32(w);
	const char *s = w->at;
	if (!w->ok || n >= w->left || memchr(s, 0, n + 1) != s + n) {
		w->ok = false;
		return "";
	}
	w->at += n + 1;
	w->left -= n + 1;
	return s;
}

uint32_t wire_count(struct wire *w, size_t each)
{
	uint32_t n = wire_u32(w);
	if (n <= w->left / each)
		return n;
	w->ok = false;
	return 0;
}
