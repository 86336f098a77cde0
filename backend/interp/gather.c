/* Operations that take elements at computed places. */
#include "backend/interp/state.h"
#include "backend/ir/gather.h"
#include "backend/ir/tensor.h"

static void gather_check_places(struct interp *in, const struct tensor *index, int64_t size, int64_t window)
{
	int64_t n = tensor_count(index);
	if (n && window > size)
		interp_fail_sizes(in, TRI_SIZE_ERROR_SLICE);
	for (int64_t k = 0; k < n && !in->error.text; k++) {
		int64_t at = elem_int(index->elem, index->data, k);
		if (at >= 0 && at <= size - window)
			continue;
		interp_fail(in, "index %lld is out of range: it must be at least 0 and less than %lld", (long long)at,
			    (long long)(size - window + 1));
	}
}

void interp_index_check(struct interp *in, const struct ir_inst *i, const struct tensor *const *x, const struct tensor *out)
{
	struct ir_table_dim dims[HIR_MAX_RANK];
	if (!ir_gathers(i->op)) { /* SCATTER, PUT */
		gather_check_places(in, x[i->op == OP_PUT ? 2 : 1], x[0]->dims[ir_axis(i)->axis], 1);
		return;
	}
	ir_table_dims(i, x[0]->rank, x[1]->rank, dims);
	for (uint32_t k = 0; k < x[0]->rank; k++)
		if (dims[k].index)
			gather_check_places(in, x[dims[k].index], x[0]->dims[k], dims[k].at == IR_NONE ? 1 : out->dims[dims[k].at]);
}

/* Copies the elements of each index: those along the dims of the result that follow the dims of the indices. */
void interp_gather(const struct ir_inst *i, const struct tensor *const *x, struct tensor *out)
{
	struct ir_table_dim dims[HIR_MAX_RANK];
	int64_t table[8], result[8], inner[8], n = tensor_count(x[1]);
	uint32_t lead = x[1]->rank;
	struct tensor part = {.elem = out->elem, .rank = (uint8_t)(out->rank - lead)};
	interp_strides(x[0], table);
	interp_strides(x[1], result);
	ir_table_dims(i, x[0]->rank, lead, dims);
	for (uint32_t k = lead; k < out->rank; k++)
		part.dims[k - lead] = out->dims[k];
	for (uint32_t k = 0; k < x[0]->rank; k++)
		if (dims[k].at != IR_NONE && dims[k].at >= lead)
			inner[dims[k].at - lead] = table[k];
	size_t bytes = (size_t)tensor_count(&part) * dtype_size(out->elem);
	for (int64_t item = 0; item < n; item++) {
		int64_t base = 0;
		for (uint32_t k = 0; k < x[0]->rank; k++) {
			if (dims[k].index)
				base += table[k] * elem_int(x[dims[k].index]->elem, x[dims[k].index]->data, item);
			else if (dims[k].at < lead)
				base += table[k] * (item / result[dims[k].at] % out->dims[dims[k].at]);
		}
		part.data = (char *)out->data + (size_t)item * bytes;
		interp_copy_strided(x[0], &part, base, inner);
	}
}
