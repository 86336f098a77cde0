/* Records of the index. */
#include <stddef.h>
#include <string.h>
#include "builder/cache/state.h"

static uint64_t meta_checksum(hash128 id, const struct cache_meta *meta)
{
	const uint64_t name[] = {id.lo, id.hi, hash64_bytes(&meta->used, sizeof *meta - offsetof(struct cache_meta, used))};
	return hash64_bytes(name, sizeof name);
}

/* A damaged record has META_STATES for its state. */
static void meta_decode(hash128 id, const MDB_val *v, struct cache_meta *out)
{
	if (v->mv_size == sizeof *out)
		memcpy(out, v->mv_data, sizeof *out);
	if (v->mv_size != sizeof *out || out->kind >= CACHE_KINDS || out->state >= META_STATES || out->check != meta_checksum(id, out))
		*out = (struct cache_meta){.state = META_STATES};
}

int cache_meta_some(struct cache *c, MDB_txn *txn, uint64_t *at, uint64_t most, cache_meta_fn *fn, void *ctx)
{
	MDB_cursor *cursor;
	hash128 id = {*at, 0};
	MDB_val k = {sizeof id, &id}, d;
	int rc = mdb_cursor_open(txn, c->index, &cursor);
	if (rc)
		return rc;
	*at = 0;
	for (rc = mdb_cursor_get(cursor, &k, &d, MDB_SET_RANGE); !rc; rc = mdb_cursor_get(cursor, &k, &d, MDB_NEXT)) {
		struct cache_meta m;
		if (k.mv_size != sizeof id)
			continue;
		memcpy(&id, k.mv_data, sizeof id);
		if (most-- == 0) {
			*at = id.lo;
			break;
		}
		meta_decode(id, &d, &m);
		fn(ctx, id, &m);
	}
	mdb_cursor_close(cursor);
	return rc == MDB_NOTFOUND ? 0 : rc;
}

int cache_meta_each(struct cache *c, MDB_txn *txn, cache_meta_fn *fn, void *ctx)
{
	uint64_t at = 0;
	return cache_meta_some(c, txn, &at, UINT64_MAX, fn, ctx);
}

int cache_meta_get(struct cache *c, MDB_txn *txn, hash128 id, struct cache_meta *out)
{
	MDB_val k = {sizeof id, &id}, d;
	int rc = mdb_get(txn, c->index, &k, &d);
	if (!rc)
		meta_decode(id, &d, out);
	return rc;
}

int cache_meta_put(struct cache *c, MDB_txn *txn, hash128 id, const struct cache_meta *meta)
{
	struct cache_meta checked = *meta;
	checked.check = meta_checksum(id, meta);
	MDB_val k = {sizeof id, &id}, d = {sizeof checked, &checked};
	return mdb_put(txn, c->index, &k, &d, 0);
}
