/* Runs in batches along the first dimension of the inputs, like a loop over a PyTorch DataLoader. The outputs are concatenated. */
#include "base/arena.h"
#include "base/buf.h"
#include "builder/manifest/run_options.h"
#include "builder/run/run.h"
#include "frontend/hir/dtype.h"

static int64_t first_symbol(const tri_io_desc *d)
{
	return d->rank && d->dims[0].n_steps == 1 && d->dims[0].steps[0].op == TRI_DIM_SYM ? d->dims[0].steps[0].value : -1;
}

/* True if a size other than the first depends on the symbol, or if the first is more than the symbol alone. */
static bool depends_elsewhere(const tri_io_desc *d, int64_t symbol)
{
	for (int32_t k = 0; k < d->rank; k++)
		for (int32_t i = 0; i < d->dims[k].n_steps; i++)
			if (d->dims[k].steps[i].op == TRI_DIM_SYM && d->dims[k].steps[i].value == symbol &&
			    !(k == 0 && first_symbol(d) == symbol))
				return true;
	return false;
}

/* The symbol of the batch dimension; -1: *error. */
static int64_t find_batch(const tri_entry_desc *e, struct buf *error)
{
	int64_t symbol = -1;
	for (int32_t i = 0; i < e->n_inputs && symbol < 0; i++)
		symbol = first_symbol(&e->inputs[i]);
	if (symbol < 0) {
		buf_printf(error, "--batch-size: no input of `%s` has a first dimension that is known only at run time", e->name);
		return -1;
	}
	for (int32_t i = 0; i < e->n_inputs; i++)
		if (depends_elsewhere(&e->inputs[i], symbol)) {
			buf_printf(error, "--batch-size: input `%s` uses `%s`, but not as its first dimension", e->inputs[i].name,
				   e->dim_names[symbol]);
			return -1;
		}
	for (int32_t i = 0; i < e->n_outputs; i++)
		if (first_symbol(&e->outputs[i]) != symbol || depends_elsewhere(&e->outputs[i], symbol)) {
			buf_printf(error, "--batch-size: output `%s` does not have one row for each row of the inputs", e->outputs[i].name);
			return -1;
		}
	return symbol;
}

static size_t run_batch_row_bytes(const tri_tensor *t)
{
	size_t n = dtype_size((dtype)t->dtype);
	for (int32_t k = 1; k < t->rank; k++)
		n *= (size_t)t->shape[k];
	return n;
}

static void take_rows(const tri_entry_desc *e, int64_t symbol, const struct run_io *io, int64_t from, int64_t n, tri_tensor *part)
{
	for (int32_t i = 0; i < e->n_inputs + e->n_outputs; i++) {
		part[i] = io->tensors[i];
		if (i < e->n_inputs && first_symbol(&e->inputs[i]) != symbol)
			continue;
		part[i].data = (char *)part[i].data + (size_t)from * run_batch_row_bytes(&part[i]);
		part[i].shape[0] = n;
	}
}

enum status run_execute(struct arena *a, const struct run_model *m, uint32_t entry, const struct run_io *io,
			const struct run_options *options, struct buf *error)
{
	const tri_entry_desc *e = io->entry;
	int64_t symbol = options->batch_size > 0 ? find_batch(e, error) : -1, total = symbol < 0 ? 0 : io->dims[symbol];
	enum status s = STATUS_OK;
	if (options->batch_size > 0 && symbol < 0)
		return STATUS_USAGE;
	if (total <= options->batch_size)
		return m->run(m->ctx, entry, io->tensors, error);
	tri_tensor *part = ARENA_ARRAY(a, tri_tensor, e->n_inputs + e->n_outputs + 1);
	for (int64_t from = 0; from < total && s == STATUS_OK; from += options->batch_size) {
		take_rows(e, symbol, io, from, total - from < options->batch_size ? total - from : options->batch_size, part);
		s = m->run(m->ctx, entry, part, error);
	}
	return s;
}
