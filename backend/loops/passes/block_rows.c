/* Rows of buffers: what each iteration of the shared loops reads and writes. */
#include "backend/loops/passes/block.h"

static dim rows_buffer_size(const struct joiner *j, uint32_t buffer)
{
	const struct hir_type *t = &j->f->buffers[buffer].type;
	return dim_product(j->dims, t->dims, t->rank);
}

int64_t loops_row_of(const struct joiner *j, const struct loop_nest *n, const struct loop_access *a, uint32_t loops)
{
	int64_t row, at, stride, extent;
	dim size = loops_have_one_row(j) ? rows_buffer_size(j, a->buffer) : a->stride[j->rows.n - 1];
	if (!dim_is_const(j->dims, size, &row) || row < 1 || !dim_is_const(j->dims, a->base, &at) || at < 0 || a->index != LOOP_NONE)
		return 0;
	for (uint32_t k = 0; k + 1 < j->rows.n; k++)
		if (!dim_eq(a->stride[k], dim_mul(j->dims, a->stride[k + 1], j->rows.extent[k + 1])))
			return 0;
	for (uint32_t k = j->rows.n; k < loops; k++) {
		if (!dim_is_const(j->dims, a->stride[k], &stride) || !dim_is_const(j->dims, n->extent[k], &extent) || stride < 0 ||
		    __builtin_mul_overflow(stride, extent - 1, &stride) || __builtin_add_overflow(at, stride, &at))
			return 0;
	}
	return at < row ? row : 0;
}

static bool note_row(struct joiner *j, const struct loop_nest *n, const struct loop_access *a, uint32_t loops)
{
	int64_t row = loops_row_of(j, n, a, loops), *known = &j->row[a->buffer];
	if (row == 0 || (*known && *known != row))
		return false;
	*known = row;
	return true;
}

bool loops_find_rows(struct joiner *j)
{
	for (uint32_t i = 0; i < j->n; i++)
		for (uint32_t k = 0; k < j->nests[i].n_stores; k++)
			if (!note_row(j, &j->nests[i], &j->nests[i].stores[k].access, j->nests[i].n_parallel))
				return false;
	for (uint32_t i = 0; i < j->n; i++)
		for (uint32_t k = 0; k < j->nests[i].n_exprs; k++) {
			const struct loop_expr *e = &j->nests[i].exprs[k];
			uint32_t loops = j->nests[i].n_parallel + (e->in_reduction ? j->nests[i].n_reduce : 0u);
			if (e->kind == LOOP_LOAD && j->row[e->access.buffer] && !note_row(j, &j->nests[i], &e->access, loops))
				return false;
		}
	return true;
}
