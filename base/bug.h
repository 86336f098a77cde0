/* Bugs of trib: prints the place and aborts. Never used for errors of the user or of the system. */
#ifndef TRIB_BASE_BUG_H
#define TRIB_BASE_BUG_H
#include <stddef.h>

_Noreturn void bug_at(const char *file, int line, const char *what);
/* The only error of the system that is not a diagnostic. */
_Noreturn void bug_no_memory(void);
/* Returns zeroed memory, which the caller frees. Never NULL. */
void *alloc_zeroed(size_t size);
#define BUG(what) bug_at(__FILE__, __LINE__, (what))
#define BUG_ON(cond)                \
	do {                        \
		if (cond)           \
			BUG(#cond); \
	} while (0)
#endif
