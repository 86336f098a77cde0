/* Maps weight files, which are not trusted: a size, an offset or a digest that the library does not expect is an error. */
#include "weights.h"
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "beside.h"
#include "model.h"
#include "triw.h"

static int map(const char *path, struct tri_mapped *out, tri_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
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

static bool is_valid_entry(const struct triw_entry *e, uint64_t want, uint64_t size)
{
	return e->size == want && e->offset % TRIW_ALIGN == 0 && e->offset <= size && e->size <= size - e->offset;
}

/* True if the file is complete and is the one that the library was linked with. */
static bool is_linked_file(const struct tri_weights *w, const struct tri_mapped *m)
{
	const struct triw_header *h = (const void *)m->bytes;
	if (m->size != w->size || m->size < sizeof *h || memcmp(h->magic, TRIW_MAGIC, sizeof h->magic) != 0 || h->version != TRIW_VERSION)
		return false;
	if (h->size != w->size || h->n_entries != w->n_blobs || memcmp(h->digest, w->digest, sizeof h->digest) != 0)
		return false;
	if (w->n_blobs > (m->size - sizeof *h) / sizeof(struct triw_entry))
		return false;
	const struct triw_entry *table = (const void *)(h + 1);
	if (triw_check(h, table) != h->check)
		return false;
	for (uint32_t i = 0; i < w->n_blobs; i++)
		if (!is_valid_entry(&table[i], w->sizes[i], m->size))
			return false;
	return true;
}

static bool fill_tables(const struct tri_weights *w, struct tri_mapped *m)
{
	const struct triw_entry *table = (const void *)(m->bytes + sizeof(struct triw_header));
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

int tri_weights_open(const struct tri_weights *w, const char *path, struct tri_mapped *out, tri_error *err)
{
	char beside[TRI_LONGEST_PATH];
	if (!path && !tri_beside_library(w, w->file, beside))
		return tri_error_set(err, TRI_ERR_WEIGHTS, "the path of the library is too long");
	path = path ? path : beside;
	int status = map(path, out, err);
	if (status != TRI_OK)
		return status;
	if (!is_linked_file(w, out))
		status = tri_error_set(err, TRI_ERR_WEIGHTS,
				       "`%.120s` is damaged or of another build than this library: build again, or copy both files", path);
	else if (!fill_tables(w, out))
		status = tri_error_set(err, TRI_ERR_MEMORY, "out of memory");
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
