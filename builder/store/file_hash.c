#include "builder/store/file_hash.h"
#include "base/buf.h"
#include "builder/store/disk.h"
#include "builder/store/inputs.h"
#include "builder/store/serializer.h"
#include "builder/store/store.h"

/* A file that seldom changes, as the store remembers it. */
struct file_record {
	struct file_stamp stamp;
	hash128 content;
};

static void serialize_file(struct serializer *s, struct file_record *r)
{
	serialize_stamp(s, &r->stamp);
	serialize_hash(s, &r->content);
}

static void save(struct store *project, hash128 key, struct file_record *r)
{
	struct buf b = {0};
	struct serializer s = serializer_to(&b);
	serialize_file(&s, r);
	store_put(project, key, b.at, b.len);
	buf_free(&b);
}

hash128 file_hash(struct store *project, struct inputs *in, const char *path)
{
	hash128 key = store_key("file", path);
	struct file_record r;
	const struct disk *d = inputs_disk(in);
	size_t n = 0;
	const void *bytes = store_get(project, key, &n);
	struct serializer s = serializer_from(NULL, bytes, n);
	serialize_file(&s, &r);
	if (!serializer_is_done(&s) || !disk_has_stamp(d, path, &r.stamp)) {
		input_hash_file(d, path, &r.stamp, &r.content);
		if (r.stamp.mtime_ns) /* else the stamp is not reliable */
			save(project, key, &r);
	}
	inputs_add(in, path, &r.stamp, r.content);
	return r.content;
}
