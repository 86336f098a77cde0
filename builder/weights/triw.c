#include "builder/weights/triw.h"
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "backend/runtime/triw.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/bug.h"
#include "base/map.h"
#include "base/os.h"
#include "base/path.h"
#include "builder/manifest/glob.h"

struct triw {
	const char *path;
	struct os_sink *sink; /* NULL: the earlier file is equal */
	const struct model_weights *weights;
	struct buf head; /* header and table */
	const char *old; /* an earlier file, mapped, or NULL */
	size_t old_size;
	struct map old_entries; /* key → index of its table */
	atomic_int failed;      /* errno */
};

const char *triw_path(const struct triw *t) { return t->path; }

/* NAME-0123456789abcdef.triw */
static const char *weight_file_pattern(struct arena *a, const char *out, const char *model)
{
	static const char digit[] = "[0-9a-f]";
	char digits[16 * sizeof digit] = "";
	for (int i = 0; i < 16; i++)
		strcat(digits, digit);
	return arena_printf(a, "%s/%s-%s.triw", out, model, digits);
}

void triw_sweep(struct arena *a, const char *out, const char *model, const char *keep)
{
	uint32_t n;
	const char *const *files = glob_expand(a, weight_file_pattern(a, out, model), &n);
	for (uint32_t i = 0; i < n; i++)
		if (!keep || strcmp(files[i], keep) != 0)
			unlink(files[i]);
}

/* ---- layout ---- */

static uint64_t aligned(uint64_t v) { return (v + TRIW_ALIGN - 1) / TRIW_ALIGN * TRIW_ALIGN; }

static void lay_out(struct arena *a, const char *model, struct model_weights *w, struct buf *head)
{
	struct triw_header h = {.magic = TRIW_MAGIC, .version = TRIW_VERSION, .n_entries = w->n_blobs};
	struct model_file *file = ARENA_NEW(a, struct model_file);
	struct buf table = {0};
	char hex[33];
	file->size = aligned(sizeof h + w->n_blobs * sizeof(struct triw_entry));
	for (uint32_t i = 0; i < w->n_blobs; i++) {
		struct triw_entry e = {.offset = file->size, .size = w->blobs[i].len};
		w->blobs[i].offset = file->size;
		memcpy(e.key, &w->blobs[i].key, sizeof e.key);
		buf_put(&table, &e, sizeof e);
		file->size += aligned(e.size);
	}
	h.size = file->size;
	file->digest = hash_combine(hash_bytes(&h, sizeof h), hash_bytes(table.at, table.len));
	memcpy(h.digest, &file->digest, sizeof h.digest);
	h.check = triw_check(&h, (const void *)table.at);
	hash_hex(file->digest, hex);
	file->name = arena_printf(a, "%s-%.16s.triw", model, hex);
	w->file = file;
	buf_put(head, &h, sizeof h);
	buf_put(head, table.at, table.len);
	buf_free(&table);
}

/* ---- an earlier file ---- */

/* The table of a file whose header and offsets are valid; else NULL. */
static const struct triw_entry *read_table(const void *bytes, size_t size, uint32_t *n)
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

static void open_old(struct triw *t, const char *path)
{
	uint32_t n_entries = 0;
	const void *bytes;
	if (!os_map_file(path, &bytes, &t->old_size))
		return;
	t->old = bytes;
	const struct triw_entry *table = bytes ? read_table(bytes, t->old_size, &n_entries) : NULL;
	for (uint32_t i = 0; table && i < n_entries; i++) {
		hash128 key;
		memcpy(&key, table[i].key, sizeof key);
		map_put(&t->old_entries, key, i);
	}
}

/* True if the earlier file has the same header, and so the same content. */
static bool is_equal_to_old(const struct triw *t)
{
	return t->old && t->old_size == t->weights->file->size && memcmp(t->old, t->head.at, t->head.len) == 0;
}

/* ---- writing ---- */

struct triw *triw_create(struct arena *a, const char *out, const char *model, struct model_weights *w, const char *earlier)
{
	struct triw *t = alloc_zeroed(sizeof *t);
	lay_out(a, model, w, &t->head);
	t->weights = w;
	t->path = path_join(a, out, w->file->name);
	if (earlier)
		open_old(t, earlier);
	if (is_equal_to_old(t))
		return t;
	if (os_mkdirs(out) && (t->sink = os_sink_open(t->path, w->file->size, 0644)))
		return t;
	int why = errno;
	triw_close(t);
	errno = why;
	return NULL;
}

bool triw_put(void *ctx, struct model_blob *b, const void *bytes, const char **error)
{
	struct triw *t = ctx;
	if (os_sink_write(t->sink, bytes, b->len, b->offset))
		return true;
	t->failed = errno;
	*error = strerror(t->failed);
	return false;
}

bool triw_failed(const struct triw *t) { return t && t->failed; }

bool triw_find(void *ctx, struct model_blob *b)
{
	struct triw *t = ctx;
	uint64_t i;
	const char *error;
	if (!t->sink)
		return true;
	if (!map_get(&t->old_entries, b->key, &i))
		return false;
	const struct triw_entry *e = (const struct triw_entry *)(const void *)(t->old + sizeof(struct triw_header)) + i;
	return e->size == b->len && triw_put(t, b, t->old + e->offset, &error);
}

bool triw_finish(struct triw *t)
{
	if (!t->sink)
		return true;
	bool ok = os_sink_write(t->sink, t->head.at, t->head.len, 0) && os_sink_publish(t->sink);
	int why = errno;
	os_sink_close(t->sink);
	t->sink = NULL;
	errno = why;
	return ok;
}

void triw_close(struct triw *t)
{
	if (!t)
		return;
	os_sink_close(t->sink);
	os_unmap(t->old, t->old_size);
	map_free(&t->old_entries);
	buf_free(&t->head);
	free(t);
}
