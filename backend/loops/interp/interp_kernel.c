/* Micro-kernels in plain code, one for each record of records.def: how operands are stored is a column of the kernel. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "backend/ir/tensor.h"
#include "backend/loops/interp/interp_state.h"
#include "backend/runtime/kernels/conv.h"
#include "backend/runtime/kernels/records.h"
#include "backend/runtime/pack/f32_panels.h"
#include "backend/runtime/pack/trit1_6.h"
#include "backend/runtime/pack/trit2.h"
#include "backend/runtime/pack/trit_blocks.h"
#include "backend/runtime/pack/trit_planes.h"
#include "backend/kernels/kernel.h"
#include "base/arena.h"

/* ---- products ---- */

/* Element [k, n] of packed trits; trit2.h has the format. */
static int trit_at(const uint8_t *packed, int64_t K, int64_t N, int64_t k, int64_t n)
{
	int64_t panel = n / TRI_TRIT2_PANEL, half = n % TRI_TRIT2_PANEL / TRI_TRIT2_LANES, lane = n % TRI_TRIT2_LANES;
	int64_t step = k / TRI_TRIT2_STEP, f = k % TRI_TRIT2_STEP / 4, j = k % 4;
	const uint8_t *block = packed + tri_trit2_offset(K, panel) + (step * tri_trit2_halves(N, panel) + half) * TRI_TRIT2_BLOCK;
	return (block[4 * lane + j] >> (2 * f) & 3) - 1;
}

/* The same of bit planes; trit_planes.h has the format. */
static int plane_trit_at(const uint8_t *packed, int64_t K, int64_t N, int64_t k, int64_t n)
{
	int64_t panel = n / TRI_PLANES_PANEL, half = n % TRI_PLANES_PANEL / TRI_PLANES_LANES, lane = n % TRI_PLANES_LANES;
	const uint32_t *block = (const uint32_t *)(const void *)packed + tri_planes_offset(K, panel) +
				(k / TRI_PLANES_WORD * tri_planes_halves(N, panel) + half) * TRI_PLANES_BLOCK;
	int nonzero = block[lane] >> k % TRI_PLANES_WORD & 1, negative = block[TRI_PLANES_LANES + lane] >> k % TRI_PLANES_WORD & 1;
	return nonzero - 2 * negative;
}

/* The place of element [k, n] in panels; f32_panels.h has the format. */
static int64_t panel_place(int64_t K, int64_t N, int64_t k, int64_t n)
{
	int64_t panel = n / TRI_PANEL;
	return tri_panel_offset(K, panel) + k * tri_panel_width(N, panel) + n % TRI_PANEL;
}

/* The same of TRIT1_6: a line for each of the first four steps of a group, and the fifth step in what is left of them. */
static int dense_trit_at(const uint8_t *packed, int64_t K, int64_t N, int64_t k, int64_t n)
{
	static const int powers[] = {1, 3, 9, 27, TRI_TRIT1_6_UNIT};
	int64_t panel = n / TRI_TRIT2_PANEL, half = n % TRI_TRIT2_PANEL / TRI_TRIT2_LANES, lane = n % TRI_TRIT2_LANES;
	int64_t group = k / TRI_TRIT1_6_GROUP, step = k % TRI_TRIT1_6_GROUP / TRI_TRIT2_STEP, f = k % TRI_TRIT2_STEP / 4, j = k % 4;
	bool fifth = step == TRI_TRIT1_6_LINES;
	int64_t line = (group * TRI_TRIT1_6_LINES + (fifth ? f : step)) * tri_trit2_halves(N, panel) + half;
	int byte = packed[tri_trit1_6_offset(K, panel) + (size_t)(line * TRI_TRIT2_BLOCK + 4 * lane + j)];
	return byte / powers[fifth ? 4 : f] % 3 - 1;
}

/* An element of a weight matrix in the layout that the kernel takes. */
struct matrix {
	enum layout layout;
	dtype elem;
	const void *data;
	int64_t K, N;
};

static struct matrix interp_kernel_matrix_of(const struct kernel_run *r, const struct tri_matmul_dims *d)
{
	struct matrix m = {(enum layout)kernel_layout(r->kernel, 1), r->elems[1], r->bufs[1], d->K, d->N};
	if (m.layout != LAYOUT_TRIT_BLOCKS && m.layout != LAYOUT_TRIT_LISTS)
		return m;
	m.data = arena_alloc(r->run->arena, (size_t)(d->K * d->N) + 1, 64);
	m.layout = LAYOUT_PLAIN;
	tri_blocks_unpack(r->bufs[1], d->K, d->N, (int8_t *)(uintptr_t)m.data);
	return m;
}

static int matrix_trit(const struct matrix *m, int64_t k, int64_t n)
{
	switch (m->layout) {
	case LAYOUT_TRIT2: return trit_at(m->data, m->K, m->N, k, n);
	case LAYOUT_TRIT1_6: return dense_trit_at(m->data, m->K, m->N, k, n);
	case LAYOUT_PLANES: return plane_trit_at(m->data, m->K, m->N, k, n);
	default: return ((const int8_t *)m->data)[k * m->N + n];
	}
}

/* A float32 times an element. A zero trit skips its factor. */
static double product_term(const struct matrix *m, double a, int64_t k, int64_t n)
{
	int t;
	if (m->elem != DT_TRIT)
		return a * elem_float(m->elem, m->data, m->layout == LAYOUT_PANELS ? panel_place(m->K, m->N, k, n) : k * m->N + n);
	t = matrix_trit(m, k, n);
	return t ? a * t : 0;
}

static void run_matmul(const struct kernel_run *r)
{
	const struct tri_matmul_dims *d = tri_matmul_of(r->dims);
	struct matrix w = interp_kernel_matrix_of(r, d);
	for (int64_t i = 0; i < d->M * d->N; i++) {
		int64_t first = i / d->N * d->K;
		uint32_t integer = 0;
		double sum = 0;
		for (int64_t k = 0; k < d->K; k++)
			if (r->elems[0] == DT_FLOAT32)
				sum += product_term(&w, (double)((const float *)r->bufs[0])[first + k], k, i % d->N);
			else
				integer += (uint32_t)(((const int8_t *)r->bufs[0])[first + k] * matrix_trit(&w, k, i % d->N));
		if (r->elems[2] == DT_FLOAT32)
			((float *)r->bufs[2])[i] = (float)sum;
		else
			((int32_t *)r->bufs[2])[i] = (int32_t)integer;
	}
}

/* ---- convolutions ---- */

/* The place of x in term t of a window, in the order of w; -1: a zero. `channel`: the first one of the group. */
static int64_t tap_of(const struct tri_conv_dims *c, int64_t image, int64_t channel, int64_t place, int64_t p)
{
	int64_t h = p / c->out_width * c->stride_height - c->pad_top + place / c->kernel_width * c->dilation_height;
	int64_t v = p % c->out_width * c->stride_width - c->pad_left + place % c->kernel_width * c->dilation_width;
	bool is_inside = h >= 0 && h < c->height && v >= 0 && v < c->width;
	return is_inside ? ((image * c->height + h) * c->width + v) * c->channels + channel : -1;
}

/* Term `channel` of the place in the window times its weight. A trit 0 skips its number. */
static double conv_term(const struct kernel_run *r, const struct tri_conv_dims *c, int64_t o, int64_t place, int64_t channel, int64_t at)
{
	int64_t terms = c->group_channels * c->kernel_height * c->kernel_width, run = tri_conv_run(c->group_channels, c->kernel_width);
	double x = 0;
	if (at >= 0)
		x = r->elems[0] == DT_FLOAT32 ? (double)((const float *)r->bufs[0])[at] : (double)((const int8_t *)r->bufs[0])[at];
	if (r->elems[1] != DT_TRIT)
		return x * (double)((const float *)r->bufs[1])[panel_place(terms, c->out, place * c->group_channels + channel, o)];
	int trit = trit_at(r->bufs[1], c->kernel_height * run, c->out,
			   place / c->kernel_width * run + place % c->kernel_width * c->group_channels + channel, o);
	return at >= 0 && trit ? x * trit : 0;
}

/* The sum of one element: output channel o, position p of an image. It is exact of int8. */
static double conv_sum(const struct kernel_run *r, const struct tri_conv_dims *c, int64_t image, int64_t o, int64_t p)
{
	int64_t groups = c->group_channels > 0 ? c->channels / c->group_channels : 1;
	int64_t first = groups > 0 ? o / (c->out / groups) * c->group_channels : 0;
	double sum = 0;
	for (int64_t place = 0; place < c->kernel_height * c->kernel_width; place++)
		for (int64_t k = 0; k < c->group_channels; k++)
			sum += conv_term(r, c, o, place, k, tap_of(c, image, first + k, place, p));
	return sum;
}

static void run_conv(const struct kernel_run *r)
{
	const struct tri_conv_dims *c = tri_conv_of(r->dims);
	int64_t positions = tri_conv_positions(c);
	for (int64_t i = 0; i < c->batch * positions * c->out; i++) {
		double sum = conv_sum(r, c, i / c->out / positions, i % c->out, i / c->out % positions);
		if (r->elems[2] == DT_FLOAT32)
			((float *)r->bufs[2])[i] = (float)sum;
		else
			((int32_t *)r->bufs[2])[i] = (int32_t)sum;
	}
}

/* ---- order ---- */

/* True if element b must come before a. NaN is the greatest. */
static bool is_out_of_order(dtype t, const void *x, int64_t a, int64_t b, bool descending)
{
	struct loop_value va = value_load(t, x, descending ? b : a), vb = value_load(t, x, descending ? a : b);
	if (dtype_class(t) != DTC_FLOAT)
		return va.i > vb.i;
	return va.f > vb.f || (isnan(va.f) && !isnan(vb.f));
}

/* Binary insertion keeps equal elements in order. */
static void run_sort(const struct kernel_run *r)
{
	const struct tri_sort_dims *d = tri_sort_of(r->dims);
	int64_t M = d->rows, N = d->length;
	for (int64_t m = 0; m < M; m++) {
		int64_t *y = (int64_t *)r->bufs[2] + m * N;
		for (int64_t n = 0; n < N; n++) {
			int64_t low = 0, high = n;
			while (low < high) {
				int64_t mid = (low + high) / 2;
				if (is_out_of_order(r->elems[0], r->bufs[0], m * N + y[mid], m * N + n, d->descending))
					high = mid;
				else
					low = mid + 1;
			}
			memmove(y + low + 1, y + low, (size_t)(n - low) * sizeof *y);
			y[low] = n;
		}
	}
}

static void run_scan(const struct kernel_run *r)
{
	const struct tri_scan_dims *d = tri_scan_of(r->dims);
	int64_t A = d->outer, N = d->length, B = d->inner;
	bool product = d->product;
	for (int64_t line = 0; line < A * B; line++) {
		double f = product;
		uint64_t u = product;
		for (int64_t n = 0; n < N; n++) {
			int64_t at = (line / B * N + n) * B + line % B;
			struct loop_value v = value_load(r->elems[0], r->bufs[0], at);
			f = product ? f * v.f : f + v.f;
			u = product ? u * (uint64_t)v.i : u + (uint64_t)v.i;
			value_store(r->elems[0], r->bufs[1], at, (struct loop_value){f, (int64_t)u});
		}
	}
}

static bool index_fits(const struct kernel_run *r, int64_t at, int64_t n)
{
	if (at < 0 || at >= n)
		run_fail(r->run, LOOP_INDEX_ERROR, "index %lld is out of range: it must be at least 0 and less than %lld", (long long)at,
			 (long long)n);
	return at >= 0 && at < n;
}

static void run_scatter(const struct kernel_run *r)
{
	const struct tri_scatter_dims *d = tri_scatter_of(r->dims);
	int64_t A = d->outer, N = d->length, B = d->inner, M = d->written;
	size_t size = dtype_size(r->elems[0]);
	memcpy(r->bufs[3], r->bufs[0], (size_t)(A * N * B) * size);
	for (int64_t k = 0; k < A * M * B && N > 0; k++) {
		int64_t at = ((const int64_t *)r->bufs[1])[k];
		if (!index_fits(r, at, N))
			return;
		int64_t to = (k / (M * B) * N + at) * B + k % B;
		struct loop_value x[3] = {value_load(r->elems[0], r->bufs[3], to), value_load(r->elems[0], r->bufs[2], k), {0, 0}};
		value_store(r->elems[0], r->bufs[3], to, d->add ? value_op(OP_ADD, r->elems[0], r->elems[0], x) : x[1]);
	}
}

static void run_put(const struct kernel_run *r)
{
	const struct tri_put_dims *d = tri_put_of(r->dims);
	int64_t A = d->outer, N = d->length, B = d->inner, at = *(const int64_t *)r->bufs[2];
	char *y = r->bufs[3];
	memmove(y, r->bufs[0], (size_t)(A * N * B));
	if (!index_fits(r, at, N))
		return;
	for (int64_t a = 0; a < A; a++)
		memcpy(y + (a * N + at) * B, (const char *)r->bufs[1] + a * B, (size_t)B);
}

static void run_transpose(const struct kernel_run *r)
{
	const struct tri_transpose_dims *d = tri_transpose_of(r->dims);
	int64_t B = d->batch, R = d->rows, S = d->columns, size = d->size;
	for (int64_t i = 0; i < B * R * S; i++) {
		int64_t b = i / (R * S), row = i / S % R, column = i % S;
		memcpy((char *)r->bufs[1] + ((b * S + column) * R + row) * size, (const char *)r->bufs[0] + i * size, (size_t)size);
	}
}

static void (*const codes[])(const struct kernel_run *r) = {
#define RECORD(name, ...) [FAMILY_##name] = run_##name,
#include "backend/runtime/kernels/records.def"
#undef RECORD
};

/* ---- one call ---- */

static void *interp_kernel_operand(const struct kernel_run *r, const struct loop_kernel *x, uint32_t k)
{
	const struct loop_memory *m = &r->run->memory[x->buffers[k]];
	const struct kernel_operand *o = kernel_operand(x->kernel, loop_kernel_at(x, k));
	if (kernel_shape_count(&o->size, r->dims) != m->count * (o->bytes ? (int64_t)m->size : 1))
		run_fail(r->run, LOOP_BROKEN, "operand %u of a kernel has another size", k);
	if (o->step[0] && kernel_reach(o, r->dims, m->count) > m->count)
		run_fail(r->run, LOOP_BROKEN, "rows outside of operand %u of a kernel", k);
	return o->written ? run_output(r->run, x->buffers[k]) : run_input(r->run, x->buffers[k]);
}

/* Memory of an operand that only the prologue writes, or of a result that only the epilogue reads. */
static void *tile_of(const struct kernel_run *r, const struct loop_nest *tile, uint32_t k)
{
	int64_t n = 1;
	for (uint32_t i = 0; i < TILE_AXES; i++)
		if (__builtin_mul_overflow(n, run_dim(r->run, tile->extent[i]), &n) || n > INT32_MAX)
			n = -1;
	if (kernel_shape_count(&kernel_operand(r->kernel, k)->size, r->dims) != n)
		run_fail(r->run, LOOP_BROKEN, "a prologue or epilogue is for a tensor of another size");
	return run_failed(r->run) ? NULL : arena_alloc(r->run->arena, (size_t)n * dtype_size(r->elems[k]) + 1, 64);
}

static void find_buffers(const struct kernel_run *k, const struct loop_kernel *x)
{
	struct loop_run *r = k->run;
	uint32_t last = kernel_buffer_count(x->kernel) - 1;
	for (uint32_t i = 0; i < x->n_buffers && !run_failed(r); i++)
		k->bufs[loop_kernel_at(x, i)] = interp_kernel_operand(k, x, i);
	if (x->prologue && !run_failed(r))
		k->bufs[0] = tile_of(k, x->prologue, 0);
	if (x->epilogue && !run_failed(r))
		k->bufs[last] = tile_of(k, x->epilogue, last);
}

/* The element types of the buffers, and the values of the dims. */
static struct kernel_run interp_kernel_bind(struct loop_run *r, const struct loop_kernel *x)
{
	uint32_t n = kernel_buffer_count(x->kernel), n_dims = kernel_record(x->kernel)->n_fields;
	dtype *elems = ARENA_ARRAY(r->arena, dtype, n);
	int64_t *dims = ARENA_ARRAY(r->arena, int64_t, n_dims);
	for (uint32_t i = 0; i < n_dims; i++)
		dims[i] = run_dim(r, x->dims[i]);
	for (uint32_t i = 0; i < n; i++) {
		elems[i] = kernel_buffer_elem(x->kernel, i, r->f->dims, x->dims);
		if (elems[i] == DT_COUNT)
			elems[i] = r->f->buffers[x->buffers[0]].type.elem;
	}
	return (struct kernel_run){r, x->kernel, ARENA_ARRAY(r->arena, void *, n), dims, elems};
}

void run_kernel(struct loop_run *r, const struct loop_stmt *s)
{
	const struct loop_kernel *x = &s->u.kernel;
	struct kernel_run k = interp_kernel_bind(r, x);
	find_buffers(&k, x);
	if (x->prologue && !run_failed(r))
		run_prologue(r, x->prologue, k.bufs[0]);
	if (!run_failed(r))
		codes[kernel_family(x->kernel)](&k);
	if (x->epilogue && !run_failed(r))
		run_epilogue(r, x->epilogue, k.bufs[kernel_buffer_count(x->kernel) - 1]);
}
