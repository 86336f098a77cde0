#include "base/vec.h"
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/usage.h"

#ifdef __SANITIZE_ADDRESS__ /* elements move often, so that the sanitizer finds pointers to elements that have moved */
#define LEAST_ROOM 1
#define MORE(cap) ((cap) / 8)
#else
#define LEAST_ROOM 8
#define MORE(cap) (cap)
#endif

void vec_grow_raw(void **at, uint32_t *cap, uint32_t need, size_t elem_size)
{
	uint32_t n = *cap > UINT32_MAX / 2 ? UINT32_MAX : *cap + MORE(*cap);
	void *p;

	BUG_ON(need <= *cap); /* also if len + 1 wrapped to 0 */
	if (n < LEAST_ROOM)
		n = LEAST_ROOM;
	if (n < need)
		n = need;
	memcpy(&p, at, sizeof p); /* *at is a T *, so its bytes are copied instead of read as a void * */
	p = n > SIZE_MAX / elem_size ? NULL : realloc(p, n * elem_size);
	if (!p)
		bug_no_memory();
	memcpy(at, &p, sizeof p);
	usage_of_thread.allocations++;
	*cap = n;
}

void vec_free_raw(void *at) { free(at); }
