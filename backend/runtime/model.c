/* An opened model: its threads, its scratch memory, its mapped weights. */
#include "model.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "claim.h"
#include "collect.h"
#include "context.h"
#include "cpu.h"
#include "origins.h"
#include "states.h"

enum { SCRATCH_ALIGN = 64, MAX_DIMS = 64 };

struct tri_model {
	tri_claim claim;
	struct tri_context ctx;
	const tri_model_desc *desc;
	void **bufs;   /* for the entry with most tensors */
	int64_t *dims; /* MAX_DIMS */
	char *scratch;
	int64_t scratch_size;
	struct tri_mapped outside;
	struct tri_states *states;       /* NULL: none */
	struct tri_collector *collector; /* NULL: built without `profile = true` */
};

static uint32_t wanted_threads(const tri_options *opt)
{
	return opt && opt->size >= offsetof(tri_options, threads) + sizeof opt->threads ? opt->threads : 0;
}

static const char *wanted_weights(const tri_options *opt)
{
	return opt && opt->size >= offsetof(tri_options, weights) + sizeof opt->weights ? opt->weights : NULL;
}

static const struct tri_profiling *profiling(const tri_model_desc *desc) { return desc->profiling; }

static bool wants_verification(const tri_options *opt)
{
	return opt && opt->size >= offsetof(tri_options, verify) + sizeof opt->verify && opt->verify;
}

/* Statements report to the collector, if there is one. False: out of memory. */
static bool open_collector(struct tri_model *m, const tri_options *opt, const tri_model_desc *desc)
{
	const struct tri_profiling *wanted = tri_wanted_profiling(desc, opt);
	m->collector = wanted ? wanted->open(desc, opt) : NULL;
	if (m->collector) {
		m->ctx.profile = profiling(desc)->event;
		m->ctx.profile_user = m->collector;
	}
	return m->collector || !wanted;
}

struct tri_model *tri_model_open(const tri_options *opt, tri_error *err, const tri_model_desc *desc)
{
	const char *lacks = tri_cpu_lacks(desc->target);
	if (lacks) {
		tri_error_set(err, TRI_ERR_DEVICE, "this library needs %s, but this processor has no %s: build it with a lower `cpu`",
			      desc->target, lacks);
		return NULL;
	}
	size_t most = 1;
	for (uint32_t i = 0; i < desc->n_entries; i++) {
		tri_entry_desc e = tri_states_entry(&desc->entries[i]);
		size_t n = (size_t)e.n_inputs + (size_t)e.n_outputs;
		most = n > most ? n : most;
		if (desc->entries[i].n_dims > MAX_DIMS) {
			tri_error_set(err, TRI_ERR_ARGUMENT, "entry %s has more than %d dynamic dimensions", desc->entries[i].name,
				      MAX_DIMS);
			return NULL;
		}
	}
	struct tri_model *m = malloc(sizeof *m + MAX_DIMS * sizeof *m->dims + most * sizeof *m->bufs);
	if (!m) {
		tri_error_set(err, TRI_ERR_MEMORY, "out of memory");
		return NULL;
	}
	if (!tri_context_init(&m->ctx, wanted_threads(opt))) {
		tri_error_set(err, TRI_ERR_MEMORY, "out of memory");
		free(m);
		return NULL;
	}
	const struct tri_weights *outside = desc->n_entries ? ((const struct tri_entry_code *)desc->entries[0].code)->outside : NULL;
	m->outside = (struct tri_mapped){0};
	const struct tri_weights_request request = {wanted_weights(opt), wants_verification(opt)};
	if (outside && tri_weights_open(outside, &m->ctx, &request, &m->outside, err) != TRI_OK) {
		tri_context_end(&m->ctx);
		free(m);
		return NULL;
	}
	m->states = NULL;
	bool ok = open_collector(m, opt, desc) || tri_error_set(err, TRI_ERR_MEMORY, "out of memory") == TRI_OK;
	if (!ok || tri_states_open(desc, opt, &m->states, err) != TRI_OK) {
		if (m->collector)
			profiling(desc)->close(m->collector);
		tri_weights_close(&m->outside);
		tri_context_end(&m->ctx);
		free(m);
		return NULL;
	}
	atomic_init(&m->claim, 0);
	m->desc = desc;
	m->dims = (int64_t *)(m + 1);
	m->bufs = (void **)(m->dims + MAX_DIMS);
	m->scratch = NULL;
	m->scratch_size = 0;
	if (err)
		memset(err, 0, sizeof *err);
	return m;
}

static bool grow_scratch(struct tri_model *m, int64_t size)
{
	if (size <= m->scratch_size)
		return true;
	free(m->scratch);
	m->scratch_size = 0;
	m->scratch = NULL;
	if (size > INT64_MAX - SCRATCH_ALIGN)
		return false;
	size = (size + SCRATCH_ALIGN - 1) / SCRATCH_ALIGN * SCRATCH_ALIGN;
	m->scratch = aligned_alloc(SCRATCH_ALIGN, (size_t)size);
	m->scratch_size = m->scratch ? size : 0;
	return m->scratch != NULL;
}

static int run_status(const struct tri_model *m, const tri_entry_desc *e, tri_error *err)
{
	const struct tri_context *ctx = &m->ctx;
	char line[TRI_LINE];
	if (!ctx->failed)
		return TRI_OK;
	int code = ctx->fail_code ? ctx->fail_code : TRI_ERR_RANGE;
	if (code == TRI_ERR_ASSERT || code == TRI_ERR_COMPILE)
		return tri_error_set(err, code, "%s", ctx->fail_text);
	if (code == TRI_ERR_SHAPE)
		return tri_error_sizes(err, tri_place_line(m->desc, (uint64_t)ctx->fail_bound, line), e, ctx->fail_value, m->dims);
	if (ctx->fail_bound > 0)
		return tri_error_index(err, m->desc, ctx->fail_value, ctx->fail_bound, ctx->fail_place);
	return tri_error_set(err, code, "a value is out of range: %lld", (long long)ctx->fail_value);
}

static int run(struct tri_model *m, const tri_entry_desc *e, const tri_tensor *io, tri_error *err)
{
	const struct tri_entry_code *code = e->code;
	int status = tri_states_begin(m->states, e, io, m->dims, &io, err);
	if (status != TRI_OK)
		return status;
	int64_t scratch = code->scratch ? code->scratch(m->dims) : 0;
	if (scratch == TRI_TOO_LARGE)
		return tri_error_set(err, TRI_ERR_MEMORY, TRI_HUGE);
	if (scratch < 0)
		return tri_error_sizes(err, "", e, TRI_SIZE_ERROR_EXTENT, m->dims);
	if (!grow_scratch(m, scratch))
		return tri_error_set(err, TRI_ERR_MEMORY, "out of memory for the intermediate tensors");
	for (int32_t i = 0; i < e->n_inputs + e->n_states_in + e->n_outputs + e->n_states_out; i++)
		m->bufs[i] = io[i].data;
	tri_context_begin(&m->ctx);
	const void *const *table = code->outside ? m->outside.slots + code->outside->tables[code->outside_table] : code->table;
	code->unit(&m->ctx, m->bufs, table, m->dims, m->scratch);
	status = run_status(m, e, err);
	if (status == TRI_OK)
		tri_states_commit(m->states, e);
	if (status == TRI_OK && err)
		err->code = TRI_OK, err->message[0] = 0;
	return status;
}

static void release(struct tri_model *m)
{
	tri_context_end(&m->ctx);
	tri_weights_close(&m->outside);
	tri_states_close(m->states);
	if (m->collector)
		profiling(m->desc)->close(m->collector);
	free(m->scratch);
	free(m);
}

static int no_model(tri_error *err) { return tri_error_set(err, TRI_ERR_ARGUMENT, "the model is NULL"); }

int tri_model_run(struct tri_model *m, uint32_t entry, tri_tensor *io, tri_error *err)
{
	if (!m)
		return no_model(err);
	if (entry >= m->desc->n_entries)
		return tri_error_set(err, TRI_ERR_ARGUMENT, "there is no entry %u: the model has %u", (unsigned)entry,
				     (unsigned)m->desc->n_entries);
	int status = tri_claim_begin(&m->claim, err);
	if (status != TRI_OK)
		return status;
	if (m->collector)
		profiling(m->desc)->begin_run(m->collector);
	status = run(m, &m->desc->entries[entry], io, err);
	if (m->collector)
		profiling(m->desc)->end_run(m->collector, status == TRI_OK, (uint64_t)m->scratch_size, &m->ctx.clock);
	if (tri_claim_end(&m->claim))
		release(m);
	return status;
}

static int end_call(struct tri_model *m, int status, tri_error *err)
{
	if (status == TRI_OK && err)
		err->code = TRI_OK, err->message[0] = 0;
	if (tri_claim_end(&m->claim))
		release(m);
	return status;
}

int tri_model_reset(struct tri_model *m, tri_error *err)
{
	int status = m ? tri_claim_begin(&m->claim, err) : no_model(err);
	if (status != TRI_OK)
		return status;
	tri_states_reset(m->states);
	return end_call(m, TRI_OK, err);
}

int tri_model_state_save(struct tri_model *m, void *to, uint64_t *size, tri_error *err)
{
	int status = m ? tri_claim_begin(&m->claim, err) : no_model(err);
	return status == TRI_OK ? end_call(m, tri_states_save(m->states, to, size, err), err) : status;
}

int tri_model_state_load(struct tri_model *m, const void *from, uint64_t size, tri_error *err)
{
	int status = m ? tri_claim_begin(&m->claim, err) : no_model(err);
	return status == TRI_OK ? end_call(m, tri_states_load(m->states, from, size, err), err) : status;
}

const tri_profile *tri_model_profile(struct tri_model *m, tri_error *err)
{
	const tri_profile *p = NULL;
	if ((m ? tri_claim_begin(&m->claim, err) : no_model(err)) == TRI_OK)
		end_call(m, tri_profile_result(profiling(m->desc), m->collector, m->ctx.threads, &p, err), err);
	return p;
}

int tri_model_profile_reset(struct tri_model *m, tri_error *err)
{
	int status = m ? tri_claim_begin(&m->claim, err) : no_model(err);
	return status == TRI_OK ? end_call(m, tri_profile_restart(profiling(m->desc), m->collector, err), err) : status;
}

void tri_model_close(struct tri_model *m)
{
	if (m && tri_claim_close(&m->claim))
		release(m);
}
