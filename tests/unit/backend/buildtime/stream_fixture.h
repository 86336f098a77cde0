/* Functions of one large weight, as text, with a weight to run them on. */
#ifndef TRIB_TESTS_UNIT_BACKEND_STREAM_FIXTURE_H
#define TRIB_TESTS_UNIT_BACKEND_STREAM_FIXTURE_H
#include <string.h>
#include "backend/buildtime/stream.h"
#include "backend/ir/ir.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/source.h"
#include "tests/unit/unit.h"

/* @: [rows, cols]. $: [rows]. &: [rows, 1]. ~: [cols, rows]. ELEM: the element type. */
#define STREAM_ABSMEAN                                                                                                 \
	"%1 = const {9.99999975e-06} : ELEM[]\n%2 = abs %0 : ELEM@\n%3 = reduce_sum %2 dims [0, 1] : ELEM[]\n"         \
	"%4 = const {1000} : ELEM[]\n%5 = div %3 %4 : ELEM[]\n%6 = max %5 %1 : ELEM[]\n%7 = broadcast %6 : ELEM@\n"    \
	"%8 = div %0 %7 : ELEM@\n%9 = round %8 : ELEM@\n%10 = const {-1} : ELEM[]\n%11 = broadcast %10 : ELEM@\n"      \
	"%12 = max %9 %11 : ELEM@\n%13 = const {1} : ELEM[]\n%14 = broadcast %13 : ELEM@\n%15 = min %12 %14 : ELEM@\n" \
	"%16 = cast %15 : trit@\n%17 = transpose %16 perm [1, 0] : trit~\nout %17 %6 %16\n"
#define STREAM_ABSMAX                                                                                                      \
	"%1 = abs %0 : ELEM@\n%2 = reduce_max %1 dims [1] : ELEM$\n%3 = const {127} : ELEM[]\n%4 = broadcast %3 : ELEM$\n" \
	"%5 = div %2 %4 : ELEM$\n%6 = reshape %5 : ELEM&\n%7 = broadcast %6 : ELEM@\n%8 = div %0 %7 : ELEM@\n"             \
	"%9 = round %8 : ELEM@\n%10 = cast %9 : int8@\nout %10 %6 %5\n"
#define STREAM_ADAPTIVE                                                                                                    \
	"%1 = abs %0 : ELEM@\n%2 = reduce_sum %1 dims [1] : ELEM$\n%3 = const {300} : ELEM[]\n%4 = broadcast %3 : ELEM$\n" \
	"%5 = div %2 %4 : ELEM$\n%6 = reshape %5 : ELEM&\n%7 = broadcast %6 : ELEM@\n%8 = lt %7 %1 : bool@\n"              \
	"%9 = const {0} : ELEM[]\n%10 = broadcast %9 : ELEM@\n%11 = select %8 %1 %10 : ELEM@\n"                            \
	"%12 = reduce_sum %11 dims [1] : ELEM$\n%13 = cast %8 : ELEM@\n%14 = reduce_sum %13 dims [1] : ELEM$\n"            \
	"%15 = div %12 %14 : ELEM$\n%16 = sign %0 : ELEM@\n%17 = cast %16 : trit@\n%18 = const {0} : trit[]\n"             \
	"%19 = broadcast %18 : trit@\n%20 = select %8 %17 %19 : trit@\nout %20 %15\n"
#define STREAM_FOLDED                                                                                                        \
	"%1 = neg %0 : ELEM@\n%2 = add %1 %0 : ELEM@\n%3 = sqrt %0 : ELEM@\n%4 = sub %3 %2 : ELEM@\n%5 = floor %4 : ELEM@\n" \
	"%6 = ceil %3 : ELEM@\n%7 = mul %5 %6 : ELEM@\nout %7 %0\n"

struct fixture {
	struct arena *a;
	struct sources *sources;
	struct diags *diags;
	struct ir_fn *f;
	struct tensor weight;
};

static inline void replace(struct buf *b, const char *text, const char *elem, int rows, int cols)
{
	for (; *text; text++)
		if (*text == '@')
			buf_printf(b, "[%d, %d]", rows, cols);
		else if (*text == '$')
			buf_printf(b, "[%d]", rows);
		else if (*text == '&')
			buf_printf(b, "[%d, 1]", rows);
		else if (*text == '~')
			buf_printf(b, "[%d, %d]", cols, rows);
		else if (strncmp(text, "ELEM", 4) == 0)
			buf_puts(b, elem), text += 3;
		else
			buf_putc(b, *text);
}

static inline void open_fixture(struct fixture *x, const char *text, dtype elem, int rows, int cols)
{
	struct buf b = {0};
	uint32_t seed = (uint32_t)(rows * 7 + cols);
	*x = (struct fixture){arena_new(0), sources_new(), diags_new(0), NULL, {elem, 2, {rows, cols}, NULL}};
	buf_printf(&b, "fn quantizer()\nweight 0 %s[%d, %d]\n%%0 = weight 0 : %s[%d, %d]\n", dtype_text(elem), rows, cols, dtype_text(elem),
		   rows, cols);
	replace(&b, text, dtype_text(elem), rows, cols);
	x->f = ir_read(x->a, sources_add(x->sources, "t.ir", b.at, b.len), x->diags);
	if (!x->f)
		fail_msg("%s\n%s", diags_at(x->diags, 0)->message, b.at);
	buf_free(&b);
	x->weight.data = arena_alloc(x->a, (size_t)tensor_bytes(&x->weight), 64);
	for (int64_t k = 0; k < tensor_count(&x->weight); k++) {
		seed = seed * 1664525u + 1013904223u;
		elem_put_float(elem, x->weight.data, k,
			       ((double)(seed >> 8) / (1 << 24) - 0.5) * (seed % 7 == 0   ? 4e6
									  : seed % 7 == 1 ? 1e-3
											  : 9));
	}
	elem_put_float(elem, x->weight.data, 5, -0.0);
	elem_put_float(elem, x->weight.data, 6, 2.5);
	elem_put_float(elem, x->weight.data, 7, -0.5);
}

static inline void close_fixture(struct fixture *x)
{
	diags_free(x->diags);
	sources_free(x->sources);
	arena_free(x->a);
}

static inline bool read_block(void *reader, int64_t first, int64_t n, void *out, const char **error)
{
	const struct fixture *x = reader;
	size_t size = dtype_size(x->weight.elem);
	(void)error;
	memcpy(out, (const char *)x->weight.data + (size_t)first * size, (size_t)n * size);
	return true;
}

static inline void compare(const struct stream_result *got, const struct tensor *want)
{
	const struct tensor *g = &got->tensor;
	assert_int_equal(g->elem, want->elem);
	assert_int_equal(g->rank, want->rank);
	if (!got->is_transposed) {
		assert_memory_equal(g->dims, want->dims, want->rank * sizeof *want->dims);
		assert_memory_equal(g->data, want->data, (size_t)tensor_bytes(want));
		return;
	}
	size_t size = dtype_size(g->elem);
	for (int64_t r = 0; r < g->dims[0]; r++)
		for (int64_t c = 0; c < g->dims[1]; c++)
			assert_memory_equal((const char *)g->data + (size_t)(r * g->dims[1] + c) * size,
					    (const char *)want->data + (size_t)(c * g->dims[0] + r) * size, size);
}

#endif
