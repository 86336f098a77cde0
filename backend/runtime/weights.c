/* Maps weight files, which are not trusted: a size, an offset or an index that the library does not expect is an error. Damage elsewhere changes
 * numbers; digests find it, if they are wanted. */
#include "backend/runtime/weights.h"
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#define XXH_INLINE_ALL /* a library contains it */
#include <xxhash.h>
#include "backend/runtime/beside.h"
#include "backend/runtime/model.h"
#include "backend/runtime/pack/trit_blocks.h"
#include "backend/runtime/abi/triw.h"
#include "backend/runtime/abi/unit.h"

static int map(const char *path, struct tri_mapped *out, tri_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	off_t size = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
	void *bytes = size > 0 ? mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
	if (fd >= 0)
		close(fd);
	if (bytes == MAP_FAILED)
		return tri_error_set(err, TRI_ERR_WEIGHTS,
				     "cannot read the weights `%.150s`: copy them beside the library, or give the path in tri_options",
				     path);
#if defined(MADV_HUGEPAGE)
	(void)madvise(bytes, (size_t)size,
		      MADV_HUGEPAGE); /* pages that are not in memory yet are read as huge ones; all models share them */
#endif
	out->bytes = bytes;
	out->size = (size_t)size;
	return TRI_OK;
}

static const struct triw_entry *table_of(const struct tri_mapped *m) { return (const void *)(m->bytes + sizeof(struct triw_header)); }

static bool is_valid_entry(const struct triw_entry *e, uint64_t want, uint64_t size)
{
	return e->size == want && e->offset % TRIW_ALIGN == 0 && e->offset <= size && e->size <= size - e->offset;
}

/* NULL if the file is complete and is the one that the library was linked with. Otherwise says what is wrong. */
static const char *weights_check_header(const struct tri_weights *w, const struct tri_mapped *m)
{
	const struct triw_header *h = (const void *)m->bytes;
	if (m->size < sizeof *h || memcmp(h->magic, TRIW_MAGIC, sizeof h->magic) != 0)
		return "is no weight file";
	if (h->version != TRIW_VERSION || memcmp(h->digest, w->digest, sizeof h->digest) != 0 || h->n_entries != w->n_blobs)
		return "belongs to another build than this library";
	if (m->size != w->size || h->size != w->size || w->n_blobs > (m->size - sizeof *h) / sizeof(struct triw_entry))
		return "is not complete";
	if (triw_check(h, table_of(m)) != h->check)
		return "has a damaged header";
	for (uint32_t i = 0; i < w->n_blobs; i++)
		if (!is_valid_entry(&table_of(m)[i], w->blobs[i].size, m->size))
			return "has a damaged header";
	return NULL;
}

/* ---- the content, in parallel ---- */

struct piece { /* a chunk of a blob */
	const char *at;
	size_t size;
	XXH128_hash_t digest;
};
struct content {
	const struct tri_weights *w;
	const struct tri_mapped *m;
	struct piece *pieces;
	_Atomic bool invalid;
};

static void check_indices(void *arg, int64_t i)
{
	struct content *c = arg;
	const struct tri_blob *b = &c->w->blobs[i];
	if (b->K > 0 && !tri_blocks_are_valid(c->m->bytes + table_of(c->m)[i].offset, b->size, b->K, b->N))
		c->invalid = true;
}

static void weights_hash_piece(void *arg, int64_t i)
{
	struct piece *p = &((struct content *)arg)->pieces[i];
	p->digest = XXH3_128bits(p->at, p->size);
}

static uint64_t list_pieces(struct content *c)
{
	struct piece *next = c->pieces;
	uint64_t n = 0;
	for (uint32_t i = 0; i < c->w->n_blobs; i++) {
		const struct triw_entry *e = &table_of(c->m)[i];
		n += triw_chunks(e->size);
		for (uint64_t at = 0; at < e->size && next; at += TRIW_CHUNK)
			*next++ = (struct piece){.at = c->m->bytes + e->offset + at,
						 .size = e->size - at < TRIW_CHUNK ? e->size - at : TRIW_CHUNK};
	}
	return n;
}

static bool are_digests_right(const struct content *c)
{
	const struct piece *next = c->pieces;
	for (uint32_t i = 0; i < c->w->n_blobs; i++) {
		const struct triw_entry *e = &table_of(c->m)[i];
		XXH3_state_t state;
		XXH3_INITSTATE(&state);
		XXH3_128bits_reset(&state);
		for (uint64_t k = 0; k < triw_chunks(e->size); k++, next++)
			XXH3_128bits_update(&state, &next->digest, sizeof next->digest);
		XXH128_hash_t all = XXH3_128bits_digest(&state);
		if (e->size && memcmp(&all, e->digest, sizeof all) != 0)
			return false;
	}
	return true;
}

/* Sets *why unless all bytes are those that were written. False: out of memory. */
static bool weights_verify(struct content *c, struct tri_context *ctx, const char **why)
{
	uint64_t n = list_pieces(c);
	c->pieces = malloc((n + 1) * sizeof *c->pieces);
	if (!c->pieces)
		return false;
	list_pieces(c);
	tri_parallel(ctx, weights_hash_piece, c, (int64_t)n);
	if (!are_digests_right(c))
		*why = "has damaged data";
	free(c->pieces);
	return true;
}

/* Sets *why if the library cannot use the file. False: out of memory. */
static bool weights_check(const struct tri_weights *w, struct tri_context *ctx, bool all, const struct tri_mapped *m, const char **why)
{
	struct content c = {.w = w, .m = m};
	if ((*why = weights_check_header(w, m)))
		return true;
	tri_parallel(ctx, check_indices, &c, w->n_blobs);
	if (c.invalid)
		*why = "has damaged indices";
	return *why || !all || weights_verify(&c, ctx, why);
}

static bool fill_tables(const struct tri_weights *w, struct tri_mapped *m)
{
	const struct triw_entry *table = table_of(m);
	uint32_t n = w->tables[w->n_tables];
	m->slots = malloc(((size_t)n + 1) * sizeof *m->slots);
	if (!m->slots)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = w->slots[i] & ~TRI_SLOT_TABLE;
		m->slots[i] = w->slots[i] & TRI_SLOT_TABLE ? (const void *)(m->slots + w->tables[at]) : m->bytes + table[at].offset;
	}
	return true;
}

int tri_weights_open(const struct tri_weights *w, struct tri_context *ctx, const struct tri_weights_request *r, struct tri_mapped *out,
		     tri_error *err)
{
	char beside[TRI_LONGEST_PATH];
	const char *path = r->path, *why = NULL;
	if (!path && !tri_beside_library(w, w->file, beside))
		return tri_error_set(err, TRI_ERR_WEIGHTS, "the path of the library is too long");
	path = path ? path : beside;
	int status = map(path, out, err);
	if (status != TRI_OK)
		return status;
	if (!weights_check(w, ctx, r->verify, out, &why) || (!why && !fill_tables(w, out)))
		status = tri_error_set(err, TRI_ERR_MEMORY, "out of memory");
	else if (why)
		status = tri_error_set(err, TRI_ERR_WEIGHTS,
				       "the weights `%.120s` cannot be used: the file %s; copy it again, or remove it and build again",
				       path, why);
	if (status != TRI_OK)
		tri_weights_close(out);
	return status;
}

void tri_weights_close(struct tri_mapped *m)
{
	if (m->bytes)
		munmap((void *)(uintptr_t)m->bytes, m->size);
	free(m->slots);
	*m = (struct tri_mapped){0};
}
