/* Runs a program to its end and measures the process. */
#ifndef TRIB_BUILDER_PROFILE_PROCESS_H
#define TRIB_BUILDER_PROFILE_PROCESS_H
#include <stdbool.h>
#include <stdint.h>

struct buf;

struct process_request {
	const char *const *argv;      /* argv[0] is a path or is looked up in PATH */
	const char *const *variables; /* "NAME=value", in place of those of this process; NULL-terminated; may be NULL */
	bool count_instructions;
	bool watch_memory; /* costs time of another processor */
};
struct process_cost {
	int64_t wall_ns, cpu_ns;
	int64_t others_ns; /* CPU time of all other processes of the machine meanwhile, in ticks of some milliseconds */
	uint64_t peak_bytes;
	uint64_t private_dirty_bytes; /* the most of samples, each some milliseconds after the last one; 0: not watched */
	double instructions;          /* in user mode; 0: not counted */
	int status;                   /* the exit code, or 128 + the signal */
};
/* The standard output is dropped; the standard error goes to `messages`. False: it could not be started, or an interrupt arrived, after which
 * it was ended; *messages says why. */
bool process_run(const struct process_request *r, struct process_cost *out, struct buf *messages);
/* True if the kernel lets this process count the instructions of its children. */
bool process_can_count_instructions(void);
/* The path of the running executable, malloc'd; NULL: errno. */
char *process_own_path(void);

/* Returns the processor time of the workload, the least of several runs: some 15 ms in all. Arithmetic, and memory in the L2 cache. */
int64_t calibrate_ns(void);
#endif
