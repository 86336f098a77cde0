#include "builder/store/disk.h"
#include <time.h>
#include "builder/manifest/glob.h"

static bool real_stamp(void *ctx, const char *path, struct file_stamp *out)
{
	(void)ctx;
	return os_stamp(path, out);
}

static bool real_read(void *ctx, const char *path, char **text, size_t *len)
{
	(void)ctx;
	return os_read_file(path, 0, text, len);
}

static bool real_read_stream(void *ctx, const char *path, char **text, size_t *len)
{
	(void)ctx;
	return os_read_stream(path, 0, text, len);
}

static void disk_hash_piece(void *hasher, const void *bytes, size_t n) { hasher_add(hasher, bytes, n); }

static bool hash_pieces(const char *path, hash128 *content)
{
	struct hasher *h = hasher_new();
	bool ok = os_read_pieces(path, disk_hash_piece, h);
	*content = hasher_finish(h);
	return ok;
}

static bool hash_mapped(const char *path, hash128 *content)
{
	const void *data;
	size_t len;
	if (!os_map_file(path, &data, &len))
		return false;
	*content = hash_bytes(data ? data : "", len);
	os_unmap(data, len);
	return true;
}

/* Reads sources, which editors truncate in place: a mapping would raise SIGBUS. Maps weights and executables: it is several times as fast. */
static bool real_hash(void *ctx, const char *path, hash128 *content)
{
	enum { LARGE = 1 << 20 };
	struct file_stamp stamp;
	(void)ctx;
	return os_stamp(path, &stamp) && stamp.size >= LARGE ? hash_mapped(path, content) : hash_pieces(path, content);
}

static const char *const *real_expand(void *ctx, struct arena *a, const char *pattern, uint32_t *n)
{
	(void)ctx;
	return glob_expand(a, pattern, n);
}

static int64_t real_clock(void *ctx)
{
	struct timespec t;
	(void)ctx;
	clock_gettime(CLOCK_REALTIME_COARSE, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

const struct disk os_disk = {real_stamp, real_read, real_hash, real_expand, real_clock, NULL};
const struct disk os_disk_and_streams = {real_stamp, real_read_stream, real_hash, real_expand, real_clock, NULL};

bool disk_has_stamp(const struct disk *d, const char *path, const struct file_stamp *stamp)
{
	struct file_stamp now;
	return d->stamp(d->ctx, path, &now) && os_stamp_eq(&now, stamp);
}
