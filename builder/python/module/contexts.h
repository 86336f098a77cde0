/* The opened contexts of one library. A model without states has a pool of them, which grows with the calls that run at the same time; a model
 * with states has one. Nothing here needs the GIL. */
#ifndef TRIB_PYTHON_CONTEXTS_H
#define TRIB_PYTHON_CONTEXTS_H
#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>
#include "backend/runtime/abi/tri.h"

struct contexts {
	const tri_model_desc *desc, *code; /* whose functions are called, and what runs: tri_device.desc */
	tri_options options;               /* its texts belong to the caller */
	pthread_mutex_t lock;              /* guards the members below */
	pthread_cond_t returned;           /* a context came back, or the pool was closed */
	struct tri_model **idle;           /* room for `limit` */
	uint32_t n_idle, n_open, limit;
	bool closed;
	bool lost; /* a fork lost the context with the states, or the device */
	pid_t owner;
};

enum take { TAKE_OK, TAKE_NONE, TAKE_CLOSED, TAKE_BUSY, TAKE_LOST, TAKE_FAILED };

/* `limit` is at least 1; a model with states has one context. False: out of memory. */
bool contexts_init(struct contexts *c, const tri_model_desc *desc, const tri_options *options, uint32_t limit);
void contexts_end(struct contexts *c);

/* Takes an idle context. TAKE_NONE: there is none, and contexts_wait opens one or waits. */
enum take contexts_try(struct contexts *c, struct tri_model **out);
/* May take long. TAKE_FAILED: *err says why a context could not be opened. */
enum take contexts_wait(struct contexts *c, struct tri_model **out, tri_error *err);
void contexts_give(struct contexts *c, struct tri_model *model);
/* Closes the idle contexts now, and the others when their runs end. */
void contexts_close(struct contexts *c);
/* Takes all contexts that are open: TAKE_OK, TAKE_CLOSED or TAKE_LOST, or TAKE_BUSY if one is running. The caller gives all back. */
enum take contexts_take_all(struct contexts *c, struct tri_model **out, uint32_t *n);
#endif
