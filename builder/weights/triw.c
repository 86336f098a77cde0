#include "builder/weights/triw.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "backend/runtime/abi/triw.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/bug.h"
#include "base/os.h"
#include "base/path.h"
#include "builder/manifest/glob.h"
#include "builder/weights/packed.h"

struct triw {
	struct arena *arena;
	const char *path;
	struct packed *packed; /* NULL: the earlier file has the same blobs */
	struct model_weights *weights;
	struct model_file *file;
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

void triw_sweep(struct arena *a, const char *out, const char *model, const char *const *keep, uint32_t n)
{
	uint32_t n_files;
	const char *const *files = glob_expand(a, weight_file_pattern(a, out, model), &n_files);
	for (uint32_t i = 0; i < n_files; i++) {
		uint32_t k = 0;
		while (k < n && (!keep[k] || strcmp(files[i], keep[k]) != 0))
			k++;
		if (k == n)
			unlink(files[i]);
	}
}

/* The keys name the content. */
static void name_file(struct triw *t, const char *out, const char *model)
{
	struct hasher *h = hasher_new();
	char hex[33];
	hasher_add_u64(h, TRIW_VERSION);
	for (uint32_t i = 0; i < t->weights->n_blobs; i++) {
		hasher_add_hash(h, t->weights->blobs[i].key);
		hasher_add_u64(h, t->weights->blobs[i].len);
	}
	t->file->digest = hasher_finish(h);
	hash_hex(t->file->digest, hex);
	t->file->name = arena_printf(t->arena, "%s-%.16s.triw", model, hex);
	t->weights->file = t->file;
	t->path = path_join(t->arena, out, t->file->name);
}

/* True if the file at t->path is complete. Sets its size. */
static bool is_there(struct triw *t)
{
	const void *bytes;
	size_t size;
	uint32_t n;
	if (!os_map_file(t->path, &bytes, &size))
		return false;
	const struct triw_header *h = bytes;
	bool there =
		triw_read_table(bytes, size, &n) && n == t->weights->n_blobs && memcmp(h->digest, &t->file->digest, sizeof h->digest) == 0;
	t->file->size = size;
	os_unmap(bytes, size);
	return there;
}

struct triw *triw_create(struct arena *a, const char *out, const char *model, struct model_weights *weights, const char *earlier)
{
	struct triw *t = ARENA_NEW(a, struct triw);
	*t = (struct triw){.arena = a, .weights = weights, .file = ARENA_NEW(a, struct model_file)};
	name_file(t, out, model);
	if (earlier && strcmp(earlier, t->path) == 0 && is_there(t))
		return t;
	t->packed = os_mkdirs(out) ? packed_open(t->path, triw_tensors_at(weights->n_blobs), 0644, weights) : NULL;
	if (t->packed && earlier)
		packed_reuse(t->packed, earlier, NULL, 0);
	return t->packed ? t : NULL;
}

struct packed *triw_packed(const struct triw *t) { return t->packed; }

bool triw_finish(struct triw *t)
{
	const struct model_weights *w = t->weights;
	if (!t->packed)
		return true;
	if (!packed_merge(t->packed))
		return false;
	const struct triw_entry *table = packed_table(t->arena, t->packed);
	uint64_t end = triw_tensors_at(w->n_blobs);
	struct triw_header h = {.magic = TRIW_MAGIC, .version = TRIW_VERSION, .n_entries = w->n_blobs};
	char *text = ARENA_ARRAY(t->arena, char, end);
	h.size = t->file->size = end + w->size;
	memcpy(h.digest, &t->file->digest, sizeof h.digest);
	h.check = triw_check(&h, table);
	memcpy(text, &h, sizeof h);
	memcpy(text + sizeof h, table, w->n_blobs * sizeof *table);
	return packed_publish(t->packed, text, end, end, w->size);
}

void triw_close(struct triw *t)
{
	if (t)
		packed_close(t->packed);
}
