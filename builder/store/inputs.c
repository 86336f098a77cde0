/* Time stamps have the granularity of the kernel's tick: a file that is written twice within one tick keeps its stamp. So a stamp that
 * is too young is recorded as zero, which equals no real stamp, and the next build compares the content. git treats "racily clean"
 * entries in the same way. */
#include "builder/store/inputs.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/bug.h"
#include "base/map.h"
#include "base/vec.h"
#include "builder/manifest/glob.h"
#include "builder/store/disk.h"

#define SECOND_NS INT64_C(1000000000)
#define TICK_NS INT64_C(20000000)
#define COARSE_NS (2 * SECOND_NS) /* for file systems with stamps of one or two seconds */

struct inputs {
	struct arena *arena;
	const struct disk *disk;
	VEC(struct input) list;
	struct map index; /* kind and path → list index */
};

void input_clear_if_young(struct file_stamp *stamp, int64_t clock)
{
	int64_t mtime = (int64_t)stamp->mtime_ns, ctime = (int64_t)stamp->ctime_ns,
		safe = clock - (ctime % SECOND_NS ? TICK_NS : COARSE_NS);
	if (mtime >= safe || ctime >= safe)
		memset(stamp, 0, sizeof *stamp);
}

bool input_hash_file(const struct disk *d, const char *path, struct file_stamp *stamp, hash128 *content)
{
	int64_t clock = d->clock(d->ctx);
	memset(content, 0, sizeof *content);
	if (!d->stamp(d->ctx, path, stamp) || !d->hash(d->ctx, path, content)) {
		memset(stamp, 0, sizeof *stamp);
		return false;
	}
	input_clear_if_young(stamp, clock);
	return true;
}

struct inputs *inputs_new(struct arena *a, const struct disk *disk)
{
	struct inputs *in = calloc(1, sizeof *in);
	if (!in)
		bug_no_memory();
	in->arena = a;
	in->disk = disk;
	return in;
}

void inputs_free(struct inputs *in)
{
	if (!in)
		return;
	vec_free(&in->list);
	map_free(&in->index);
	free(in);
}

static hash128 inputs_index_key(enum input_kind kind, const char *path)
{
	hash128 k = map_key_str(path);
	k.lo += (uint64_t)kind;
	return k;
}

/* The first record of a path wins: it is the oldest. */
static void store_inputs_add(struct inputs *in, enum input_kind kind, const char *path, const struct file_stamp *stamp, hash128 content)
{
	hash128 key = inputs_index_key(kind, path);
	if (map_get(&in->index, key, NULL))
		return;
	struct input i = {.path = arena_strdup(in->arena, path), .kind = kind, .stamp = *stamp, .content = content};
	map_put(&in->index, key, in->list.len);
	vec_push(&in->list, i);
}

void inputs_add(struct inputs *in, const char *path, const struct file_stamp *stamp, hash128 content)
{
	store_inputs_add(in, INPUT_FILE, path, stamp, content);
}

bool inputs_read(struct inputs *in, const char *path, char **text, size_t *len)
{
	const struct disk *d = in->disk;
	struct file_stamp stamp;
	int64_t clock = d->clock(d->ctx);
	bool ok = d->stamp(d->ctx, path, &stamp) && d->read(d->ctx, path, text, len);
	int why = errno;
	hash128 content = {0, 0};
	if (ok) {
		content = hash_bytes(*text, *len);
		input_clear_if_young(&stamp, clock);
	} else {
		memset(&stamp, 0, sizeof stamp);
	}
	store_inputs_add(in, INPUT_FILE, path, &stamp, content);
	if (!ok)
		errno = why;
	return ok;
}

bool inputs_note(struct inputs *in, const char *path, hash128 *content)
{
	struct file_stamp stamp;
	hash128 c;
	bool ok = input_hash_file(in->disk, path, &stamp, &c);
	store_inputs_add(in, INPUT_FILE, path, &stamp, c);
	if (content)
		*content = c;
	return ok;
}

static hash128 list_hash(const char *const *paths, uint32_t n)
{
	struct hasher *h = hasher_new();
	hasher_add_u64(h, n);
	for (uint32_t i = 0; i < n; i++)
		hasher_add_str(h, paths[i]);
	return hasher_finish(h);
}

static const char *const *read_pattern(const struct disk *d, struct arena *a, const char *pattern, struct file_stamp *stamp,
				       hash128 *content, uint32_t *n)
{
	int64_t clock = d->clock(d->ctx);
	const char *folder = glob_folder(a, pattern);
	memset(stamp, 0, sizeof *stamp);
	if (folder && d->stamp(d->ctx, folder, stamp))
		input_clear_if_young(stamp, clock);
	const char *const *list = d->expand(d->ctx, a, pattern, n);
	*content = list_hash(list, *n);
	return list;
}

const char *const *inputs_glob(struct inputs *in, const char *pattern, uint32_t *n)
{
	struct file_stamp stamp;
	hash128 content;
	const char *const *list = read_pattern(in->disk, in->arena, pattern, &stamp, &content, n);
	store_inputs_add(in, INPUT_PATTERN, pattern, &stamp, content);
	return list;
}

const struct disk *inputs_disk(const struct inputs *in) { return in->disk; }

uint32_t inputs_count(const struct inputs *in) { return in->list.len; }

const struct input *inputs_find(const struct inputs *in, enum input_kind kind, const char *path)
{
	uint64_t i;
	return map_get(&in->index, inputs_index_key(kind, path), &i) ? &in->list.at[i] : NULL;
}

const struct input *inputs_at(const struct inputs *in, uint32_t i) { return &in->list.at[i]; }

static bool is_reliable(const struct file_stamp *stamp) { return stamp->mtime_ns != 0; }

static bool verify_pattern(const struct disk *d, struct arena *scratch, struct input *i, bool *touched)
{
	struct file_stamp now;
	hash128 content;
	uint32_t n;
	arena_mark_t m = arena_mark(scratch);
	bool same = false;
	if (is_reliable(&i->stamp)) {
		const char *folder = glob_folder(scratch, i->path);
		same = folder && disk_has_stamp(d, folder, &i->stamp);
	}
	if (!same) {
		read_pattern(d, scratch, i->path, &now, &content, &n);
		same = hash_eq(content, i->content);
		if (same && is_reliable(&now)) {
			i->stamp = now;
			*touched = true;
		}
	}
	arena_release(scratch, m);
	return same;
}

bool input_verify(const struct disk *d, struct arena *scratch, struct input *i, bool *touched)
{
	struct file_stamp now;
	hash128 content;
	if (i->kind == INPUT_PATTERN)
		return verify_pattern(d, scratch, i, touched);
	if (!d->stamp(d->ctx, i->path, &now))
		return hash_is_zero(i->content);
	if (hash_is_zero(i->content)) /* an unreadable file counts as absent */
		return !input_hash_file(d, i->path, &now, &content);
	if (is_reliable(&i->stamp) && os_stamp_eq(&now, &i->stamp))
		return true;
	if (!input_hash_file(d, i->path, &now, &content) || !hash_eq(content, i->content))
		return false;
	if (is_reliable(&now)) {
		i->stamp = now;
		*touched = true;
	}
	return true;
}
