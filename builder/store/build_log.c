/* Entry number k is under the key k % BUILD_LOG_MOST; one more record has the number of entries so far. */
#include "builder/store/build_log.h"
#include <stdio.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "builder/store/serializer.h"
#include "builder/store/store.h"

static hash128 count_key(void) { return store_key("build log", "count"); }

static hash128 entry_key(uint64_t number)
{
	char name[24];
	snprintf(name, sizeof name, "%u", (unsigned)(number % BUILD_LOG_MOST));
	return store_key("build log", name);
}

static uint64_t read_count(struct store *project)
{
	size_t n = 0;
	const void *bytes = store_get(project, count_key(), &n);
	struct serializer s = serializer_from(NULL, bytes, n);
	uint64_t count = 0;
	serialize_u64(&s, &count);
	return serializer_is_done(&s) ? count : 0;
}

static void build_log_serialize_entry(struct serializer *s, uint64_t *number, struct build_entry *e)
{
	serialize_u64(s, number);
	serialize_u64(s, &e->at);
	serialize_u64(s, &e->wall_ns);
	serialize_u64(s, &e->saved_ns);
	serialize_u32(s, &e->compiled);
	serialize_u32(s, &e->reused);
	serialize_u32(s, &e->hits);
	serialize_u32(s, &e->misses);
	serialize_str(s, &e->models);
	serialize_str(s, &e->slowest);
	serialize_u64(s, &e->slowest_ns);
	if (!s->out && s->left == 0) { /* of a trib that did not record the rest */
		e->command = "";
		memset(e->lookups, 0, sizeof e->lookups);
		return;
	}
	serialize_str(s, &e->command);
	for (uint32_t k = 0; k < LOOKUP_LEVELS; k++) {
		serialize_u32(s, &e->lookups[k].hits);
		serialize_u32(s, &e->lookups[k].misses);
	}
}

static void build_log_put(struct store *project, hash128 key, struct buf *bytes)
{
	store_put(project, key, bytes->at, bytes->len);
	buf_free(bytes);
}

void build_log_add(struct store *project, const struct build_entry *e)
{
	uint64_t count = read_count(project), next = count + 1;
	struct build_entry copy = *e;
	struct buf entry = {0}, total = {0};
	struct serializer s = serializer_to(&entry), t = serializer_to(&total);
	build_log_serialize_entry(&s, &count, &copy);
	serialize_u64(&t, &next);
	build_log_put(project, entry_key(count), &entry);
	build_log_put(project, count_key(), &total);
}

/* False: it is missing, damaged, or an older one. */
static bool build_log_read_entry(struct store *project, uint64_t number, struct build_entry *e)
{
	size_t n = 0;
	uint64_t its;
	const void *bytes = store_get(project, entry_key(number), &n);
	struct serializer s = serializer_from(NULL, bytes, n);
	build_log_serialize_entry(&s, &its, e);
	return serializer_is_done(&s) && its == number;
}

struct build_entry *build_log_read(struct arena *a, struct store *project, uint32_t *n)
{
	uint64_t count = read_count(project), first = count > BUILD_LOG_MOST ? count - BUILD_LOG_MOST : 0;
	struct build_entry *list = ARENA_ARRAY(a, struct build_entry, BUILD_LOG_MOST);
	*n = 0;
	for (uint64_t k = first; k < count; k++)
		*n += build_log_read_entry(project, k, &list[*n]);
	return list;
}
