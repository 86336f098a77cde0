#include "builder/store/costs.h"
#include "base/buf.h"
#include "builder/store/serialize.h"
#include "builder/store/store.h"

hash128 cost_key(const char *name, hash128 target, uint8_t opt)
{
	return hash_combine(hash_combine(store_key("cost", name), target), (hash128){opt, 0});
}

hash128 cost_key_unit(const char *unit, hash128 target, uint8_t opt)
{
	return hash_combine(hash_combine(store_key("cost of unit", unit), target), (hash128){opt, 0});
}

struct cost cost_find(struct store *project, hash128 key, struct cost otherwise)
{
	struct deserializer w = {.ok = true};
	w.at = store_get(project, key, &w.left);
	if (!w.at)
		return otherwise;
	struct cost c = {.ns = deserialize_u64(&w)};
	c.memory = deserialize_u64(&w);
	return deserialize_end(&w) ? c : otherwise;
}

void cost_note(struct store *project, hash128 key, struct cost now)
{
	struct cost then = cost_find(project, key, now);
	struct buf b = {0};
	buf_u64(&b, then.ns / 2 + now.ns / 2);
	buf_u64(&b, then.memory / 2 + now.memory / 2);
	store_put(project, key, b.at, b.len);
	buf_free(&b);
}
