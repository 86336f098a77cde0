#include "builder/python/module/contexts.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool contexts_init(struct contexts *c, const tri_model_desc *desc, const tri_options *options, uint32_t limit)
{
	*c = (struct contexts){.desc = desc, .code = desc, .options = *options, .limit = desc->n_states ? 1 : limit, .owner = getpid()};
	c->idle = calloc(c->limit, sizeof *c->idle);
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->returned, NULL);
	return c->idle != NULL;
}

/* In a child made by fork only the idle contexts are usable: the threads that ran the others do not exist here, nor does the one that may have
 * held the lock. Devices do not survive a fork. The thread that forked holds the GIL, and is the only one. */
static void notice_fork(struct contexts *c)
{
	pid_t self = getpid();
	if (c->owner == self)
		return;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->returned, NULL);
	c->owner = self;
	c->lost = c->lost || strcmp(c->code->backend, "cpu") != 0 || (c->desc->n_states && c->n_open > c->n_idle);
	c->n_idle = c->lost ? 0 : c->n_idle;
	c->n_open = c->n_idle;
}

void contexts_end(struct contexts *c)
{
	if (!c->idle)
		return;
	contexts_close(c);
	pthread_cond_destroy(&c->returned);
	pthread_mutex_destroy(&c->lock);
	free(c->idle);
	c->idle = NULL;
}

/* With the lock held. */
static enum take look(struct contexts *c, struct tri_model **out)
{
	if (c->closed)
		return TAKE_CLOSED;
	if (c->lost)
		return TAKE_LOST;
	if (!c->n_idle)
		return c->desc->n_states && c->n_open ? TAKE_BUSY : TAKE_NONE;
	*out = c->idle[--c->n_idle];
	return TAKE_OK;
}

enum take contexts_try(struct contexts *c, struct tri_model **out)
{
	notice_fork(c);
	pthread_mutex_lock(&c->lock);
	enum take got = look(c, out);
	pthread_mutex_unlock(&c->lock);
	return got;
}

/* The place in `n_open` was taken before. */
static enum take open_one(struct contexts *c, struct tri_model **out, tri_error *err)
{
	*out = c->desc->open(&c->options, err);
	if (*out)
		return TAKE_OK;
	pthread_mutex_lock(&c->lock);
	c->n_open--;
	pthread_cond_signal(&c->returned);
	pthread_mutex_unlock(&c->lock);
	return TAKE_FAILED;
}

enum take contexts_wait(struct contexts *c, struct tri_model **out, tri_error *err)
{
	enum take got;
	pthread_mutex_lock(&c->lock);
	while ((got = look(c, out)) == TAKE_NONE && c->n_open == c->limit)
		pthread_cond_wait(&c->returned, &c->lock);
	bool opens = got == TAKE_NONE;
	c->n_open += opens;
	pthread_mutex_unlock(&c->lock);
	return opens ? open_one(c, out, err) : got;
}

void contexts_give(struct contexts *c, struct tri_model *model)
{
	pthread_mutex_lock(&c->lock);
	bool closed = c->closed;
	if (closed)
		c->n_open--;
	else
		c->idle[c->n_idle++] = model;
	pthread_cond_signal(&c->returned);
	pthread_mutex_unlock(&c->lock);
	if (closed)
		c->desc->close(model);
}

void contexts_close(struct contexts *c)
{
	notice_fork(c);
	pthread_mutex_lock(&c->lock);
	c->closed = true;
	uint32_t n = c->n_idle;
	c->n_idle = 0;
	c->n_open -= n;
	pthread_cond_broadcast(&c->returned);
	pthread_mutex_unlock(&c->lock);
	for (uint32_t i = 0; i < n; i++)
		c->desc->close(c->idle[i]);
}

enum take contexts_take_all(struct contexts *c, struct tri_model **out, uint32_t *n)
{
	notice_fork(c);
	pthread_mutex_lock(&c->lock);
	enum take got = c->closed ? TAKE_CLOSED : c->lost ? TAKE_LOST : c->n_idle < c->n_open ? TAKE_BUSY : TAKE_OK;
	*n = got == TAKE_OK ? c->n_idle : 0;
	for (uint32_t i = 0; i < *n; i++)
		out[i] = c->idle[i];
	c->n_idle -= *n;
	pthread_mutex_unlock(&c->lock);
	return got;
}
