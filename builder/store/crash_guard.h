/* Damage in a mapped store can cause SIGBUS or SIGSEGV inside LMDB. The guard moves such a store away and starts the process again,
 * which then builds without it. SIGBUS in other mapped files means that one was truncated; then the process says so and ends. Any other
 * crash ends the process by its signal. If code of others runs, a model's library or a driver, a line names it first. */
#ifndef TRIB_BUILDER_STORE_CRASH_GUARD_H
#define TRIB_BUILDER_STORE_CRASH_GUARD_H

#include <stdbool.h>

/* Called once, first in main; argv must not change. Without it the guard does nothing. */
void crash_guard_install(char **argv);
/* From now on a fault ends the process and leaves the damaged store in place. Another process will handle it. */
void crash_guard_exit_on_fault(void);
enum {
	CRASH_GUARD_NO_LIMIT = 0, /* for closing, and for work on all values */
	CRASH_GUARD_READ = 2,     /* for opening and look-ups */
	CRASH_GUARD_WRITE = 20    /* for transactions */
};
/* The calling thread uses the store in folder `dir` between these. They do not nest. Treats it as damage if the thread computes for more than
 * `seconds` meanwhile, because damage can cause an endless loop; waiting for locks or disks does not count. 0: no limit. */
void crash_guard_enter(const char *dir, unsigned seconds);
void crash_guard_leave(void);
/* From now on code of others runs, which `whose` names: it must outlive that code. NULL: no longer. Returns the name before. */
const char *crash_guard_set_foreign(const char *whose);
/* Sets *named, which is shared with a process that waits for this one, when the guard has named code of others. */
void crash_guard_share(volatile bool *named);
/* Called by guarded code that finds damage. Does not return if the thread is inside a store. */
void crash_guard_report_damage(void);
#endif
