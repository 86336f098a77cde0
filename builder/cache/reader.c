/* Reads LMDB's file, data version 1, of 64-bit little-endian machines. It begins with two meta pages; the one with the higher
 * transaction is valid. Trees are B+ trees of pages; a page begins with 16-bit offsets of its nodes. A value that is too long for a leaf
 * has pages of its own. Every offset and length is checked before its use. A page that no longer belongs to the tree gives an entry with
 * a wrong checksum. */
#include "builder/cache/reader.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>
#include "base/arena.h"
#include "builder/cache/entry.h"
#include "builder/cache/state.h"

#define MAGIC 0xBEEFC0DEu
#define NO_PAGE UINT64_MAX
enum { LEAST_PAGE = 512, MOST_PAGE = 65536, PAGE_HEAD = 16, NODE_HEAD = 8, MOST_DEPTH = 32, ALIGNED = 16 };
enum { AT_FLAGS = 10, AT_LOWER = 12, BRANCH = 1, LEAF = 2, LONG_VALUE = 1 };             /* offsets in a page, flags of pages and nodes */
enum { AT_MAGIC = 16, AT_PAGE_SIZE = 40, AT_MAIN_ROOT = 128, AT_TXN = 144, META = 152 }; /* offsets in a meta page */
enum { TABLE = 48, AT_ROOT = 40 };                                                       /* the record of a table */
#define MOST_ENTRY ((uint64_t)1 << 30)

struct cache_reader {
	struct arena *a;
	int folder, data;
	uint64_t size; /* of the file */
	uint32_t page;
	uint64_t entries;      /* root page of the table */
	unsigned char *buffer; /* of a page */
	struct ZSTD_DCtx_s *unpack;
};
/* A node of a page. */
struct node {
	uint16_t flags, key_len;
	uint32_t low; /* length of the value, or the lower half of a child's page number */
	const unsigned char *key;
};

static uint16_t u16(const unsigned char *p) { return (uint16_t)(p[0] | p[1] << 8); }
static uint32_t u32(const unsigned char *p) { return u16(p) | (uint32_t)u16(p + 2) << 16; }
static uint64_t u64(const unsigned char *p) { return u32(p) | (uint64_t)u32(p + 4) << 32; }

static bool read_at(const struct cache_reader *p, void *out, size_t n, uint64_t at)
{
	return n <= p->size && at <= p->size - n && pread(p->data, out, n, (off_t)at) == (ssize_t)n;
}

static bool read_page(const struct cache_reader *p, uint64_t number, unsigned char *out)
{
	return number < p->size / p->page && read_at(p, out, p->page, number * p->page);
}

static bool node_at(const struct cache_reader *p, const unsigned char *page, uint32_t i, struct node *out)
{
	uint32_t at = u16(page + PAGE_HEAD + 2 * i);
	if (at < PAGE_HEAD || at + NODE_HEAD > p->page)
		return false;
	*out = (struct node){
		.flags = u16(page + at + 4), .key_len = u16(page + at + 6), .low = u32(page + at), .key = page + at + NODE_HEAD};
	return at + NODE_HEAD + out->key_len <= p->page;
}

static int reader_order(const struct node *n, const void *key, size_t len)
{
	int c = memcmp(n->key, key, n->key_len < len ? n->key_len : len);
	return c ? c : (n->key_len > len) - (n->key_len < len);
}

/* The last node whose key is not above this one. The first node of a branch has no key and is below all. -1: there is none. */
static int find_node(const struct cache_reader *p, const unsigned char *page, bool branch, const void *key, size_t len, struct node *out)
{
	uint32_t lower = u16(page + AT_LOWER), n = lower >= PAGE_HEAD && lower <= p->page ? (lower - PAGE_HEAD) / 2 : 0, low = 0, high = n;
	struct node node;
	while (low < high) {
		uint32_t middle = (low + high) / 2;
		if (!node_at(p, page, middle, &node))
			return -1;
		if ((branch && middle == 0) || reader_order(&node, key, len) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low && node_at(p, page, low - 1, out) ? (int)low - 1 : -1;
}

/* Finds the leaf node with that key. It points into `page`. */
static bool reader_find(const struct cache_reader *p, uint64_t root, const void *key, size_t len, unsigned char *page, struct node *out)
{
	for (int depth = 0; depth < MOST_DEPTH && read_page(p, root, page); depth++) {
		bool branch = u16(page + AT_FLAGS) & BRANCH;
		if ((!branch && !(u16(page + AT_FLAGS) & LEAF)) || find_node(p, page, branch, key, len, out) < 0)
			return false;
		if (!branch)
			return out->key_len == len && memcmp(out->key, key, len) == 0;
		root = out->low | (uint64_t)out->flags << 32;
	}
	return false;
}

/* The value of a node of `page`, copied into the arena. */
static const void *reader_value_of(const struct cache_reader *p, const unsigned char *page, const struct node *n)
{
	const unsigned char *at = n->key + n->key_len;
	size_t room = (size_t)(page + p->page - at);
	if (!(n->flags & LONG_VALUE))
		return n->low <= room ? memcpy(arena_alloc(p->a, n->low + 1, ALIGNED), at, n->low) : NULL;
	if (room < 8 || n->low > MOST_ENTRY || u64(at) >= p->size / p->page)
		return NULL;
	uint64_t from = u64(at) * p->page + PAGE_HEAD;
	if (from > p->size || n->low > p->size - from)
		return NULL;
	void *bytes = arena_alloc(p->a, n->low + (size_t)1, ALIGNED);
	return read_at(p, bytes, n->low, from) ? bytes : NULL;
}

static uint64_t root_of(const struct cache_reader *p, uint64_t tables, const char *name)
{
	struct node n;
	if (!reader_find(p, tables, name, strlen(name), p->buffer, &n))
		return NO_PAGE;
	const unsigned char *record = reader_value_of(p, p->buffer, &n);
	return record && n.low == TABLE ? u64(record + AT_ROOT) : NO_PAGE;
}

/* The root page of the tables, from the newer meta page. */
static uint64_t main_root(struct cache_reader *p)
{
	unsigned char meta[META];
	uint64_t root = NO_PAGE, newest = 0;
	p->page = LEAST_PAGE;
	for (uint32_t i = 0; i < 2 && read_at(p, meta, sizeof meta, (uint64_t)i * p->page); i++) {
		uint32_t size = u32(meta + AT_PAGE_SIZE);
		if (u32(meta + AT_MAGIC) != MAGIC || size < LEAST_PAGE || size > MOST_PAGE || (i && size != p->page))
			return NO_PAGE;
		p->page = size;
		if (u64(meta + AT_TXN) >= newest)
			newest = u64(meta + AT_TXN), root = u64(meta + AT_MAIN_ROOT);
	}
	return root;
}

struct cache_reader *cache_reader_open(struct arena *a, const char *dir)
{
	struct stat st;
	struct cache_reader *p = ARENA_NEW(a, struct cache_reader);
	*p = (struct cache_reader){.a = a, .data = -1, .entries = NO_PAGE};
	p->folder = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (p->folder >= 0)
		p->data = openat(p->folder, "data.mdb", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (p->data >= 0 && fstat(p->data, &st) == 0 && S_ISREG(st.st_mode)) {
		p->size = (uint64_t)st.st_size;
		uint64_t root = main_root(p);
		p->buffer = arena_alloc(a, p->page, ALIGNED);
		p->entries = root_of(p, root, "entries");
	}
	if (p->entries != NO_PAGE)
		return p;
	cache_reader_close(p);
	return NULL;
}

static const void *reader_read_large(const struct cache_reader *p, hash128 id, size_t *len)
{
	char name[LARGE_NAME];
	struct stat st;
	cache_large_name(id, name);
	int fd = openat(p->folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	void *bytes = NULL;
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 && (uint64_t)st.st_size <= MOST_ENTRY) {
		*len = (size_t)st.st_size;
		bytes = arena_alloc(p->a, *len, ALIGNED);
		if (pread(fd, bytes, *len, 0) != st.st_size)
			bytes = NULL;
	}
	if (fd >= 0)
		close(fd);
	return bytes;
}

static const void *reader_read_small(const struct cache_reader *p, hash128 id, size_t *len)
{
	struct node n;
	if (!reader_find(p, p->entries, &id, sizeof id, p->buffer, &n))
		return NULL;
	*len = n.low;
	return reader_value_of(p, p->buffer, &n);
}

const void *cache_reader_get(struct cache_reader *p, enum cache_kind kind, hash128 key, size_t *len)
{
	size_t entry_len;
	void *owned;
	if (!p)
		return NULL;
	hash128 id = cache_id(kind, key);
	const void *entry = reader_read_small(p, id, &entry_len);
	entry = entry ? entry : reader_read_large(p, id, &entry_len);
	if (!entry || !entry_is_valid(entry, entry_len, kind, id))
		return NULL;
	const void *value = entry_value(&p->unpack, entry, entry_len, len, &owned);
	if (owned)
		value = memcpy(arena_alloc(p->a, *len + 1, ALIGNED), owned, *len);
	free(owned);
	return value;
}

void cache_reader_close(struct cache_reader *p)
{
	if (!p)
		return;
	ZSTD_freeDCtx(p->unpack);
	if (p->data >= 0)
		close(p->data);
	if (p->folder >= 0)
		close(p->folder);
}
