#include "base/huge_alloc.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "base/bug.h"

#define HUGE_PAGE ((size_t)2 << 20)

void *huge_alloc(size_t bytes)
{
	if (bytes < 2 * HUGE_PAGE)
		return malloc(bytes ? bytes : 1);
	if (bytes > SIZE_MAX / 2)
		return NULL;
	bytes = (bytes + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
	void *new = aligned_alloc(HUGE_PAGE, bytes);
#if defined(MADV_HUGEPAGE)
	if (new)
		(void)madvise(new, bytes, MADV_HUGEPAGE); /* failure costs only speed */
#endif
	return new;
}

void *huge_grow(void *at, size_t used, size_t bytes)
{
	void *new = huge_alloc(bytes);
	if (!new)
		bug_no_memory();
	if (used)
		memcpy(new, at, used);
	free(at);
	return new;
}
