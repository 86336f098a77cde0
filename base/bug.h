/* Our own mistakes: print where and abort. Never used for the user's or the world's faults. */
#ifndef TRIB_BASE_BUG_H
#define TRIB_BASE_BUG_H

_Noreturn void bug_at(const char *file, int line, const char *what);
/* The one fault of the world that is not reported as a diagnostic. */
_Noreturn void bug_no_memory(void);
#define BUG(what) bug_at(__FILE__, __LINE__, (what))
#define BUG_ON(cond)                \
	do {                        \
		if (cond)           \
			BUG(#cond); \
	} while (0)
#endif
