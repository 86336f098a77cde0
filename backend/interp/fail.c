/* Errors of a run, in the words of libraries (backend/runtime/model_io.c). */
#include <stdarg.h>
#include "backend/interp/state.h"
#include "base/arena.h"
#include "base/buf.h"

void interp_fail(struct interp *in, const char *fmt, ...)
{
	if (in->error.text)
		return;
	va_list ap;
	va_start(ap, fmt);
	in->error = (struct interp_error){.text = arena_vprintf(in->out, fmt, ap), .at = in->at};
	va_end(ap);
}

/* A library knows the sizes of its entry, so those of a callee are left out. */
void interp_fail_sizes(struct interp *in, enum tri_size_error kind)
{
	static const char *const texts[] = {
#define SIZE_ERROR(id, word, message) message,
#include "backend/runtime/abi/size_errors.def"
#undef SIZE_ERROR
	};
	struct buf sizes = {0};
	for (uint32_t k = 0; !in->depth && k < dims_syms(in->f->dims); k++)
		buf_printf(&sizes, "%s%s = %lld", k ? ", " : ": ", dims_sym_name(in->f->dims, k), (long long)in->syms[k]);
	interp_fail(in, "%s%s", texts[kind], sizes.len ? sizes.at : "");
	buf_free(&sizes);
}
