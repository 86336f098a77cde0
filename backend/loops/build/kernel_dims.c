/* The dims of calls of micro-kernels, from the types and attributes of the operation: a function for each record of records.def. */
#include <string.h>
#include "backend/loops/build/build.h"
#include "base/arena.h"
#include "base/bug.h"

/* An operation that a kernel computes. */
struct computed {
	struct builder *b;
	const struct kernel_match *match;
	const struct ir_inst *in;
	const struct hir_type *types[KERNEL_OPERANDS]; /* of its operands, then of the scales */
};

static dim kernel_dims_number(const struct computed *c, int64_t x) { return dim_const(c->b->dims, x); }

static void set_matmul(const struct computed *c, struct matmul_dims *d)
{
	const struct hir_type *x = c->types[0], *y = &c->in->type;
	d->M = dim_product(c->b->dims, x->dims, x->rank - 1u);
	d->K = x->dims[x->rank - 1];
	d->N = y->dims[y->rank - 1];
}

static void set_conv(const struct computed *c, struct conv_dims *d)
{
	const struct hir_type *x = c->types[0], *w = c->types[1], *y = &c->in->type;
	const struct ir_conv *conv = ir_conv(c->in);
	*d = (struct conv_dims){.batch = x->dims[0],
				.channels = x->dims[1],
				.height = x->dims[2],
				.width = x->dims[3],
				.out = w->dims[0],
				.kernel_height = w->dims[2],
				.kernel_width = w->dims[3],
				.out_height = y->dims[2],
				.out_width = y->dims[3],
				.stride_height = kernel_dims_number(c, conv->stride[0]),
				.stride_width = kernel_dims_number(c, conv->stride[1]),
				.pad_top = kernel_dims_number(c, conv->pad[0]),
				.pad_left = kernel_dims_number(c, conv->pad[2]),
				.dilation_height = kernel_dims_number(c, conv->dilation[0]),
				.dilation_width = kernel_dims_number(c, conv->dilation[1]),
				.group_channels = w->dims[1]};
}

/* ---- attention ---- */

/* The dim that is k-th from the end, or 1. */
static dim kernel_dims_from_end(const struct computed *c, const struct hir_type *t, uint32_t k)
{
	return t->rank < k ? c->b->one : t->dims[t->rank - k];
}

/* The product of the dims before heads, rows and elements. */
static dim batch_of(const struct computed *c, const struct hir_type *t)
{
	return dim_product(c->b->dims, t->dims, t->rank < 3 ? 0 : t->rank - 3u);
}

static int64_t float_bits(double x)
{
	float f = (float)x;
	uint32_t bits;
	memcpy(&bits, &f, sizeof bits);
	return bits;
}

/* Steps from item to item of the batch, head to head and row to row of operand k as it is stored. */
static void set_steps(const struct computed *c, uint32_t k, dim *batch, dim *head, dim *row)
{
	dim *of[] = {row, head, batch}, strides[HIR_MAX_RANK];
	const struct hir_type *t = c->types[k];
	coords_strides(c->b, t, (enum layout)ir_at(c->b->ir, c->match->operands[k])->layout, strides);
	for (uint32_t i = 0; i < 3; i++)
		*of[i] = t->rank < i + 2 ? c->b->zero : strides[t->rank - i - 2];
}

static dim kernel_dims_elem_of(const struct computed *c, uint32_t k)
{
	return kernel_dims_number(c, kernel_elem_number(ir_at(c->b->ir, c->match->operands[k])->type.elem));
}

static void set_attention(const struct computed *c, struct attention_dims *d)
{
	const struct ir_attention *a = ir_attention(c->in);
	const struct hir_type *y = &c->in->type;
	uint32_t n = c->in->n_operands;
	d->batch = batch_of(c, y);
	d->heads = kernel_dims_from_end(c, y, 3);
	d->kv_heads = kernel_dims_from_end(c, c->types[1], 3);
	d->queries = kernel_dims_from_end(c, y, 2);
	d->keys = kernel_dims_from_end(c, c->types[1], 2);
	d->features = kernel_dims_from_end(c, c->types[0], 1);
	d->values = kernel_dims_from_end(c, y, 1);
	d->causal = kernel_dims_number(c, a->causal);
	d->scale = kernel_dims_number(c, a->scaled ? float_bits(a->scale) : 0);
	set_steps(c, 1, &d->k_batch, &d->k_head, &d->k_row);
	set_steps(c, 2, &d->v_batch, &d->v_head, &d->v_row);
	d->k_elem = kernel_dims_elem_of(c, 1);
	d->v_elem = kernel_dims_elem_of(c, 2);
	if (n < c->match->n_operands) {
		set_steps(c, n, &d->k_scale_batch, &d->k_scale_head, &d->k_scale_row);
		set_steps(c, n + 1, &d->v_scale_batch, &d->v_scale_head, &d->v_scale_row);
	}
	if (n < 4)
		return;
	d->mask_batch = batch_of(c, c->types[3]);
	d->mask_heads = kernel_dims_from_end(c, c->types[3], 3);
	d->mask_queries = kernel_dims_from_end(c, c->types[3], 2);
	d->mask_keys = kernel_dims_from_end(c, c->types[3], 1);
	d->mask_elem = kernel_dims_elem_of(c, 3);
}

/* ---- along an axis ---- */

/* Stores the number of elements before, along and after the axis. */
static void set_axis(const struct computed *c, uint32_t axis, dim *outer, dim *length, dim *inner)
{
	const struct hir_type *t = &c->in->type;
	*outer = dim_product(c->b->dims, t->dims, axis);
	*length = t->dims[axis];
	*inner = dim_product(c->b->dims, t->dims + axis + 1, t->rank - axis - 1u);
}

static void set_sort(const struct computed *c, struct sort_dims *d)
{
	dim one;
	set_axis(c, c->in->type.rank - 1u, &d->rows, &d->length, &one);
	d->descending = kernel_dims_number(c, ir_order(c->in)->descending);
}

static void set_scan(const struct computed *c, struct scan_dims *d)
{
	set_axis(c, ir_axis(c->in)->axis, &d->outer, &d->length, &d->inner);
	d->product = kernel_dims_number(c, c->in->op == OP_SCAN_PROD);
}

static void set_scatter(const struct computed *c, struct scatter_dims *d)
{
	set_axis(c, ir_axis(c->in)->axis, &d->outer, &d->length, &d->inner);
	d->written = c->types[1]->dims[ir_axis(c->in)->axis];
	d->add = kernel_dims_number(c, c->in->op == OP_SCATTER_ADD);
}

static void set_put(const struct computed *c, struct put_dims *d)
{
	set_axis(c, ir_axis(c->in)->axis, &d->outer, &d->length, &d->inner);
	d->inner = dim_mul(c->b->dims, d->inner, kernel_dims_number(c, (int64_t)dtype_size(c->in->type.elem)));
}

static void set_transpose(const struct computed *c, struct transpose_dims *d)
{
	(void)c, (void)d;
	BUG("only the pass `transposes` calls the kernel");
}

dim *loops_kernel_dims(struct builder *b, ir_ref v, const struct kernel_match *m)
{
	struct computed c = {b, m, ir_at(b->ir, v), {NULL}};
	const struct kernel_record *r = kernel_record(m->kernel);
	dim *dims = ARENA_ARRAY(b->unit, dim, r->n_fields);
	for (uint32_t k = 0; k < m->n_operands; k++)
		c.types[k] = &ir_at(b->ir, k < c.in->n_operands ? ir_operand(b->ir, v, k) : m->operands[k])->type;
	for (uint32_t k = 0; k < r->n_fields; k++)
		dims[k] = dim_const(b->dims, r->fields[k].unless == KERNEL_NEEDED ? 0 : r->fields[k].unless);
	switch (kernel_family(m->kernel)) {
#define RECORD(name, ...) \
	case FAMILY_##name: set_##name(&c, (void *)dims); break;
#include "backend/runtime/kernels/records.def"
#undef RECORD
	case FAMILY_COUNT: break;
	}
	return dims;
}
