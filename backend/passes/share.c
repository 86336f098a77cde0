/* Lets a lookup of rows read the panels of a product with the transposed table, so that a head that is tied to an embedding needs no second copy:
 *
 *   gather(t [V, H], i)  ->  gather(panels, start[i] + width * h)
 *
 * panels: the elements of the transpose in the order of LAYOUT_PANELS, one after the other; split.c stores them as that. start: where each row begins.
 * Only tables that storage.h says are read in both ways, because rows in one piece are read faster. */
#include "backend/ir/build.h"
#include "backend/ir/gather.h"
#include "backend/passes/passes.h"
#include "backend/runtime/f32_panels.h"
#include "backend/target/kernel.h"
#include "backend/target/target.h"
#include "base/arena.h"

static bool has_kernel(const struct target *t, dtype elem)
{
	enum kernel k = elem == DT_BFLOAT16  ? KERNEL_MATMUL_F32_BF16
			: elem == DT_FLOAT16 ? KERNEL_MATMUL_F32_F16
					     : KERNEL_MATMUL_F32_PANELS;
	return kernel_info(k)->targets >> t->arch & 1;
}

/* True if the table has the sizes rows and columns, and whole panels. */
static bool has_panels(const struct ir_fn *f, const struct hir_type *t, int64_t *rows, int64_t *columns)
{
	int64_t count;
	return t->rank == 2 && dim_is_const(f->dims, t->dims[0], rows) && dim_is_const(f->dims, t->dims[1], columns) &&
	       *rows % TRI_PANEL == 0 && !__builtin_mul_overflow(*rows, *columns, &count) && count <= INT32_MAX &&
	       ir_layout_fits(LAYOUT_PANELS, t);
}

static ir_ref row_starts(struct ir_builder *b, int64_t rows, int64_t columns)
{
	struct hir_type t = {.elem = DT_INT32, .rank = 1, .dims = {dim_const(b->f->dims, rows)}};
	int32_t *starts = ARENA_ARRAY(b->f->unit, int32_t, rows + 1);
	for (int64_t r = 0; r < rows; r++)
		starts[r] = (int32_t)(tri_panel_offset(columns, r / TRI_PANEL) + r % TRI_PANEL);
	ir_ref c = ir_build(b, OP_CONST, &t, NULL, 0);
	ir_set_const(b->f, c, starts);
	return c;
}

static ir_ref panels_of(struct ir_builder *b, ir_ref table, int64_t rows, int64_t columns)
{
	struct dims *d = b->f->dims;
	dim blocks[] = {dim_const(d, columns), dim_const(d, rows / TRI_PANEL), dim_const(d, TRI_PANEL)};
	ir_ref transposed = ir_build_permute(b, table, (int64_t[]){1, 0});
	return ir_build_flatten(b, ir_build_permute(b, ir_build_reshape(b, transposed, blocks, 3), (int64_t[]){1, 0, 2}));
}

static ir_ref gather_panels(struct rewrite *w, const struct pass_context *c, ir_ref r)
{
	const struct ir_inst i = *ir_at(&w->old, r), *from = i.op == OP_GATHER ? ir_at(&w->old, ir_operand(&w->old, r, 0)) : NULL;
	int64_t rows, columns;
	if (!from || !ir_gathers_rows(&i) || from->op != OP_WEIGHT || !c->is_shared[ir_number(from)->number] ||
	    !has_kernel(c->target, from->type.elem) || !has_panels(w->f, &from->type, &rows, &columns) || i.type.rank == 1)
		return IR_NONE;
	struct ir_builder b = {w->f, i.origin};
	ir_ref table = rewrite_operand(w, r, 0), index = rewrite_operand(w, r, 1);
	ir_ref start = ir_build_gather(&b, row_starts(&b, rows, columns), &index, (struct ir_gather){.mask = 1});
	struct hir_type column = ir_at(w->f, start)->type;
	column.dims[column.rank++] = dim_const(w->f->dims, 1);
	ir_ref offset = ir_build_op2c(&b, OP_MUL, ir_build_iota(&b, &i.type, DT_INT32, i.type.rank - 1u), TRI_PANEL);
	ir_ref place = ir_build_op2(&b, OP_ADD, ir_build_reshape(&b, start, column.dims, column.rank), offset);
	return ir_build_gather(&b, panels_of(&b, table, rows, columns), &place, (struct ir_gather){.mask = 1});
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
