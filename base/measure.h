/* Measures nested parts of a thread's work, each with a name. A thread without a log measures nothing, and reads no clock. */
#ifndef TRIB_BASE_MEASURE_H
#define TRIB_BASE_MEASURE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/usage.h"
#include "base/vec.h"

#define MEASURE_NONE UINT32_MAX

struct measure_cost {
	int64_t wall_ns, cpu_ns, net_bytes, peak_bytes;
	uint64_t calls, allocations, read_bytes, written_bytes, files_read, files_written;
};
/* All spans of one name inside spans of one node. The cost includes that of inner spans; the peak is the highest. */
struct measure_node {
	const char *name;
	uint32_t parent; /* an earlier node, or MEASURE_NONE */
	uint32_t first_child, next;
	struct measure_cost cost;
};
/* One span. Short inner ones are left out of the list, not of the nodes. */
struct measure_event {
	uint32_t node;
	const char *subject; /* NULL: none */
	int64_t start_ns, ns;
	struct measure_cost cost; /* of an outermost span; else 0 */
};
/* A span that has not ended. */
struct measure_open {
	uint32_t node;
	const char *subject;
	int64_t wall_ns, cpu_ns;
	struct usage before;
};
/* Measures one thread at a time. */
struct measure_log {
	int64_t (*wall_ns)(void), (*cpu_ns)(void);
	uint32_t first_root;
	VEC(struct measure_node) nodes;
	VEC(struct measure_event) events;
	VEC(struct measure_open) open; /* innermost last */
};

struct measure_log *measure_log_new(void);
void measure_log_free(struct measure_log *log); /* NULL is accepted */
/* The node of a name inside a parent, added if it is new. */
uint32_t measure_node(struct measure_log *log, uint32_t parent, const char *name);
void measure_add(struct measure_cost *to, const struct measure_cost *c);
/* The calling thread's spans go to `log` (NULL: nowhere) from now on. Returns the log before. */
struct measure_log *measure_attach(struct measure_log *log);

/* `name` outlives the log; `subject`, what is worked on, is copied and may be NULL. Each begin needs an end. */
void measure_open(const char *name, const char *subject);
void measure_close(void);

extern _Thread_local struct measure_log *measure_log_of_thread;
static inline void measure_begin_of(const char *name, const char *subject)
{
	if (measure_log_of_thread)
		measure_open(name, subject);
}
static inline void measure_begin(const char *name) { measure_begin_of(name, NULL); }
static inline void measure_end(void)
{
	if (measure_log_of_thread)
		measure_close();
}
#endif
