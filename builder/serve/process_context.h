/* What a build depends on besides its inputs: executable, folder, user, limits, CPUs, variables. In equal contexts, builds are equal. */
#ifndef TRIB_BUILDER_SERVE_PROCESS_CONTEXT_H
#define TRIB_BUILDER_SERVE_PROCESS_CONTEXT_H
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include "base/hash.h"
#include "base/os.h"

struct program {
	struct file_stamp trib, codegen; /* the running files; zero: none */
};
/* Compared byte by byte: every member is set, and there is no padding. */
struct process_context {
	struct program program;
	uint64_t device, folder; /* the current folder */
	uint64_t root[2];        /* device and inode of / */
	uint64_t namespaces[2];  /* the namespaces of mounts and of users; 0: unknown */
	uint64_t uid, gid, umask, nice;
	struct rlimit limits[RLIM_NLIMITS];
	cpu_set_t cpus;
	hash128 variables; /* environment variables that libraries read once */
};

/* Reads the context of this process in its current folder. */
void process_context_read(struct process_context *s);
bool process_context_eq(const struct process_context *a, const struct process_context *b);
bool program_eq(const struct program *a, const struct program *b);
#endif
