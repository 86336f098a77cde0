#include "builder/store/costs.h"
#include "base/buf.h"
#include "builder/store/serializer.h"
#include "builder/store/store.h"

hash128 cost_key(const char *name, hash128 target, uint8_t opt)
{
	return hash_combine(hash_combine(store_key("cost", name), target), (hash128){opt, 0});
}

hash128 cost_key_unit(const char *unit, hash128 target, uint8_t opt)
{
	return hash_combine(hash_combine(store_key("cost of unit", unit), target), (hash128){opt, 0});
}

void cost_serialize(struct serializer *s, struct cost *c)
{
	serialize_u64(s, &c->ns);
	serialize_u64(s, &c->memory);
}

struct cost cost_find(struct store *project, hash128 key, struct cost otherwise)
{
	size_t n = 0;
	const void *bytes = store_get(project, key, &n);
	struct serializer s = serializer_from(NULL, bytes, n);
	struct cost c;
	cost_serialize(&s, &c);
	return serializer_is_done(&s) ? c : otherwise;
}

void cost_note(struct store *project, hash128 key, struct cost now)
{
	struct cost old = cost_find(project, key, now);
	struct cost mean = {old.ns / 2 + now.ns / 2, old.memory / 2 + now.memory / 2};
	struct buf b = {0};
	struct serializer s = serializer_to(&b);
	cost_serialize(&s, &mean);
	store_put(project, key, b.at, b.len);
	buf_free(&b);
}
