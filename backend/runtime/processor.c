/* Runs models on this processor: their threads, their scratch memory, their mapped weights. */
#include <stdlib.h>
#include "backend/runtime/cpu.h"
#include "backend/runtime/engine.h"
#include "backend/runtime/profile/origins.h"

enum { SCRATCH_ALIGN = 64 };

struct processor {
	struct tri_model model;
	struct tri_context ctx;
	bool has_threads; /* ctx is initialised */
	char *scratch;
	int64_t scratch_size;
	struct tri_mapped outside;
	void *bufs[]; /* for the entry with most tensors */
};

static struct processor *processor_of(struct tri_model *m) { return (struct processor *)m; }

static struct tri_model *processor_allocate(const tri_model_desc *desc)
{
	size_t most = 1;
	for (uint32_t i = 0; i < desc->n_entries; i++) {
		tri_entry_desc e = tri_states_entry(&desc->entries[i]);
		size_t n = (size_t)e.n_inputs + (size_t)e.n_outputs;
		most = n > most ? n : most;
	}
	return calloc(1, sizeof(struct processor) + most * sizeof(void *));
}

static int processor_open(struct tri_model *m, const tri_options *opt, tri_error *err)
{
	struct processor *p = processor_of(m);
	const tri_model_desc *desc = m->desc;
	const char *lacks = tri_cpu_lacks(desc->target);
	if (lacks)
		return tri_error_set(err, TRI_ERR_DEVICE,
				     "this library needs %s, but this processor has no %s: build it with a lower `cpu`", desc->target,
				     lacks);
	p->has_threads = tri_context_init(&p->ctx, TRI_OPTION(opt, threads));
	if (!p->has_threads)
		return tri_error_set(err, TRI_ERR_MEMORY, "out of memory");
	m->device.name = "cpu";
	m->threads = p->ctx.threads;
	p->ctx.no_print = TRI_OPTION(opt, no_print);
	m->clock = &p->ctx.clock;
	const struct tri_profiling *profiling = desc->profiling;
	if (m->collector) {
		p->ctx.profile = profiling->event;
		p->ctx.profile_user = m->collector;
	}
	const struct tri_weights *outside = desc->n_entries ? ((const struct tri_entry_code *)desc->entries[0].code)->outside : NULL;
	const struct tri_weights_request request = {TRI_OPTION(opt, weights), TRI_OPTION(opt, verify)};
	return outside ? tri_weights_open(outside, &p->ctx, &request, &p->outside, err) : TRI_OK;
}

static bool grow_scratch(struct processor *m, int64_t size)
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

static int run_status(const struct processor *m, const tri_entry_desc *e, tri_error *err)
{
	const struct tri_context *ctx = &m->ctx;
	char line[TRI_LINE];
	if (!ctx->failed)
		return TRI_OK;
	int code = ctx->fail_code ? ctx->fail_code : TRI_ERR_RANGE;
	if (code == TRI_ERR_ASSERT || code == TRI_ERR_COMPILE)
		return tri_error_set(err, code, "%s", ctx->fail_text);
	if (code == TRI_ERR_SHAPE)
		return tri_error_sizes(err, tri_place_line(m->model.desc, (uint64_t)ctx->fail_bound, line), e, ctx->fail_value,
				       m->model.dims);
	if (ctx->fail_bound > 0)
		return tri_error_index(err, m->model.desc, ctx->fail_value, ctx->fail_bound, ctx->fail_place);
	return tri_error_set(err, code, "a value is out of range: %lld", (long long)ctx->fail_value);
}

static int processor_run(struct tri_model *model, uint32_t number, const tri_entry_desc *e, const tri_tensor *io, tri_error *err)
{
	struct processor *m = processor_of(model);
	const struct tri_entry_code *code = e->code;
	(void)number;
	int64_t scratch = code->scratch ? code->scratch(model->dims) : 0;
	if (scratch == TRI_TOO_LARGE)
		return tri_error_set(err, TRI_ERR_MEMORY, TRI_HUGE);
	if (scratch < 0)
		return tri_error_sizes(err, "", e, TRI_SIZE_ERROR_EXTENT, model->dims);
	if (!grow_scratch(m, scratch))
		return tri_error_set(err, TRI_ERR_MEMORY, "out of memory for the intermediate tensors");
	model->scratch_bytes = (uint64_t)m->scratch_size;
	for (int32_t i = 0; i < e->n_inputs + e->n_outputs; i++)
		m->bufs[i] = io[i].data;
	tri_context_begin(&m->ctx);
	const void *const *table = code->outside ? m->outside.slots + code->outside->tables[code->outside_table] : code->table;
	code->unit(&m->ctx, m->bufs, table, model->dims, m->scratch);
	return run_status(m, e, err);
}

static void processor_close(struct tri_model *model)
{
	struct processor *m = processor_of(model);
	if (m->has_threads)
		tri_context_end(&m->ctx);
	tri_weights_close(&m->outside);
	free(m->scratch);
	free(m);
}

const struct tri_engine tri_processor = {processor_allocate, processor_open, processor_run, processor_close};
