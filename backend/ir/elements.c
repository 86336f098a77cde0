/* The elements of constants and texts in quotes, written and read. */
#include <math.h>
#include <string.h>
#include "backend/ir/read_token.h"
#include "backend/ir/tensor.h"
#include "base/arena.h"
#include "base/buf.h"

void ir_print_real(double v, const char *format, struct buf *out)
{
	if (isnan(v))
		buf_puts(out, "nan");
	else if (isinf(v))
		buf_puts(out, v < 0 ? "-inf" : "inf");
	else
		buf_printf(out, format, v);
}

void ir_print_elements(const struct dims *d, const struct hir_type *t, const void *data, struct buf *out)
{
	int64_t n = ir_type_count(d, t);
	buf_putc(out, '{');
	for (int64_t k = 0; k < n; k++) {
		if (k)
			buf_puts(out, ", ");
		if (dtype_class(t->elem) == DTC_FLOAT)
			ir_print_real(elem_float(t->elem, data, k), t->elem == DT_FLOAT64 ? "%.17g" : "%.9g", out);
		else
			buf_printf(out, "%lld", (long long)elem_int(t->elem, data, k));
	}
	buf_putc(out, '}');
}

static int64_t read_integer(struct ir_reader *r, dtype t)
{
	int64_t v = ir_read_int(r), back;
	uint8_t bytes[8] = {0};
	elem_put_int(t, bytes, 0, v);
	back = elem_int(t, bytes, 0);
	if (back != v || v < dtype_least_int(t) || v > dtype_largest_int(t))
		ir_read_fail(r, "a value of the constant's element type expected");
	return v;
}

/* The element count; INT64_MAX if it is not known or too large. */
static int64_t elements_count(const struct dims *d, const struct hir_type *t)
{
	int64_t n = 1, v;
	for (uint32_t k = 0; k < t->rank; k++)
		if (!dim_is_const(d, t->dims[k], &v) || v < 0 || __builtin_mul_overflow(n, v, &n))
			return INT64_MAX;
	return n;
}

const void *ir_read_elements(struct ir_reader *r, const struct hir_type *t)
{
	int64_t n = elements_count(r->dims, t);
	ir_read_expect(r, "{");
	if (n > r->end - r->at)
		ir_read_fail(r, "as many values as the type has elements expected");
	if (r->failed)
		return NULL;
	void *data = arena_alloc(r->unit, (size_t)n * dtype_size(t->elem) + 1, 16);
	for (int64_t k = 0; k < n && !r->failed; k++) {
		if (k)
			ir_read_expect(r, ",");
		if (r->failed)
			return NULL;
		if (dtype_class(t->elem) == DTC_FLOAT)
			elem_put_float(t->elem, data, k, ir_read_real(r));
		else
			elem_put_int(t->elem, data, k, read_integer(r, t->elem));
	}
	ir_read_expect(r, "}");
	return data;
}

void ir_print_text(const char *text, struct buf *out)
{
	buf_putc(out, '"');
	for (const char *s = text; *s; s++) {
		if (*s == '"' || *s == '\\' || *s == '\n')
			buf_putc(out, '\\');
		buf_putc(out, *s == '\n' ? 'n' : *s);
	}
	buf_putc(out, '"');
}

const char *ir_read_text(struct ir_reader *r)
{
	struct buf b = {0};
	ir_read_expect(r, "\"");
	while (r->at < r->end && *r->at != '"' && *r->at != '\n') {
		bool escape = *r->at == '\\' && r->at + 1 < r->end;
		r->at += escape;
		buf_putc(&b, escape && *r->at == 'n' ? '\n' : *r->at);
		r->at++;
	}
	const char *text = arena_strndup(r->unit, b.at ? b.at : "", b.len);
	buf_free(&b);
	ir_read_expect(r, "\"");
	return text;
}
