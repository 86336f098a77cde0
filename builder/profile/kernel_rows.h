/* The statements and kernels of a run, beside what the machine can do. */
#ifndef TRIB_BUILDER_PROFILE_KERNEL_ROWS_H
#define TRIB_BUILDER_PROFILE_KERNEL_ROWS_H
#include "builder/profile/profile.h"

/* The ceilings of a machine, per second; 0: not measured. read_bytes: reading memory beyond the caches. copy_bytes: copying, bytes read and written.
 * float_ops: multiplications and additions of float32 in registers, fused. int8_ops: those of int8 in dot products. CEILING(name in files, facts and JSON) */
#define KERNEL_CEILINGS(CEILING) CEILING(read_bytes) CEILING(copy_bytes) CEILING(float_ops) CEILING(int8_ops)
struct ceilings {
#define CEILING(name) double name;
	KERNEL_CEILINGS(CEILING)
#undef CEILING
};
/* Facts of a profile. */
void kernel_add_ceilings(struct profile *p, const struct ceilings *c);
/* Returns the ceilings, where a statement that exceeded one of arithmetic raises it to its own rate. Ignores statements that are too short for the clock. */
struct ceilings kernel_raised_ceilings(const struct profile *p);
struct ceilings kernel_ceilings(const struct profile *p);

enum kernel_class { KERNEL_MEMORY, KERNEL_MIXED, KERNEL_COMPUTE };
struct kernel_row {
	uint32_t item;                /* of the profile: a statement or a kernel */
	double ns, bytes, operations; /* without those of its children */
	bool is_short;                /* its calls are shorter than kernel_shortest */
	double intensity;             /* operations a byte */
	enum kernel_class class;
	bool has_ceilings; /* the profile has them */
	bool by_memory;    /* memory limits it, not arithmetic */
	bool in_caches;    /* it moves data faster than memory does: only arithmetic limits it */
	double attainable; /* operations a second at this intensity */
	double share;      /* of it, or of the memory rate if there are no operations; 0: unknown */
};

struct kernel_row kernel_row(const struct profile *p, uint32_t item);
/* Returns the statements and kernels, the longest first. Allocated in `a`. */
struct kernel_row *kernel_rows(struct arena *a, const struct profile *p, uint32_t *n);
extern const char *const kernel_classes[];
/* The shortest time of a call, in ns, that can be separated from the clock; 0: unknown. */
double kernel_shortest(const struct profile *p);
/* Returns the duration of a run in ns: the sum of its statements and of the time outside of them. It is the median run without the profile hook if
 * run_profile_remove_hook scaled the statements to that; otherwise, as on devices, the mean run with the hook. */
double kernel_whole(const struct profile *p);
/* A sentence on what limits the row; "" without ceilings. */
const char *kernel_verdict(struct arena *a, const struct profile *p, const struct kernel_row *r);
#endif
