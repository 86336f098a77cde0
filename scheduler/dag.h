/* A graph of tasks: readiness is a counter of unfinished inputs per task. Single-threaded: the owner asks for ready tasks, runs them how it
 * likes, and reports each end. Knows nothing of files or tensors. */
#ifndef TRIB_SCHEDULER_DAG_H
#define TRIB_SCHEDULER_DAG_H
#include <stdbool.h>
#include <stdint.h>

struct dag;
typedef uint32_t task_id;
#define TASK_NONE UINT32_MAX

struct dag *dag_new(void);
void dag_free(struct dag *d); /* NULL is accepted */
/* `cost`: expected nanoseconds, for the critical path. */
task_id dag_add(struct dag *d, void *payload, uint64_t cost);
/* `task` starts only after `input` succeeded. Both must exist; before dag_start. */
void dag_need(struct dag *d, task_id task, task_id input);
/* Finds cycles and computes critical-path priorities. False: a cycle; its tasks in order into *cycle (owned by d), n in *n. */
bool dag_start(struct dag *d, const task_id **cycle, uint32_t *n);
/* The ready task with the longest way to the end (ties: lowest id), or TASK_NONE. */
task_id dag_next(struct dag *d);
/* Success makes waiting tasks ready; failure marks everything that needs it as skipped. */
void dag_done(struct dag *d, task_id t, bool ok);
void *dag_payload(const struct dag *d, task_id t);
bool dag_skipped(const struct dag *d, task_id t);
uint32_t dag_remaining(const struct dag *d); /* neither done, failed nor skipped */
uint32_t dag_count(const struct dag *d);
#endif
