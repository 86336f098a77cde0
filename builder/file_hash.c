#include "builder/file_hash.h"
#include "base/buf.h"
#include "builder/inputs.h"
#include "builder/store.h"
#include "builder/wire.h"

hash128 file_hash(struct store *project, struct inputs *in, const char *path)
{
	hash128 key = store_key("file", path), content;
	struct file_stamp stamp, then;
	struct wire w = {.ok = true};
	w.at = store_get(project, key, &w.left);
	if (w.at && os_stamp(path, &stamp)) {
		then = wire_stamp(&w);
		content = wire_hash(&w);
		if (wire_end(&w) && os_stamp_eq(&stamp, &then)) {
			inputs_add(in, path, &stamp, content);
			return content;
		}
	}
	input_look(path, &stamp, &content);
	inputs_add(in, path, &stamp, content);
	struct buf b = {0};
	wire_put_stamp(&b, &stamp);
	wire_put_hash(&b, content);
	if (stamp.mtime_ns) /* one that can be trusted */
		store_put(project, key, b.at, b.len);
	buf_free(&b);
	return content;
}
