/* Damage inside a mapped store can end in SIGBUS or SIGSEGV, deep in code that trusts its pages. The guard moves such a store away and starts the
 * process again, which then builds without it. Where other files are mapped, SIGBUS means that somebody cut one; then the process says so and ends. */
#ifndef TRIB_BUILDER_STORE_CRASH_GUARD_H
#define TRIB_BUILDER_STORE_CRASH_GUARD_H

/* Once, first in main; argv must stay as it is. Without it the guard does nothing. */
void crash_guard_install(char **argv);
/* From now on a fault ends the process, and what is damaged stays where it is: another process meets it, too, and knows what to do. */
void crash_guard_exit_on_fault(void);
/* Between these the calling thread works inside the store in folder `dir`. They do not nest. */
void crash_guard_enter(const char *dir);
void crash_guard_leave(void);
/* For at most that many seconds; 0: no longer. Damage can also be a loop without end. One thread at a time. */
void crash_guard_set_timeout(unsigned seconds);
/* What the guarded code calls when it finds the damage itself. Does not return, unless nothing is guarded. */
void crash_guard_report_damage(void);
#endif
