/* What a process takes from where it was started: who it is, what it may do, which trib it is. Two processes with the same surroundings build alike. */
#ifndef TRIB_BUILDER_SERVE_SURROUNDINGS_H
#define TRIB_BUILDER_SERVE_SURROUNDINGS_H
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include "base/hash.h"
#include "base/os.h"

struct program {
	struct file_stamp trib, codegen; /* the files that run; zero: none */
};
/* Bytes decide whether two are the same: everything is filled in, with no padding. */
struct surroundings {
	struct program program;
	uint64_t device, folder; /* the current folder */
	uint64_t root[2];        /* device and inode of / */
	uint64_t spaces[2];      /* the namespaces of mounts and of users; 0: unknown */
	uint64_t uid, gid, umask, nice;
	struct rlimit limits[RLIM_NLIMITS];
	cpu_set_t cpus;
	hash128 variables; /* of the environment: those that libraries read once */
};

/* Of this process, in its current folder. */
void surroundings_look(struct surroundings *s);
bool surroundings_same(const struct surroundings *a, const struct surroundings *b);
bool program_same(const struct program *a, const struct program *b);
#endif
