#include "builder/store/file_hash.h"
#include "base/buf.h"
#include "builder/store/inputs.h"
#include "builder/store/serialize.h"
#include "builder/store/store.h"

hash128 file_hash(struct store *project, struct inputs *in, const char *path)
{
	hash128 key = store_key("file", path), content;
	struct file_stamp stamp, then;
	struct deserializer w = {.ok = true};
	w.at = store_get(project, key, &w.left);
	if (w.at && os_stamp(path, &stamp)) {
		then = deserialize_stamp(&w);
		content = deserialize_hash(&w);
		if (deserialize_end(&w) && os_stamp_eq(&stamp, &then)) {
			inputs_add(in, path, &stamp, content);
			return content;
		}
	}
	input_look(path, &stamp, &content);
	inputs_add(in, path, &stamp, content);
	struct buf b = {0};
	serialize_stamp(&b, &stamp);
	serialize_hash(&b, content);
	if (stamp.mtime_ns) /* one that can be trusted */
		store_put(project, key, b.at, b.len);
	buf_free(&b);
	return content;
}
