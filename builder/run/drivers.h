/* OpenCL drivers in a process of their own: they may crash, and LLVM, which many of them contain, replaces the signal handlers that would say so. */
#ifndef TRIB_BUILDER_RUN_DRIVERS_H
#define TRIB_BUILDER_RUN_DRIVERS_H

struct arena;
struct gpu_answer;

/* Asks the drivers for their devices. *died: NULL, or says that a driver crashed, and which; devices of drivers that were asked before are in the
 * answer. Allocated in `a`. */
const struct gpu_answer *drivers_ask(struct arena *a, const char **died);
/* Runs `work` in a child, with the open files of this process, and returns what it returns. *died: NULL, or the signal of its crash, as in
 * "SIGABRT". This process ends as the child does if no crash ended it: by SIGPIPE, say. Called while there is only one thread. */
int drivers_run(int (*work)(void *ctx), void *ctx, const char **died);
/* From now on a child is this process, if `device` is one of OpenCL. The process itself waits, passes signals on, says which driver crashed, and
 * ends as the child did. Called while there is only one thread. */
void drivers_supervise(const char *device);
#endif
