#include <math.h>
#include "backend/ir/rewrite.h"
#include "backend/plan/split.h"
#include "backend/runtime/pack/f32_panels.h"

ir_ref slot_narrow_value(const struct ir_fn *f, ir_ref r)
{
	const struct ir_inst *i = ir_at(f, r);
	if (i->op != OP_CAST || i->type.elem != DT_FLOAT32 || i->layout != LAYOUT_PLAIN)
		return IR_NONE;
	dtype from = ir_at(f, ir_operand(f, r, 0))->type.elem;
	return from == DT_BFLOAT16 || from == DT_FLOAT16 ? ir_operand(f, r, 0) : IR_NONE;
}

/* n columns of a matrix, from `from` on. */
struct columns {
	ir_ref matrix;
	int64_t from, n;
};

/* Returns the columns that the matrix r is: of another one if r is a slice of it. n is 0 if r is something else. */
static struct columns slot_value_columns_of(const struct ir_fn *f, ir_ref r)
{
	const struct ir_inst *i = ir_at(f, r);
	struct columns c = {.matrix = r};
	if (i->layout != LAYOUT_PLAIN || i->type.rank != 2 || !dim_is_const(f->dims, i->type.dims[1], &c.n))
		return (struct columns){0};
	if (i->op != OP_SLICE)
		return c;
	const struct ir_slice *s = ir_slice(i);
	c.matrix = ir_operand(f, r, 0);
	bool has_rows = dim_eq(i->type.dims[0], ir_at(f, c.matrix)->type.dims[0]) && s->step[0] == 1;
	return has_rows && s->step[1] == 1 && dim_is_const(f->dims, s->start[1], &c.from) ? c : (struct columns){0};
}

/* Returns the columns whose panels of full width are the elements of r. */
static struct columns full_panels(const struct ir_fn *f, ir_ref r)
{
	const struct ir_inst *flat = ir_at(f, r);
	const struct ir_inst *blocks = flat->op == OP_RESHAPE && flat->type.rank == 1 ? ir_at(f, ir_operand(f, r, 0)) : NULL;
	if (!blocks || blocks->op != OP_TRANSPOSE || blocks->type.rank != 3 || ir_perm(blocks)->perm[0] != 1 ||
	    ir_perm(blocks)->perm[1] != 0)
		return (struct columns){0};
	ir_ref parts = f->operands[blocks->operands];
	const struct hir_type *p = &ir_at(f, parts)->type;
	int64_t width;
	if (ir_at(f, parts)->op != OP_RESHAPE || !dim_is_const(f->dims, p->dims[2], &width) || width != TRI_PANEL)
		return (struct columns){0};
	struct columns c = slot_value_columns_of(f, ir_operand(f, parts, 0));
	return c.n && dim_eq(p->dims[0], ir_at(f, c.matrix)->type.dims[0]) ? c : (struct columns){0};
}

/* Returns the columns that, padded with zeros to a panel, are the elements of r. */
static struct columns last_panel(const struct ir_fn *f, ir_ref r)
{
	const struct ir_inst *flat = ir_at(f, r);
	double fill = 0;
	int64_t width;
	if (flat->op != OP_RESHAPE || flat->type.rank != 1)
		return (struct columns){0};
	ir_ref rows = ir_operand(f, r, 0), unpadded = rows;
	const struct ir_inst *pad = ir_at(f, rows);
	if (pad->op == OP_PAD) {
		const dim *before = ir_pad(pad)->before, zero = dim_const(f->dims, 0);
		unpadded = ir_operand(f, rows, 0);
		if (!ir_splat_value(f, ir_operand(f, rows, 1), &fill) || !dim_eq(before[0], zero) || !dim_eq(before[1], zero))
			return (struct columns){0};
	}
	struct columns c = slot_value_columns_of(f, unpadded);
	bool is_panel = c.n > 0 && c.n < TRI_PANEL && dim_is_const(f->dims, pad->type.dims[1], &width) &&
			width == tri_panel_width(c.n, 0) && dim_eq(pad->type.dims[0], ir_at(f, c.matrix)->type.dims[0]);
	return is_panel && fill == 0 && !signbit(fill) ? c : (struct columns){0};
}

ir_ref slot_matrix_of_panels(const struct ir_fn *f, ir_ref r)
{
	bool has_both = ir_at(f, r)->op == OP_CONCAT && ir_at(f, r)->n_operands == 2;
	struct columns full = full_panels(f, has_both ? ir_operand(f, r, 0) : r), last = {.matrix = full.matrix, .from = full.n};
	if (has_both || !full.n)
		last = last_panel(f, has_both ? ir_operand(f, r, 1) : r);
	if (has_both ? !full.n || !last.n || full.matrix != last.matrix : !full.n && !last.n)
		return IR_NONE;
	const struct ir_inst *matrix = ir_at(f, last.matrix);
	bool is_whole = full.from == 0 && last.from == full.n && dim_eq(matrix->type.dims[1], dim_const(f->dims, full.n + last.n));
	return is_whole && matrix->layout == LAYOUT_PLAIN && ir_layout_fits(LAYOUT_PANELS, &matrix->type) ? last.matrix : IR_NONE;
}
