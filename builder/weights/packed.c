/* A small blob is in memory until all are written, because many are equal: the constants of normalisations. Large blobs go to the file at
 * once, at the offsets of the layout. The layout has small blobs last. */
#include "builder/weights/packed.h"
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/bug.h"
#include "base/map.h"
#include "base/os.h"
#include "base/vec.h"

struct stored {
	hash128 content;               /* the digest of triw.h */
	struct hasher *hasher, *chunk; /* NULL: not begun, or all is written */
	char *small;
};
struct mapping {
	const void *bytes;
	size_t size;
};
struct known {
	const void *bytes;
	size_t size;
	hash128 content;
};
struct packed {
	struct os_sink *sink;
	uint64_t at; /* of the weights in the file */
	struct model_weights *weights;
	struct stored *stored; /* for each blob */
	VEC(struct mapping) mappings;
	VEC(struct known) known;
	struct map by_key; /* key → index in known */
	struct mapping own;
	atomic_int failed; /* errno */
};

struct packed *packed_open(const char *path, uint64_t at, unsigned mode, struct model_weights *weights)
{
	struct packed *p = alloc_zeroed(sizeof *p);
	p->at = at;
	p->weights = weights;
	p->stored = alloc_zeroed(((size_t)weights->n_blobs + 1) * sizeof *p->stored);
	p->sink = os_sink_open(path, weights->size ? at + weights->size : 0, mode);
	if (p->sink)
		return p;
	packed_close(p);
	return NULL;
}

/* ---- what other files have ---- */

static void add_known(struct packed *p, hash128 key, struct known k)
{
	map_put(&p->by_key, key, p->known.len);
	vec_push(&p->known, k);
}

const struct triw_entry *triw_read_table(const void *bytes, size_t size, uint32_t *n)
{
	const struct triw_header *h = bytes;
	const struct triw_entry *table = (const void *)((const char *)bytes + sizeof *h);
	if (size < sizeof *h || memcmp(h->magic, TRIW_MAGIC, sizeof h->magic) != 0 || h->version != TRIW_VERSION || h->size != size ||
	    h->n_entries > (size - sizeof *h) / sizeof *table || triw_check(h, table) != h->check)
		return NULL;
	for (uint32_t i = 0; i < h->n_entries; i++)
		if (table[i].offset > size || table[i].size > size - table[i].offset)
			return NULL;
	*n = h->n_entries;
	return table;
}

void packed_reuse(struct packed *p, const char *path, const struct triw_entry *entries, uint32_t n)
{
	struct mapping m;
	if (!os_map_file(path, &m.bytes, &m.size))
		return;
	vec_push(&p->mappings, m);
	if (!entries && !(entries = triw_read_table(m.bytes, m.size, &n)))
		return;
	for (uint32_t i = 0; i < n; i++) {
		const struct triw_entry *e = &entries[i];
		hash128 key, content;
		memcpy(&key, e->key, sizeof key);
		memcpy(&content, e->digest, sizeof content);
		if (e->offset <= m.size && e->size <= m.size - e->offset)
			add_known(p, key, (struct known){(const char *)m.bytes + e->offset, e->size, content});
	}
}

void packed_share(struct packed *p, struct packed *from)
{
	const struct model_weights *w = from->weights;
	const char *image = packed_map(from);
	for (uint32_t i = 0; i < w->n_blobs; i++)
		if (from->stored[i].small || image)
			add_known(p, w->blobs[i].key,
				  (struct known){from->stored[i].small ? from->stored[i].small : image + w->blobs[i].offset,
						 w->blobs[i].len, from->stored[i].content});
}

bool packed_find(struct packed *p, struct model_blob *b)
{
	uint64_t i;
	const char *error;
	if (!map_get(&p->by_key, b->key, &i) || p->known.at[i].size != b->len)
		return false;
	return packed_write(p, b, 0, p->known.at[i].bytes, b->len, &error) &&
	       hash_eq(p->stored[b - p->weights->blobs].content, p->known.at[i].content);
}

/* ---- writing ---- */

static bool packed_fail(struct packed *p, const char **error)
{
	p->failed = errno;
	*error = strerror(p->failed);
	return false;
}

static hash128 packed_finish(struct hasher **h)
{
	hash128 v = hasher_finish(*h);
	*h = NULL;
	return v;
}

static void packed_add_content(struct stored *s, const struct model_blob *b, uint64_t at, const char *bytes, size_t n)
{
	if (at == 0)
		s->hasher = hasher_new();
	for (size_t i = 0, some; i < n; i += some) {
		size_t in = (at + i) % TRIW_CHUNK;
		some = n - i < TRIW_CHUNK - in ? n - i : TRIW_CHUNK - in;
		if (in == 0)
			s->chunk = hasher_new();
		hasher_add(s->chunk, bytes + i, some);
		if (in + some == TRIW_CHUNK || at + i + some == b->len)
			hasher_add_hash(s->hasher, packed_finish(&s->chunk));
	}
	if (at + n == b->len)
		s->content = packed_finish(&s->hasher);
}

bool packed_write(struct packed *p, struct model_blob *b, uint64_t at, const void *bytes, size_t n, const char **error)
{
	struct stored *s = &p->stored[b - p->weights->blobs];
	BUG_ON(at > b->len || n > b->len - at);
	if (n == 0)
		return true;
	packed_add_content(s, b, at, bytes, n);
	if (b->len >= MODEL_LARGE_BLOB)
		return os_sink_write(p->sink, bytes, n, p->at + b->offset + at) || packed_fail(p, error);
	if (!s->small)
		s->small = alloc_zeroed(b->len);
	memcpy(s->small + at, bytes, n);
	return true;
}

bool packed_failed(const struct packed *p) { return p && p->failed; }

/* ---- finishing ---- */

static bool packed_place(struct packed *p, struct model_blob *b, const struct stored *s, uint64_t at)
{
	static const char zeros[MODEL_BLOB_ALIGN];
	size_t pad = (MODEL_BLOB_ALIGN - b->len % MODEL_BLOB_ALIGN) % MODEL_BLOB_ALIGN;
	bool moved = at != b->offset;
	bool ok = s->small ? os_sink_write(p->sink, s->small, b->len, p->at + at)
			   : !moved || os_sink_move(p->sink, p->at + b->offset, p->at + at, b->len);
	b->offset = at;
	return ok && (!moved || os_sink_write(p->sink, zeros, pad, p->at + at + b->len));
}

static bool weights_packed_merge(struct packed *p, bool large, struct map *contents, uint64_t *end)
{
	struct model_weights *w = p->weights;
	for (uint32_t i = 0; i < w->n_blobs; i++) {
		struct model_blob *b = &w->blobs[i];
		hash128 content = hash_combine(p->stored[i].content, (hash128){b->len, 0});
		uint64_t same;
		if ((b->len >= MODEL_LARGE_BLOB) != large)
			continue;
		if (map_get(contents, content, &same)) {
			b->offset = w->blobs[same].offset;
			continue;
		}
		map_put(contents, content, i);
		if (!packed_place(p, b, &p->stored[i], *end))
			return false;
		*end += (b->len + MODEL_BLOB_ALIGN - 1) / MODEL_BLOB_ALIGN * MODEL_BLOB_ALIGN;
	}
	return true;
}

bool packed_merge(struct packed *p)
{
	struct map contents = {0};
	uint64_t end = 0;
	bool ok = weights_packed_merge(p, true, &contents, &end) && weights_packed_merge(p, false, &contents, &end) &&
		  os_sink_resize(p->sink, end ? p->at + end : 0);
	p->weights->size = end;
	map_free(&contents);
	return ok;
}

struct triw_entry *packed_table(struct arena *a, const struct packed *p)
{
	const struct model_weights *w = p->weights;
	struct triw_entry *table = ARENA_ARRAY(a, struct triw_entry, w->n_blobs + 1);
	for (uint32_t i = 0; i < w->n_blobs; i++) {
		table[i] = (struct triw_entry){.offset = p->at + w->blobs[i].offset, .size = w->blobs[i].len};
		memcpy(table[i].key, &w->blobs[i].key, sizeof table[i].key);
		memcpy(table[i].digest, &p->stored[i].content, sizeof table[i].digest);
	}
	return table;
}

const char *packed_map(struct packed *p)
{
	if (!p->own.bytes && !os_sink_map(p->sink, &p->own.bytes, &p->own.size))
		return NULL;
	return p->own.bytes ? (const char *)p->own.bytes + p->at : "";
}

bool packed_publish(struct packed *p, const void *text, size_t len, size_t before, uint64_t gap)
{
	const char *rest = (const char *)text + before;
	return os_sink_resize(p->sink, len + gap) && os_sink_write(p->sink, text, before, 0) &&
	       os_sink_write(p->sink, rest, len - before, before + gap) && os_sink_publish(p->sink);
}

void packed_close(struct packed *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; p->stored && i < p->weights->n_blobs; i++) {
		free(p->stored[i].small);
		if (p->stored[i].hasher)
			hasher_finish(p->stored[i].hasher);
		if (p->stored[i].chunk)
			hasher_finish(p->stored[i].chunk);
	}
	for (uint32_t i = 0; i < p->mappings.len; i++)
		os_unmap(p->mappings.at[i].bytes, p->mappings.at[i].size);
	os_unmap(p->own.bytes, p->own.size);
	os_sink_close(p->sink);
	vec_free(&p->mappings);
	vec_free(&p->known);
	map_free(&p->by_key);
	free(p->stored);
	free(p);
}
