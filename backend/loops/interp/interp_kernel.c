/* Micro-kernels in plain code, as kernels.def describes them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "backend/ir/tensor.h"
#include "backend/loops/interp/interp_state.h"
#include "backend/loops/ir/kernel_shape.h"
#include "backend/runtime/kernels/conv.h"
#include "backend/runtime/pack/f32_panels.h"
#include "backend/runtime/pack/trit1_6.h"
#include "backend/runtime/pack/trit2.h"
#include "backend/runtime/pack/trit_blocks.h"
#include "backend/runtime/pack/trit_planes.h"
#include "backend/kernels/kernel.h"
#include "base/arena.h"

typedef void kernel_code(const struct kernel_run *k);

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

/* The element [m, n] of a product of floats. A zero trit skips its factor. */
static double product_sum(const struct kernel_run *r, enum layout layout, dtype elem, int64_t m, int64_t n)
{
	int64_t K = r->dims[1], N = r->dims[2];
	const float *x = r->bufs[0];
	double sum = 0;
	for (int64_t k = 0; k < K; k++) {
		double a = (double)x[m * K + k];
		int t = layout == LAYOUT_TRIT2 ? trit_at(r->bufs[1], K, N, k, n) : 0;
		if (layout == LAYOUT_TRIT2)
			sum += t ? a * t : 0;
		else
			sum += a * elem_float(elem, r->bufs[1], layout == LAYOUT_PANELS ? panel_place(K, N, k, n) : k * N + n);
	}
	return sum;
}

static void matmul_floats(const struct kernel_run *r, enum layout layout, dtype elem)
{
	for (int64_t i = 0; i < r->dims[0] * r->dims[2]; i++)
		((float *)r->bufs[2])[i] = (float)product_sum(r, layout, elem, i / r->dims[2], i % r->dims[2]);
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

static void multiply_i8(const struct kernel_run *r, int (*trit)(const uint8_t *packed, int64_t K, int64_t N, int64_t k, int64_t n))
{
	int64_t M = r->dims[0], K = r->dims[1], N = r->dims[2];
	for (int64_t i = 0; i < M * N; i++) {
		int32_t sum = 0;
		for (int64_t k = 0; k < K; k++)
			sum += ((const int8_t *)r->bufs[0])[i / N * K + k] * trit(r->bufs[1], K, N, k, i % N);
		((int32_t *)r->bufs[2])[i] = sum;
	}
}
static void matmul_i8_trit2(const struct kernel_run *r) { multiply_i8(r, trit_at); }
static void matmul_i8_trit1_6(const struct kernel_run *r) { multiply_i8(r, dense_trit_at); }
static void matmul_trits(const struct kernel_run *r) { multiply_i8(r, plane_trit_at); }
static void matmul_i8_blocks(const struct kernel_run *r)
{
	int64_t K = r->dims[1], N = r->dims[2];
	struct kernel_run of_trits = *r;
	int8_t *w = arena_alloc(r->run->arena, (size_t)(K * N) + 1, 64);
	void *packed = arena_alloc(r->run->arena, tri_trit2_packed_size(K, N) + 1, 64);
	tri_blocks_unpack(r->bufs[1], K, N, w);
	tri_trit2_pack(w, K, N, packed);
	of_trits.bufs = (void *[]){r->bufs[0], packed, r->bufs[2]};
	matmul_i8_trit2(&of_trits);
}
static void matmul_f32_trit2(const struct kernel_run *r) { matmul_floats(r, LAYOUT_TRIT2, DT_TRIT); }
static void matmul_f32(const struct kernel_run *r) { matmul_floats(r, LAYOUT_PLAIN, DT_FLOAT32); }
static void matmul_f32_panels(const struct kernel_run *r) { matmul_floats(r, LAYOUT_PANELS, DT_FLOAT32); }
static void matmul_f32_bf16(const struct kernel_run *r) { matmul_floats(r, LAYOUT_PANELS, DT_BFLOAT16); }
static void matmul_f32_f16(const struct kernel_run *r) { matmul_floats(r, LAYOUT_PANELS, DT_FLOAT16); }

/* ---- convolutions ---- */

/* The place in a window of term t, in the order of w. */
struct tap {
	int64_t channel, row, column; /* of x */
	bool is_inside;               /* otherwise it is a zero */
};

static struct tap tap_of(const struct tri_conv *c, int64_t channel, int64_t place, int64_t p)
{
	int64_t h = p / c->out_width * c->stride_height - c->pad_top + place / c->kernel_width * c->dilation_height;
	int64_t v = p % c->out_width * c->stride_width - c->pad_left + place % c->kernel_width * c->dilation_width;
	return (struct tap){channel, h, v, h >= 0 && h < c->height && v >= 0 && v < c->width};
}

/* The sum of one element: output channel o, position p of image n. */
static double conv_sum(const struct kernel_run *r, const struct tri_conv *c, int64_t channels, int64_t n, int64_t o, int64_t p)
{
	int64_t terms = channels * c->kernel_height * c->kernel_width;
	double sum = 0;
	for (int64_t t = 0; t < terms; t++) {
		struct tap i = tap_of(c, o / (c->out / (c->channels / channels)) * channels + t % channels, t / channels, p);
		const float *x = (const float *)r->bufs[0] + ((n * c->height + i.row) * c->width + i.column) * c->channels + i.channel;
		sum += (i.is_inside ? (double)*x : 0) * (double)((const float *)r->bufs[1])[panel_place(terms, c->out, t, o)];
	}
	return sum;
}

/* A sum of numbers, of which int8 is exact too. A trit 0 skips its number. */
static double conv_trits(const struct kernel_run *r, const struct tri_conv *c, int64_t channels, int64_t n, int64_t o, int64_t p)
{
	int64_t size = c->kernel_width * channels, run = tri_conv_run(channels, c->kernel_width), group = 0;
	double sum = 0;
	if (channels)
		group = o / (c->out / (c->channels / channels));
	for (int64_t t = 0; t < c->kernel_height * size; t++) {
		struct tap i = tap_of(c, group * channels + t % channels, t / channels, p);
		int trit = trit_at(r->bufs[1], c->kernel_height * run, c->out, t / size * run + t % size, o);
		int64_t at = ((n * c->height + i.row) * c->width + i.column) * c->channels + i.channel;
		if (i.is_inside && trit)
			sum += trit *
			       (r->elem != DT_FLOAT32 ? (double)((const int8_t *)r->bufs[0])[at] : (double)((const float *)r->bufs[0])[at]);
	}
	return sum;
}

/* `channels`: of x in a group. */
static void conv_of_trits(const struct kernel_run *r, int64_t channels)
{
	struct tri_conv c = tri_conv_of(r->dims);
	int64_t positions = tri_conv_positions(&c);
	for (int64_t i = 0; i < c.batch * positions * c.out; i++) {
		double sum = conv_trits(r, &c, channels, i / c.out / positions, i % c.out, i / c.out % positions);
		if (r->elem != DT_FLOAT32)
			((int32_t *)r->bufs[2])[i] = (int32_t)sum;
		else
			((float *)r->bufs[2])[i] = (float)sum;
	}
}
static void conv_trit2(const struct kernel_run *r) { conv_of_trits(r, r->dims[1]); }
static void depthwise_trit2(const struct kernel_run *r) { conv_of_trits(r, 1); }
static void conv_groups_trit2(const struct kernel_run *r) { conv_of_trits(r, r->dims[15]); }

static void conv_floats(const struct kernel_run *r, int64_t channels)
{
	struct tri_conv c = tri_conv_of(r->dims);
	int64_t positions = tri_conv_positions(&c);
	for (int64_t n = 0; n < c.batch; n++)
		for (int64_t p = 0; p < positions; p++)
			for (int64_t o = 0; o < c.out; o++)
				((float *)r->bufs[2])[(n * positions + p) * c.out + o] = (float)conv_sum(r, &c, channels, n, o, p);
}
static void conv_f32(const struct kernel_run *r) { conv_floats(r, r->dims[15]); }
static void depthwise_f32(const struct kernel_run *r) { conv_floats(r, 1); }

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
static void sort(const struct kernel_run *r)
{
	int64_t M = r->dims[0], N = r->dims[1];
	for (int64_t m = 0; m < M; m++) {
		int64_t *y = (int64_t *)r->bufs[2] + m * N;
		for (int64_t n = 0; n < N; n++) {
			int64_t low = 0, high = n;
			while (low < high) {
				int64_t mid = (low + high) / 2;
				if (is_out_of_order(r->elem, r->bufs[0], m * N + y[mid], m * N + n, r->dims[2] != 0))
					high = mid;
				else
					low = mid + 1;
			}
			memmove(y + low + 1, y + low, (size_t)(n - low) * sizeof *y);
			y[low] = n;
		}
	}
}

static void scan(const struct kernel_run *r)
{
	int64_t A = r->dims[0], N = r->dims[1], B = r->dims[2];
	bool product = r->dims[3] != 0;
	for (int64_t line = 0; line < A * B; line++) {
		double f = product;
		uint64_t u = product;
		for (int64_t n = 0; n < N; n++) {
			int64_t at = (line / B * N + n) * B + line % B;
			struct loop_value v = value_load(r->elem, r->bufs[0], at);
			f = product ? f * v.f : f + v.f;
			u = product ? u * (uint64_t)v.i : u + (uint64_t)v.i;
			value_store(r->elem, r->bufs[1], at, (struct loop_value){f, (int64_t)u});
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

static void scatter(const struct kernel_run *r)
{
	int64_t A = r->dims[0], N = r->dims[1], B = r->dims[2], M = r->dims[3];
	size_t size = dtype_size(r->elem);
	memcpy(r->bufs[3], r->bufs[0], (size_t)(A * N * B) * size);
	for (int64_t k = 0; k < A * M * B && N > 0; k++) {
		int64_t at = ((const int64_t *)r->bufs[1])[k];
		if (!index_fits(r, at, N))
			return;
		int64_t to = (k / (M * B) * N + at) * B + k % B;
		struct loop_value x[3] = {value_load(r->elem, r->bufs[3], to), value_load(r->elem, r->bufs[2], k), {0, 0}};
		value_store(r->elem, r->bufs[3], to, r->dims[4] ? value_op(OP_ADD, r->elem, r->elem, x) : x[1]);
	}
}

static void put(const struct kernel_run *r)
{
	int64_t A = r->dims[0], N = r->dims[1], B = r->dims[2], at = *(const int64_t *)r->bufs[2];
	char *y = r->bufs[3];
	memmove(y, r->bufs[0], (size_t)(A * N * B));
	if (!index_fits(r, at, N))
		return;
	for (int64_t a = 0; a < A; a++)
		memcpy(y + (a * N + at) * B, (const char *)r->bufs[1] + a * B, (size_t)B);
}

static void transpose(const struct kernel_run *r)
{
	int64_t B = r->dims[0], R = r->dims[1], S = r->dims[2], size = r->dims[3];
	for (int64_t i = 0; i < B * R * S; i++) {
		int64_t b = i / (R * S), row = i / S % R, column = i % S;
		memcpy((char *)r->bufs[1] + ((b * S + column) * R + row) * size, (const char *)r->bufs[0] + i * size, (size_t)size);
	}
}

static kernel_code *const codes[KERNEL_COUNT] = {
	[KERNEL_MATMUL_I8_TRIT1_6] = matmul_i8_trit1_6,
	[KERNEL_MATMUL_I8_TRIT2] = matmul_i8_trit2,
	[KERNEL_MATMUL_I8_LISTS] = matmul_i8_blocks,
	[KERNEL_MATMUL_I8_BLOCKS] = matmul_i8_blocks,
	[KERNEL_MATMUL_TRITS] = matmul_trits,
	[KERNEL_MATMUL_F32_TRIT2] = matmul_f32_trit2,
	[KERNEL_MATMUL_F32] = matmul_f32,
	[KERNEL_MATMUL_F32_PANELS] = matmul_f32_panels,
	[KERNEL_MATMUL_F32_BF16] = matmul_f32_bf16,
	[KERNEL_MATMUL_F32_F16] = matmul_f32_f16,
	[KERNEL_CONV_I8_TRIT2] = conv_trit2,
	[KERNEL_CONV_TRITS] = conv_trit2,
	[KERNEL_CONV_F32_TRIT2] = conv_trit2,
	[KERNEL_CONV_GROUPS_I8_TRIT2] = conv_groups_trit2,
	[KERNEL_CONV_GROUPS_F32_TRIT2] = conv_groups_trit2,
	[KERNEL_CONV_GROUPS_TRITS] = conv_groups_trit2,
	[KERNEL_DEPTHWISE_I8_TRIT2] = depthwise_trit2,
	[KERNEL_CONV_F32] = conv_f32,
	[KERNEL_DEPTHWISE_F32] = depthwise_f32,
	[KERNEL_ATTENTION_F32] = run_attention,
	[KERNEL_ATTENTION_MASK_F32] = run_attention_mask,
	[KERNEL_ATTENTION_I8] = run_attention_i8,
	[KERNEL_ATTENTION_MASK_I8] = run_attention_mask_i8,
	[KERNEL_SORT_F32] = sort,
	[KERNEL_SORT_F64] = sort,
	[KERNEL_SORT_I64] = sort,
	[KERNEL_SCAN_F32] = scan,
	[KERNEL_SCAN_F64] = scan,
	[KERNEL_SCAN_I64] = scan,
	[KERNEL_SCATTER_F32] = scatter,
	[KERNEL_SCATTER_F64] = scatter,
	[KERNEL_SCATTER_I64] = scatter,
	[KERNEL_PUT] = put,
	[KERNEL_TRANSPOSE] = transpose,
};

/* ---- one call ---- */

/* True if the operand has `count` elements as the kernel expects. */
static bool has_size(const struct kernel_run *r, const struct kernel_operand *o, uint32_t n_dims, int64_t count)
{
	int64_t size = 1;
	for (uint32_t d = 0; d < n_dims; d++)
		if ((o->dims >> d & 1) && (r->dims[d] < 0 || __builtin_mul_overflow(size, r->dims[d], &size)))
			size = -1;
	return size == count;
}

static void *operand(const struct kernel_run *r, const struct loop_kernel *x, const struct kernel_operand *o, uint32_t k)
{
	const struct loop_memory *m = &r->run->memory[x->buffers[k]];
	if (!has_size(r, o, x->n_dims, m->count * (o->bytes ? (int64_t)m->size : 1)))
		run_fail(r->run, LOOP_BROKEN, "operand %u of a kernel has another size", k);
	if (o->strides && kernel_operand_reach(o, r->dims, m->count) > m->count)
		run_fail(r->run, LOOP_BROKEN, "rows outside of operand %u of a kernel", k);
	return o->written ? run_output(r->run, x->buffers[k]) : run_input(r->run, x->buffers[k]);
}

/* Memory of an operand that only the prologue writes, or of a result that only the epilogue reads. */
static void *tile_of(const struct kernel_run *r, const struct loop_kernel *x, const struct loop_nest *tile, const struct kernel_operand *o)
{
	int64_t n = 1;
	for (uint32_t k = 0; k < TILE_AXES; k++)
		if (__builtin_mul_overflow(n, run_dim(r->run, tile->extent[k]), &n) || n > INT32_MAX)
			n = -1;
	if (!has_size(r, o, x->n_dims, n))
		run_fail(r->run, LOOP_BROKEN, "a prologue or epilogue is for a tensor of another size");
	return run_failed(r->run) ? NULL : arena_alloc(r->run->arena, (size_t)n * dtype_size(o->elem) + 1, 64);
}

static void find_buffers(const struct kernel_run *k, const struct loop_kernel *x, const struct kernel_operand *o)
{
	struct loop_run *r = k->run;
	uint32_t last = kernel_operand_at(x, x->n_buffers);
	for (uint32_t i = 0; i < x->n_buffers && !run_failed(r); i++)
		k->bufs[kernel_operand_at(x, i)] = operand(k, x, &o[kernel_operand_at(x, i)], i);
	if (x->prologue && !run_failed(r))
		k->bufs[0] = tile_of(k, x, x->prologue, &o[0]);
	if (x->epilogue && !run_failed(r))
		k->bufs[last] = tile_of(k, x, x->epilogue, &o[last]);
}

void run_kernel(struct loop_run *r, const struct loop_stmt *s)
{
	const struct loop_kernel *x = &s->u.kernel;
	const struct kernel_operand *o = kernel_operands(x->kernel);
	int64_t *dims = ARENA_ARRAY(r->arena, int64_t, x->n_dims + 1);
	struct kernel_run k = {r, ARENA_ARRAY(r->arena, void *, x->n_buffers + 2), dims, r->f->buffers[x->buffers[0]].type.elem};
	for (uint32_t i = 0; i < x->n_dims; i++)
		dims[i] = run_dim(r, x->dims[i]);
	if (!o || !codes[x->kernel])
		run_fail(r, LOOP_BROKEN, "%s has no reference code", kernel_info(x->kernel)->symbol);
	else
		find_buffers(&k, x, o);
	if (x->prologue && !run_failed(r))
		run_prologue(r, x->prologue, k.bufs[0]);
	if (!run_failed(r))
		codes[x->kernel](&k);
	if (x->epilogue && !run_failed(r))
		run_epilogue(r, x->epilogue, k.bufs[kernel_operand_at(x, x->n_buffers)]);
}
