/* Operations that move elements: they visit the result in row-major order and the operand with strides. */
#include <string.h>
#include "backend/interp/state.h"
#include "backend/ir/tensor.h"

void interp_strides(const struct tensor *t, int64_t *strides)
{
	int64_t s = 1;
	for (uint32_t k = t->rank; k-- > 0;) {
		strides[k] = s;
		s *= t->dims[k];
	}
}

/* n elements, `stride` apart. */
static void move_copy_row(const char *from, char *to, int64_t n, int64_t stride, size_t size)
{
	if (stride == 1) {
		memcpy(to, from, (size_t)n * size);
		return;
	}
	if (size == 4) {
		for (int64_t k = 0; k < n; k++)
			memcpy(to + 4 * k, from + 4 * k * stride, 4);
		return;
	}
	for (int64_t k = 0; k < n; k++)
		memcpy(to + k * (int64_t)size, from + k * stride * (int64_t)size, size);
}

void interp_copy_strided(const struct tensor *x, struct tensor *out, int64_t base, const int64_t *stride)
{
	size_t size = dtype_size(out->elem);
	uint32_t inner = out->rank ? out->rank - 1 : 0;
	int64_t index[8] = {0}, n = tensor_count(out), row = out->rank ? out->dims[inner] : 1;
	const char *from = x->data;
	char *to = out->data;
	for (int64_t k = 0; k < n; k += row) {
		move_copy_row(from + base * (int64_t)size, to + k * (int64_t)size, row, out->rank ? stride[inner] : 1, size);
		for (uint32_t d = inner; d-- > 0;) {
			base += stride[d];
			if (++index[d] < out->dims[d])
				break;
			base -= stride[d] * out->dims[d];
			index[d] = 0;
		}
	}
}

void interp_broadcast(const struct tensor *x, struct tensor *out)
{
	int64_t own[8], stride[8] = {0};
	interp_strides(x, own);
	for (uint32_t k = 0; k < x->rank; k++)
		stride[out->rank - x->rank + k] = x->dims[k] == 1 ? 0 : own[k];
	interp_copy_strided(x, out, 0, stride);
}

void interp_transpose(const struct ir_inst *i, const struct tensor *x, struct tensor *out)
{
	const int64_t *perm = ir_perm(i)->perm;
	int64_t own[8], stride[8];
	interp_strides(x, own);
	for (uint32_t k = 0; k < x->rank; k++)
		stride[k] = own[perm[k]];
	interp_copy_strided(x, out, 0, stride);
}

/* As backend/loops/build/checks.c: an empty table is an error even if another dimension is empty. */
void interp_slice_check(struct interp *in, const struct ir_inst *i, const struct tensor *x, const struct tensor *out)
{
	const struct ir_slice *slice = ir_slice(i);
	int64_t n;
	for (uint32_t k = 0; k < x->rank && !in->error.text; k++) {
		if (dim_is_const(in->f->dims, i->type.dims[k], &n) && n == 0)
			continue;
		int64_t start = dim_eval(in->f->dims, slice->start[k], in->syms), last;
		bool over = __builtin_mul_overflow(out->dims[k] - 1, slice->step[k], &last) || __builtin_add_overflow(start, last, &last);
		int64_t low = slice->step[k] < 0 ? last : start, high = slice->step[k] < 0 ? start : last;
		if (over || low < 0 || high >= x->dims[k])
			interp_fail_sizes(in, TRI_SIZE_ERROR_SLICE);
	}
}

void interp_slice(struct interp *in, const struct ir_inst *i, const struct tensor *x, struct tensor *out)
{
	const struct ir_slice *slice = ir_slice(i);
	int64_t own[8], stride[8], base = 0;
	interp_strides(x, own);
	for (uint32_t k = 0; k < x->rank; k++) {
		stride[k] = out->dims[k] > 1 ? own[k] * slice->step[k] : 0; /* a step that nothing takes may be of any size */
		base += dim_eval(in->f->dims, slice->start[k], in->syms) * own[k];
	}
	interp_copy_strided(x, out, base, stride);
}

void interp_concat(const struct ir_inst *i, const struct tensor *const *x, struct tensor *out)
{
	uint32_t axis = ir_axis(i)->axis;
	size_t inner = dtype_size(out->elem), at = 0;
	int64_t outer = 1;
	for (uint32_t k = 0; k < axis; k++)
		outer *= out->dims[k];
	for (uint32_t k = axis + 1; k < out->rank; k++)
		inner *= (size_t)out->dims[k];
	for (int64_t o = 0; o < outer; o++)
		for (uint32_t n = 0; n < i->n_operands; n++) {
			size_t bytes = inner * (size_t)x[n]->dims[axis];
			if (!bytes)
				continue;
			memcpy((char *)out->data + at, (const char *)x[n]->data + (size_t)o * bytes, bytes);
			at += bytes;
		}
}

void interp_pad_check(struct interp *in, const struct ir_inst *i, const struct tensor *x, const struct tensor *out)
{
	const struct ir_pad *pad = ir_pad(i);
	for (uint32_t k = 0; k < out->rank; k++) {
		int64_t before = dim_eval(in->f->dims, pad->before[k], in->syms), after = out->dims[k] - x->dims[k] - before;
		if (before < 0 || after < 0)
			interp_fail_sizes(in, TRI_SIZE_ERROR_PAD);
	}
}

/* Stores the padding value everywhere, then the rows of x. */
void interp_pad(struct interp *in, const struct ir_inst *i, const struct tensor *const *x, struct tensor *out)
{
	const struct ir_pad *pad = ir_pad(i);
	int64_t own[8], index[8] = {0}, at = 0, n = tensor_count(out), count = tensor_count(x[0]);
	int64_t row = out->rank ? x[0]->dims[out->rank - 1] : 1;
	size_t size = dtype_size(out->elem);
	interp_strides(out, own);
	for (uint32_t k = 0; k < out->rank; k++)
		at += dim_eval(in->f->dims, pad->before[k], in->syms) * own[k];
	for (int64_t k = 0; k < n; k++)
		memcpy((char *)out->data + (size_t)k * size, x[1]->data, size);
	for (int64_t k = 0; k < count; k += row) {
		memcpy((char *)out->data + (size_t)at * size, (const char *)x[0]->data + (size_t)k * size, (size_t)row * size);
		for (uint32_t d = out->rank; d-- > 1;) {
			at += own[d - 1];
			if (++index[d - 1] < x[0]->dims[d - 1])
				break;
			at -= own[d - 1] * x[0]->dims[d - 1];
			index[d - 1] = 0;
		}
	}
}

void interp_window_check(struct interp *in, const struct ir_inst *i, const struct tensor *x, const struct tensor *out)
{
	const struct ir_window *window = ir_window(i);
	uint32_t inside = x->rank;
	for (uint32_t k = 0; k < x->rank; k++) {
		if (!(window->mask >> k & 1)) {
			if (x->dims[k] != out->dims[k])
				interp_fail_sizes(in, TRI_SIZE_ERROR_BROADCAST);
			continue;
		}
		if (out->dims[k] < 1 || (out->dims[k] - 1) * window->step[k] + (out->dims[inside] - 1) * window->step[inside] >= x->dims[k])
			interp_fail_sizes(in, TRI_SIZE_ERROR_WINDOW);
		inside++;
	}
}

void interp_window(const struct ir_inst *i, const struct tensor *x, struct tensor *out)
{
	const struct ir_window *window = ir_window(i);
	int64_t own[8], stride[8];
	uint32_t inside = x->rank;
	interp_strides(x, own);
	for (uint32_t k = 0; k < x->rank; k++) {
		stride[k] = own[k] * window->step[k];
		if (window->mask >> k & 1) {
			stride[inside] = own[k] * window->step[inside];
			inside++;
		}
	}
	interp_copy_strided(x, out, 0, stride);
}

void interp_iota(const struct ir_inst *i, struct tensor *out)
{
	uint32_t axis = ir_axis(i)->axis;
	int64_t stride[8], n = tensor_count(out);
	interp_strides(out, stride);
	for (int64_t k = 0; k < n; k++) {
		int64_t v = k / stride[axis] % out->dims[axis];
		elem_cast(out->elem, out->data, k, DT_INT64, &v, 0);
	}
}
