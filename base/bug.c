#include "base/bug.h"
#include <stdio.h>
#include <stdlib.h>

_Noreturn void bug_at(const char *file, int line, const char *what)
{
	fflush(NULL);
	fprintf(stderr, "trib: internal error at %s:%d: %s\n", file, line, what);
	abort();
}

_Noreturn void bug_no_memory(void)
{
	fputs("trib: out of memory\n", stderr);
	abort();
}

void *alloc_zeroed(size_t size)
{
	void *p = calloc(1, size);
	if (!p)
		bug_no_memory();
	return p;
}
