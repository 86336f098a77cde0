/* Compound operations: checks their sizes and calls the function of each. These functions are written from the definitions in ops.def, not from
 * the expansions of backend/passes, which the tests compare with them. */
#include <string.h>
#include "backend/interp/axes.h"
#include "backend/interp/state.h"

static bool same_dims(const struct tensor *a, const struct tensor *b)
{
	return a->rank == b->rank && !memcmp(a->dims, b->dims, a->rank * sizeof a->dims[0]);
}

/* True if x repeats to the shape of `out`. */
static bool compound_repeats(const struct tensor *x, const struct tensor *out)
{
	for (uint32_t k = 1; k <= x->rank; k++)
		if (x->dims[x->rank - k] != 1 && x->dims[x->rank - k] != out->dims[out->rank - k])
			return false;
	return true;
}

static bool sizes_fit(const struct ir_inst *i, const struct tensor *const *x, const struct tensor *out)
{
	switch (i->op) {
	case OP_CONV: return interp_conv_fits(ir_conv(i), x, out);
	case OP_POOL: return interp_pool_fits(ir_pool(i), x[0], out);
	case OP_ATTENTION: return interp_attention_fits(x, i->n_operands, out);
	case OP_RESIZE: return interp_resize_fits(x[0], out);
	case OP_NORM: return same_dims(x[0], out) && interp_norm_fits(ir_norm(i), x, i->n_operands);
	case OP_SOFTMAX: return same_dims(x[0], out);
	case OP_QUANTIZE: return same_dims(x[0], out) && (i->n_operands == 1 || compound_repeats(x[1], out));
	case OP_QUANT_SCALE: return axes_of(x[0], ir_quantize(i)->mask, 0).count == tensor_count(out);
	case OP_DEQUANTIZE: return compound_repeats(x[0], out) && compound_repeats(x[1], out);
	default: return true;
	}
}

void interp_compound(struct interp *in, const struct ir_inst *i, const struct tensor *const *x, struct tensor *out)
{
	if (i->op == OP_EMBEDDING)
		interp_index_check(in, i, x, out);
	if (!sizes_fit(i, x, out))
		interp_fail_sizes(in, i->op == OP_CONV || i->op == OP_POOL ? TRI_SIZE_ERROR_WINDOW : TRI_SIZE_ERROR_BROADCAST);
	if (in->error.text || !tensor_count(out))
		return;
	switch (i->op) {
	case OP_CONV: interp_conv(ir_conv(i), x, out); return;
	case OP_POOL: interp_pool(ir_pool(i), x[0], out); return;
	case OP_SOFTMAX: interp_softmax(ir_softmax(i), x[0], out); return;
	case OP_NORM: interp_norm(ir_norm(i), x, out); return;
	case OP_ATTENTION: interp_attention(ir_attention(i), x, i->n_operands, out); return;
	case OP_QUANTIZE: interp_quantize(ir_quantize(i), x, out); return;
	case OP_QUANT_SCALE: interp_quant_scale(ir_quantize(i), x[0], out); return;
	case OP_DEQUANTIZE: interp_dequantize(x, out); return;
	case OP_EMBEDDING: interp_gather(i, x, out); return;
	default: interp_resize(ir_resize(i), x[0], out); return;
	}
}
