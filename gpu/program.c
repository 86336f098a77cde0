/* The program of a model as OpenCL C 1.2. */
#include <string.h>
#include "backend/text/dialect.h"
#include "backend/text/text.h"
#include "base/buf.h"
#include "base/bug.h"
#include "gpu/embedded.h"
#include "gpu/opencl.h"

static void program_put_template(const char *symbol, struct buf *out)
{
	const char *text = opencl_template(symbol);
	BUG_ON(!text);
	buf_puts(out, text);
}

void opencl_unit(const struct loop_fn *f, struct buf *out) { text_kernels(&dialect_opencl_c, program_put_template, f, out); }

static void find_fp64(void *ctx, const struct loop_nest *n)
{
	for (uint32_t i = 0; i < n->n_exprs; i++)
		*(bool *)ctx |= n->exprs[i].elem == DT_FLOAT64;
}

static bool uses_fp64(const struct loop_fn *f)
{
	bool found = false;
	for (uint32_t i = 0; i < f->n_buffers; i++)
		found |= f->buffers[i].type.elem == DT_FLOAT64;
	for (uint32_t i = 0; i < f->n_stmts; i++)
		loop_stmt_nests(&f->stmts[i], find_fp64, &found);
	return found;
}

static void mark_kernels(const struct loop_fn *f, bool used[KERNEL_COUNT])
{
	for (uint32_t i = 0; i < f->n_stmts; i++)
		if (f->stmts[i].kind == STMT_KERNEL && !f->stmts[i].u.kernel.epilogue)
			used[f->stmts[i].u.kernel.kernel] = true;
}

const char *opencl_template(const char *name)
{
	for (const struct embedded *e = GPU_TEMPLATES; e->name; e++)
		if (!strcmp(e->name, name))
			return (const char *)e->bytes;
	return NULL;
}

void opencl_program(const struct loop_fn *const *units, uint32_t n, struct buf *out)
{
	bool used[KERNEL_COUNT] = {false}, fp64 = false;
	for (uint32_t i = 0; i < n; i++) {
		if (!units[i])
			continue;
		mark_kernels(units[i], used);
		fp64 |= uses_fp64(units[i]);
	}
	if (fp64)
		buf_puts(out, "#define TRI_FP64 1\n");
	buf_puts(out, opencl_template("helpers"));
	buf_putc(out, '\n');
	for (uint32_t k = 0; k < KERNEL_COUNT; k++) {
		if (!used[k])
			continue;
		text_fields(&dialect_opencl_c, (enum kernel)k, out);
		program_put_template(kernel_info((enum kernel)k)->symbol, out);
		buf_putc(out, '\n');
	}
	for (uint32_t i = 0; i < n; i++)
		if (units[i])
			opencl_unit(units[i], out);
}
