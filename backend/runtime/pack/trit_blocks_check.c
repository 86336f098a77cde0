/* Checks packed trits of trit_blocks.h, once, so that kernels can follow their indices. What a trit is need not be checked: any byte is one. */
#include "backend/runtime/pack/trit_blocks.h"

struct parts {
	const struct tri_blocks *h;
	uint64_t size;
};

/* True if n elements of `bytes` bytes are behind the header. */
static _Bool trit_blocks_check_has(const struct parts *p, uint64_t offset, uint64_t n, uint64_t bytes)
{
	return offset % sizeof(uint32_t) == 0 && offset >= sizeof *p->h && offset <= p->size && n <= (p->size - offset) / bytes;
}

/* True if the panels have parts of 0 … n, one after the other. */
static _Bool are_in_order(const uint32_t *first, uint64_t panels, uint32_t n)
{
	_Bool ok = first[panels] <= n;
	for (uint64_t p = 0; p < panels; p++)
		ok &= first[p] <= first[p + 1];
	return ok;
}

/* True if each index is less than `end` and a multiple of `step`, a power of two. */
static _Bool are_inside(const uint32_t *index, uint32_t n, uint32_t step, uint32_t end)
{
	_Bool ok = 1;
	for (uint32_t i = 0; i < n; i++)
		ok &= index[i] < end && (index[i] & (step - 1)) == 0;
	return ok;
}

_Bool tri_blocks_are_valid(const void *packed, uint64_t size, int64_t K, int64_t N)
{
	const struct tri_blocks *h = packed;
	const struct parts p = {h, size};
	if (K <= 0 || N <= 0)
		return 1;
	if (size < sizeof *h || h->form == TRI_DENSE)
		return size >= sizeof *h;
	if (h->form > TRI_LISTS || K > TRI_BLOCKS_MOST_K || h->rows > K)
		return 0;
	const _Bool lists = h->form == TRI_LISTS;
	const uint64_t width = lists ? TRI_LIST_COLUMNS : TRI_BLOCK_COLUMNS, panels = ((uint64_t)N + width - 1) / width;
	const uint32_t n = lists ? h->steps : h->blocks;
	if (!trit_blocks_check_has(&p, h->first, panels + 1, sizeof(uint32_t)) ||
	    !trit_blocks_check_has(&p, h->starts, panels * width, sizeof(int32_t)) ||
	    !trit_blocks_check_has(&p, h->at, n, sizeof(int32_t)) ||
	    !trit_blocks_check_has(&p, h->data, n, lists ? TRI_LIST_BYTES : TRI_BLOCK_BYTES))
		return 0;
	if (h->kept && (!trit_blocks_check_has(&p, h->kept, h->rows, sizeof(uint32_t)) ||
			!are_inside(tri_blocks_part(h, h->kept), h->rows, 1, (uint32_t)K)))
		return 0;
	return are_in_order(tri_blocks_part(h, h->first), panels, n) &&
	       are_inside(tri_blocks_part(h, h->at), n, lists ? TRI_LIST_CHUNK : TRI_BLOCK_ROWS, h->rows);
}
