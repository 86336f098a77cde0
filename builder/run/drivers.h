/* Runs OpenCL drivers in a child process, since they may crash. Many contain LLVM, which replaces the signal handlers that would report a crash. */
#ifndef TRIB_BUILDER_RUN_DRIVERS_H
#define TRIB_BUILDER_RUN_DRIVERS_H

struct arena;
struct gpu_answer;

/* Asks the drivers for their devices. If a driver crashed, *died is a sentence that names it, and the answer has the devices of the drivers before it;
 * otherwise *died is NULL. Allocated in `a`. */
const struct gpu_answer *drivers_ask(struct arena *a, const char **died);
/* Runs `work` in a child process, which inherits the open files, and returns its result. If the child crashed, *died is the name of the signal, such as
 * "SIGABRT"; otherwise it is NULL. If another signal ended the child, such as SIGPIPE, the same signal ends this process. Call it before a second thread
 * is started. */
int drivers_run(int (*work)(void *ctx), void *ctx, const char **died);
/* If `device` is an OpenCL device, starts a child process, in which the command goes on. This process passes signals on to it, names the driver if one
 * crashed, and ends with the exit status or signal of the child. Call it before a second thread is started. */
void drivers_supervise(const char *device);
#endif
