/* Records of the index. */
#include <stddef.h>
#include <string.h>
#include "builder/cache/state.h"

static uint64_t checksum(hash128 id, const struct cache_meta *m)
{
	const uint64_t name[] = {id.lo, id.hi, hash64_bytes(&m->used, sizeof *m - offsetof(struct cache_meta, used))};
	return hash64_bytes(name, sizeof name);
}

bool cache_meta_read(const MDB_val *key, const MDB_val *v, hash128 *id, struct cache_meta *out)
{
	if (key->mv_size != sizeof *id)
		return false;
	memcpy(id, key->mv_data, sizeof *id);
	if (v->mv_size != sizeof *out)
		return false;
	memcpy(out, v->mv_data, sizeof *out);
	return out->kind < CACHE_KINDS && out->state < META_STATES && out->check == checksum(*id, out);
}

int cache_meta_get(struct cache *c, MDB_txn *txn, hash128 id, struct cache_meta *out)
{
	hash128 same;
	MDB_val k = {sizeof id, &id}, d;
	int rc = mdb_get(txn, c->index, &k, &d);
	if (!rc && !cache_meta_read(&k, &d, &same, out))
		*out = (struct cache_meta){.state = META_STATES};
	return rc;
}

int cache_meta_put(struct cache *c, MDB_txn *txn, hash128 id, const struct cache_meta *m)
{
	struct cache_meta checked = *m;
	checked.check = checksum(id, m);
	MDB_val k = {sizeof id, &id}, d = {sizeof checked, &checked};
	return mdb_put(txn, c->index, &k, &d, 0);
}
