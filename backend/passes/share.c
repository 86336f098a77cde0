/* Lets a lookup of rows read the panels of a product with the transposed table, so that a head that is tied to an embedding needs no second copy:
 *
 *   gather(t [V, H], i)  ->  gather(panels, start[i] + width * h)
 *
 * panels: the elements of the transpose in the order of LAYOUT_PANELS, one after the other; split.c stores them as that. start: where each row begins.
 * width: of its panel, 16 or 32; the last panel is padded with zeros.
 * Only tables that the pass `tables` found to be read in both ways, because rows in one piece are read faster. */
#include "backend/ir/build.h"
#include "backend/ir/gather.h"
#include "backend/passes/passes.h"
#include "backend/runtime/pack/f32_panels.h"
#include "backend/kernels/kernel.h"
#include "backend/target/target.h"
#include "base/arena.h"

/* The table [rows, columns]. Its last panel has `rest` rows, padded to the width; rest 0: none is padded. */
struct table {
	int64_t rows, columns, whole, rest, width;
};

/* True if the table has panels, whose sizes are known. */
static bool has_panels(const struct ir_fn *f, const struct hir_type *t, struct table *of)
{
	int64_t count;
	if (t->rank != 2 || !dim_is_const(f->dims, t->dims[0], &of->rows) || !dim_is_const(f->dims, t->dims[1], &of->columns))
		return false;
	of->rest = of->rows % TRI_PANEL;
	of->whole = of->rows - of->rest;
	of->width = of->rest ? tri_panel_width(of->rest, 0) : 0;
	return of->rows > 0 && of->columns > 0 && !__builtin_mul_overflow(of->whole + of->width, of->columns, &count) &&
	       count <= INT32_MAX && ir_layout_fits(LAYOUT_PANELS, t);
}

static ir_ref row_starts(struct ir_builder *b, const struct table *t)
{
	struct hir_type type = {.elem = DT_INT32, .rank = 1, .dims = {dim_const(b->f->dims, t->rows)}};
	int32_t *starts = ARENA_ARRAY(b->f->unit, int32_t, t->rows + 1);
	for (int64_t r = 0; r < t->rows; r++)
		starts[r] = (int32_t)(tri_panel_offset(t->columns, r / TRI_PANEL) + r % TRI_PANEL);
	ir_ref c = ir_build(b, OP_CONST, &type, NULL, 0);
	ir_set_const(b->f, c, starts);
	return c;
}

/* Returns the distance of two elements of each row that begins at `start`. */
static ir_ref row_steps(struct ir_builder *b, ir_ref start, const struct table *t)
{
	ir_ref whole = ir_build_const_int(b, DT_INT32, TRI_PANEL), half = ir_build_const_int(b, DT_INT32, TRI_HALF_PANEL);
	if (t->width != TRI_HALF_PANEL)
		return whole;
	return ir_build_select(b, ir_build_op2c(b, OP_LT, start, (double)(t->whole * t->columns)), whole, half);
}

/* slot_matrix_of_panels knows these instructions. */
static ir_ref share_panels_of(struct ir_builder *b, ir_ref table, const struct table *t)
{
	struct dims *d = b->f->dims;
	dim zero = dim_const(d, 0), none[] = {zero, zero}, after[] = {zero, dim_const(d, t->width - t->rest)};
	dim blocks[] = {dim_const(d, t->columns), dim_const(d, t->whole / TRI_PANEL), dim_const(d, TRI_PANEL)};
	ir_ref matrix = ir_build_permute(b, table, (int64_t[]){1, 0}), parts[2];
	uint32_t n = 0;
	if (t->whole) {
		ir_ref whole = t->rest ? ir_build_slice(b, matrix, 1, zero, 1, dim_const(d, t->whole)) : matrix;
		ir_ref cut = ir_build_reshape(b, whole, blocks, 3);
		parts[n++] = ir_build_flatten(b, ir_build_permute(b, cut, (int64_t[]){1, 0, 2}));
	}
	if (t->rest) {
		ir_ref rest = t->whole ? ir_build_slice(b, matrix, 1, dim_const(d, t->whole), 1, dim_const(d, t->rest)) : matrix;
		ir_ref fill = ir_build_const_float(b, ir_at(b->f, table)->type.elem, 0);
		parts[n++] = ir_build_flatten(b, ir_build_pad(b, rest, none, after, fill));
	}
	return n == 1 ? parts[0] : ir_build_concat(b, parts, n, 0);
}

static ir_ref gather_panels(struct rewrite *w, const struct pass_context *c, ir_ref r)
{
	const struct ir_inst i = *ir_at(&w->old, r), *from = i.op == OP_GATHER ? ir_at(&w->old, ir_operand(&w->old, r, 0)) : NULL;
	struct table t;
	if (!from || !ir_gathers_rows(&i) || from->op != OP_WEIGHT || !c->is_shared[ir_number(from)->number] ||
	    !target_multiplies(c->target, from->type.elem, LAYOUT_PANELS) || !has_panels(w->f, &from->type, &t) || i.type.rank == 1)
		return IR_NONE;
	struct ir_builder b = {w->f, i.origin};
	ir_ref table = rewrite_operand(w, r, 0), index = rewrite_operand(w, r, 1);
	ir_ref start = ir_build_gather(&b, row_starts(&b, &t), &index, (struct ir_gather){.mask = 1});
	struct hir_type column = ir_at(w->f, start)->type;
	column.dims[column.rank++] = dim_const(w->f->dims, 1);
	start = ir_build_reshape(&b, start, column.dims, column.rank);
	ir_ref offset = ir_build_op2(&b, OP_MUL, ir_build_iota(&b, &i.type, DT_INT32, i.type.rank - 1u), row_steps(&b, start, &t));
	ir_ref place = ir_build_op2(&b, OP_ADD, start, offset);
	return ir_build_gather(&b, share_panels_of(&b, table, &t), &place, (struct ir_gather){.mask = 1});
}

uint32_t pass_share(struct ir_fn *f, struct pass_context *c)
{
	struct rewrite w;
	uint32_t changes = 0;
	if (!c->is_shared)
		return 0;
	rewrite_begin(&w, f);
	for (ir_ref r = 0; r < w.old.n_insts; r++) {
		w.map[r] = gather_panels(&w, c, r);
		if (w.map[r] == IR_NONE)
			rewrite_copy(&w, r);
		else
			changes++;
	}
	rewrite_end(&w);
	return changes;
}
