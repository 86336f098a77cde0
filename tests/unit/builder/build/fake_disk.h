/* Files in memory with a clock that a test sets: what a build reads. */
#ifndef TRIB_TESTS_UNIT_BUILDER_BUILD_FAKE_DISK_H
#define TRIB_TESTS_UNIT_BUILDER_BUILD_FAKE_DISK_H
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "builder/manifest/glob.h"
#include "builder/store/disk.h"

enum { FAKE_FILES = 16, FAKE_TEXT = 512 };
#define FAKE_SECOND INT64_C(1000000000)

struct fake_file {
	const char *path;
	char text[FAKE_TEXT];
	struct file_stamp stamp;
	bool is_there, is_folder, vanishes; /* vanishes: it is removed between its stamp and its content */
};
struct fake_disk {
	struct fake_file files[FAKE_FILES];
	uint32_t n, n_read; /* n_read: contents that were read */
	int64_t now;
	uint64_t changes; /* ctime of the last change, so that no two are equal */
};

static inline struct fake_file *fake_find(struct fake_disk *d, const char *path)
{
	for (uint32_t i = 0; i < d->n; i++)
		if (!strcmp(d->files[i].path, path))
			return &d->files[i];
	return NULL;
}

static inline void fake_set_stamp(struct fake_disk *d, struct fake_file *f, int64_t mtime)
{
	f->stamp = (struct file_stamp){strlen(f->text), (uint64_t)mtime, (uint64_t)d->now + ++d->changes, (uint64_t)(f - d->files) + 1};
}

static inline struct fake_file *fake_add(struct fake_disk *d, const char *path)
{
	struct fake_file *f = fake_find(d, path);
	if (!f)
		f = &d->files[d->n++];
	f->path = path;
	f->is_there = true;
	return f;
}

/* The folder of the file has another stamp when a name in it comes or goes. */
static inline void fake_touch_folder(struct fake_disk *d, const char *path)
{
	struct fake_file *f = strncmp(path, "src/", 4) == 0 ? fake_add(d, "src") : NULL;
	if (f) {
		f->is_folder = true;
		fake_set_stamp(d, f, d->now);
	}
}

static inline void fake_write(struct fake_disk *d, const char *path, const char *text)
{
	struct fake_file *f = fake_find(d, path);
	if (!f || !f->is_there)
		fake_touch_folder(d, path);
	f = fake_add(d, path);
	strncpy(f->text, text, FAKE_TEXT - 1);
	fake_set_stamp(d, f, d->now);
}

static inline void fake_remove(struct fake_disk *d, const char *path)
{
	fake_find(d, path)->is_there = false;
	fake_touch_folder(d, path);
}

/* Stamps are trusted once the clock has moved on. */
static inline void fake_wait(struct fake_disk *d) { d->now += 10 * FAKE_SECOND; }

static inline bool fake_stamp(void *ctx, const char *path, struct file_stamp *out)
{
	struct fake_file *f = fake_find(ctx, path);
	errno = ENOENT;
	if (!f || !f->is_there)
		return false;
	*out = f->stamp;
	if (f->vanishes)
		f->is_there = f->vanishes = false;
	return true;
}

static inline struct fake_file *fake_open(struct fake_disk *d, const char *path)
{
	struct fake_file *f = fake_find(d, path);
	bool ok = f && f->is_there && !f->is_folder;
	errno = ok ? 0 : ENOENT;
	d->n_read += ok;
	return ok ? f : NULL;
}

static inline bool fake_read(void *ctx, const char *path, char **text, size_t *len)
{
	struct fake_file *f = fake_open(ctx, path);
	if (!f)
		return false;
	*text = strdup(f->text);
	*len = strlen(f->text);
	return true;
}

static inline bool fake_hash(void *ctx, const char *path, hash128 *content)
{
	struct fake_file *f = fake_open(ctx, path);
	if (f)
		*content = hash_bytes(f->text, strlen(f->text));
	return f != NULL;
}

static inline const char *const *fake_expand(void *ctx, struct arena *a, const char *pattern, uint32_t *n)
{
	struct fake_disk *d = ctx;
	const char **list = ARENA_ARRAY(a, const char *, d->n + 1);
	*n = 0;
	for (uint32_t i = 0; i < d->n; i++)
		if (d->files[i].is_there && !d->files[i].is_folder && glob_matches(pattern, d->files[i].path))
			list[(*n)++] = d->files[i].path;
	return list;
}

static inline int64_t fake_clock(void *ctx) { return ((struct fake_disk *)ctx)->now; }

static inline struct disk fake_disk(struct fake_disk *d)
{
	*d = (struct fake_disk){.now = 1000 * FAKE_SECOND};
	return (struct disk){fake_stamp, fake_read, fake_hash, fake_expand, fake_clock, d};
}
#endif
